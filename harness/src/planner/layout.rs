//! What is known of the world before anything is planned.

use std::{net::SocketAddr, path::PathBuf};

use serde::{Deserialize, Serialize};
use watertight_probe::plan::{Authority, Endpoint, Needle};

use super::attempts::relay;
use crate::{check::Capability, site::address, way::Way};

/// What the planner must know of the world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Index of the host side's link, for link-local addresses.
    pub link: u32,
    /// Whether the world was made by the machine's root.
    pub by_root: bool,
    /// The resolver that the world's resolv.conf names.
    pub resolver: SocketAddr,
    /// Where a set-user-id-root copy of this program can lie: see [`super::Planner::set_user_id`].
    pub set_user_id: Option<PathBuf>,
    /// Mode 0000, with the run's marker in it.
    pub closed_file: PathBuf,
    /// Readable by the planted supplementary group only, where one could be planted.
    pub group_file: Option<PathBuf>,
    /// The user's home and the workspace.
    pub home: PathBuf,
    pub workspace: PathBuf,
    /// Routes that the manifest declares absent.
    pub absent: Vec<Capability>,
    /// How the workload reaches what it may reach.
    #[serde(default, skip_serializing_if = "Way::is_relays")]
    pub way: Way,
    /// Whether the world's root can open /dev/net/tun.
    pub tun: bool,
    /// The provider's key in every spelling, and the markers that show that the search sees.
    pub needles: Vec<Needle>,
    /// Secrets planted in the launcher's environment.
    pub planted: Vec<Needle>,
    /// The bearer of the second spawn, once it is up.
    pub second_bearer: Option<String>,
    /// A directory of the world that nothing uses.
    #[serde(default)]
    pub spare: Option<PathBuf>,
    /// Whether this kernel lets anybody type into a terminal (`dev.tty.legacy_tiocsti`).
    #[serde(default)]
    pub typing: bool,
    /// Files that the world's root opens for writing, and system calls that it gets: see [`crate::site::granted_here`].
    #[serde(default)]
    pub granted: Vec<String>,
}

impl Layout {
    /// Where the workload finds this route. Our relays are the only way to the provider.
    pub fn endpoint(&self, route: Capability) -> Endpoint {
        let instance = SocketAddr::new(address::INSTANCE_V4.into(), 80);
        match (&self.way, route) {
            (Way::Relays, _) | (_, Capability::Provider | Capability::Relay) => relay(route),
            (Way::Direct, Capability::Instance) => Endpoint::Tcp(instance),
            (Way::Proxy(proxies), Capability::Instance) => match proxies.tunnel() {
                Some(proxy) => Endpoint::Proxied { proxy, to: instance_authority() },
                None => Endpoint::Tcp(instance),
            },
        }
    }
}

/// The instance by its name, as workloads ask a proxy for it.
pub fn instance_authority() -> Authority {
    Authority { host: address::INSTANCE_NAME.into(), port: 80 }
}
