//! TEARDOWN-2: no namespace, mount or link of the sandbox is left (catalogue O08, O10).

use watertight_reports::results::{ControlKind, Subject};

use super::nothing_left;
use crate::{case::Case, check::Check, planner::Planner};

pub static CHECK: Check =
    Check::facts("TEARDOWN-2", "teardown::no_namespaces", ControlKind::KnownPositive, plan, judge)
        .about(Subject::Launcher)
        .launching(crate::scenario::ALL_ENDINGS)
        .caught_on(&["name-the-network-namespace", "leave-a-link"])
        .spared(&[("*", "the reference ends in one way, whatever ended it: the kernel takes everything with init")]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    nothing_left(case, &["namespace ", "mount ", "link "]);
}
