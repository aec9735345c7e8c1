//! IPC-4: EGRESS-12 holds wherever in the file system a socket is, also where the workload sees its directory read-only
//! (catalogue D01, D03).

use watertight_probe::plan::UnixKind;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("IPC-4", "ipc::sockets_elsewhere", plan)
    .caught_on(&["show-host-sockets"])
    .spared(&[("*", "a directory is in view or not, whatever kind of socket is in it")]);

fn plan(plan: &mut Planner<'_>) {
    for (name, kind) in
        [("stream", UnixKind::Stream), ("datagram", UnixKind::Datagram), ("seqpacket", UnixKind::Seqpacket)]
    {
        match plan.socket_elsewhere(kind) {
            Some(attempt) => drop(plan.deny(name, attempt)),
            None => plan.untestable(name, "no directory of this machine is empty: /srv, /media, /mnt"),
        }
    }
}
