//! TEARDOWN-3: no directory, file or socket of the sandbox is left (catalogue E1, N04, O10).

use watertight_reports::results::{ControlKind, Subject};

use super::nothing_left;
use crate::{case::Case, check::Check, planner::Planner};

pub static CHECK: Check = Check::facts("TEARDOWN-3", "teardown::no_files", ControlKind::KnownPositive, plan, judge)
    .about(Subject::Launcher)
    .launching(crate::scenario::ALL_ENDINGS)
    .caught_on(&["relays-outlive-launcher", "cleanup-at-exit-only"])
    .spared(&[("*", "the reference ends in one way, whatever ended it: the kernel takes everything with init")]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    nothing_left(case, &["file ", "socket "]);
}
