//! SOCKET-2: no other user of the machine can connect to a relay's socket.

use watertight_reports::{
    evidence::LaunchKind,
    results::{ControlKind, Subject},
};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::Planner,
};

pub static CHECK: Check = Check::facts("SOCKET-2", "socket::closed_to_others", ControlKind::KnownPositive, plan, judge)
    .about(Subject::Launcher)
    .waived_by(Capability::Provider)
    .witnessed()
    .caught_on(&["socket-mode-open"]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    let Some(launch) = case.launch(LaunchKind::Target) else { return };
    case.control(!launch.sockets.is_empty(), "the witness found the sockets");
    for socket in &launch.sockets {
        case.control(socket.answers_user, format!("{} answers the launching user", socket.path));
        if socket.answers_others {
            case.breach(format!("{} answered another user", socket.path));
        }
    }
}
