//! DNS-5: no resolver daemon of the host answers by its socket: it would ask from the host's network (catalogue C07).

use watertight_probe::plan::UnixKind;

use crate::{check::Check, planner::Planner};

pub static CHECK: Check = Check::denied("DNS-5", "dns::resolver_daemons", plan)
    .caught_on(&["share-run"])
    .spared(&[("*", "a directory is in view or not, whatever kind of socket or whose daemon is in it")]);

/// nsncd listens where nscd does.
const DAEMONS: [&str; 4] =
    ["/run/nscd/socket", "/var/run/nscd/socket", "/run/systemd/resolve/io.systemd.Resolve", "/run/avahi-daemon/socket"];

fn plan(plan: &mut Planner<'_>) {
    for path in DAEMONS {
        let attempt = plan.socket_at(path, UnixKind::Stream);
        plan.deny(path, attempt);
    }
}
