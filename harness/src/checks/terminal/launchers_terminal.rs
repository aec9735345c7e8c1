//! TERMINAL-1: nothing is written to or typed into the launcher's terminal, which is not among what the workload is given
//! (catalogue D16, D17).
//!
//! Standard input, output and error are pipes; the launcher has a controlling terminal beside them.

use watertight_probe::plan::{Attempt, TerminalWay};

use crate::{check::Check, planner::Planner};

pub static CHECK: Check =
    Check::denied("TERMINAL-1", "terminal::launchers_terminal", plan).caught_on(&["keep-session"]).spared(&[(
        "typed*",
        "a session of its own keeps the terminal away; without one, a filter is asked for each request",
    )]);

fn plan(plan: &mut Planner<'_>) {
    // One after the other: what several write at once is mixed byte by byte, and no nonce is whole.
    plan.deny("written", Attempt::Terminal { way: TerminalWay::Write }).alone();
    for (name, way) in [("typed", TerminalWay::Inject), ("typed with a high bit", TerminalWay::InjectWithHighBit)] {
        if plan.layout.typing {
            plan.deny(name, Attempt::Terminal { way }).alone();
        } else {
            plan.untestable(name, "this kernel lets nobody type into a terminal (dev.tty.legacy_tiocsti)");
        }
    }
}
