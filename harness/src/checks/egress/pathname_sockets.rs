//! EGRESS-12: no pathname Unix socket of the host is reached but the two that carry the routes.
//!
//! Namespaces of the network say nothing about them, and a read-only mount does not stop `connect` (catalogue D01, D02).
//! The workspace is shared with the host on purpose, so sockets in it are no finding.

use watertight_probe::plan::UnixKind;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("EGRESS-12", "egress::pathname_sockets", plan)
    .caught_on(&["share-tmp", "share-run", "share-home", "share-dev"])
    .spared(&[("*", "a directory is in view or not, whatever kind of socket or whose daemon is in it")]);

/// Where daemons that do things for their clients listen.
const DAEMONS: [&str; 9] = [
    "/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
    "/run/snapd.socket",
    "/run/cups/cups.sock",
    "/run/user/1777/bus",
    "/tmp/.X11-unix/X0",
];

fn plan(plan: &mut Planner<'_>) {
    let home = plan.layout.home.display().to_string();
    for directory in ["/tmp", "/var/tmp", "/run", "/dev/shm", &home] {
        for (name, kind) in
            [("stream", UnixKind::Stream), ("datagram", UnixKind::Datagram), ("seqpacket", UnixKind::Seqpacket)]
        {
            let attempt = plan.socket_in(directory, kind);
            plan.deny(format!("{name} in {directory}"), attempt);
        }
    }
    for path in DAEMONS {
        let attempt = plan.socket_at(path, UnixKind::Stream);
        plan.deny(path, attempt);
    }
    // A peer outside that hands in an internet socket opens the host's network (catalogue A15).
    let attempt = plan.handing_socket_in("/tmp");
    plan.deny("handing in a socket", attempt);
}
