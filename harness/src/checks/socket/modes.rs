//! SOCKET-1: each relay's socket is 0600 from the moment it exists, in a directory that is 0700, both belong to the launching user, and nobody else
//! can connect (catalogue D12).

use watertight_reports::{
    evidence::LaunchKind,
    results::{ControlKind, Subject},
};

use crate::{
    case::Case,
    check::{Capability, Check},
    planner::Planner,
};

pub static CHECK: Check = Check::facts("SOCKET-1", "socket::modes", ControlKind::KnownPositive, plan, judge)
    .about(Subject::Launcher)
    .waived_by(Capability::ROUTES)
    .of_relays()
    .witnessed()
    .caught_on(&["socket-mode-open", "socket-mode-after-listen", "directory-mode-open", "become-another-user"]);

fn plan(_: &mut Planner<'_>) {}

fn judge(case: &mut Case<'_>) {
    let Some(launch) = case.launch(LaunchKind::Target) else { return };
    let (found, wanted) = (launch.sockets.len(), case.routes().len());
    case.control(found >= wanted, format!("the witness found {found} of the {wanted} routes' sockets"));
    for socket in &launch.sockets {
        case.control(socket.answers_user, format!("{} answers the launching user", socket.path));
        match socket.answers_others {
            Some(true) => case.breach(format!("{} answered another user", socket.path)),
            Some(false) => {}
            None => case.note(format!("nobody else could knock on {}: this world has one user", socket.path)),
        }
        if socket.mode != 0o600 {
            case.breach(format!("{} has mode {:04o}", socket.path, socket.mode));
        }
        // Our relays give the mode before the name, and the name is never changed.
        if let Some(late) = socket.changed_after.filter(|late| *late > 0) {
            case.breach(format!("{} got its mode {late} us after it was made", socket.path));
        }
        if socket.directory_mode != 0o700 {
            case.breach(format!("the directory of {} has mode {:04o}", socket.path, socket.directory_mode));
        }
        if !socket.owned_by_user {
            case.breach(format!("{} or its directory belongs to another user", socket.path));
        }
    }
}
