//! The planner: turns checks into the attempts of one launch, each with a destination that no other attempt has.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};
use watertight_probe::{
    nonce::{Nonce, RunNonce},
    plan::{Attempt, Authority, Datagram, Endpoint, Needle, SendCall, Step, Stream, UnixAddress, UnixKind},
};
use watertight_reports::evidence::LaunchKind;

use crate::{
    check::{Capability, Check, Item},
    judge::is_control,
    request::Request,
    site::address,
    way::{Way, by},
};

/// Where the bridge answers inside a target.
pub const PROVIDER_PORT: u16 = 8765;
pub const INSTANCE_PORT: u16 = 8766;

/// How long an attempt through a proxy may take: it may look for the name first.
const PROXY_MILLIS: u32 = 5_000;

/// What an attempt's id gets behind it for [`Planner::side_nonce`].
pub const SIDE: &str = "+side";

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
    /// Where a set-user-id-root copy of this program can lie: see [`Planner::set_user_id`].
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

/// Something that must listen, or lie, in the world before a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    Tcp(SocketAddr),
    Udp(SocketAddr),
    Unix(UnixAddress, UnixKind),
    /// A Unix socket whose peer hands out an internet socket.
    Handing(UnixAddress),
    /// A copy of this program that is root's and set-user-id.
    SetUserId(PathBuf),
    /// One object of each kind of inter-process communication, by System V key and POSIX name.
    Ipc(i32, String),
    /// A file of the launching user's that nobody else may read, with the run's marker in it.
    Secret(PathBuf),
    /// A file that is given to the launching user.
    Given(PathBuf),
    /// A file of the launching user's, which is looked at when all is over.
    Watched(PathBuf),
    /// An empty file system on this directory.
    Mounted(PathBuf),
    /// A device node of the host's that no program needs: in truth the null device.
    Device(PathBuf),
}

/// Gives out destinations. One for a whole run.
#[derive(Debug, Default)]
pub struct Allocator {
    next: u32,
    wanted: Vec<Wanted>,
    /// What was handed out by [`Self::take`] already.
    taken: Vec<Wanted>,
}

impl Allocator {
    /// Gives none of the first `count` destinations out.
    pub fn leave_out(&mut self, count: u32) {
        self.next = self.next.max(count);
    }

    /// Forgets what was planned and will not be made.
    pub fn forget(&mut self) {
        self.wanted.clear();
    }

    /// What must be opened before the next launch, each thing once in a run.
    pub fn take(&mut self) -> Vec<Wanted> {
        self.taken.extend(self.wanted.iter().cloned());
        std::mem::take(&mut self.wanted)
    }
}

/// Collects the attempts of one check for one launch.
pub struct Planner<'a> {
    pub layout: &'a Layout,
    launch: &'a str,
    kind: LaunchKind,
    run: &'a RunNonce,
    slug: &'static str,
    allocator: &'a mut Allocator,
    items: Vec<Item>,
}

impl<'a> Planner<'a> {
    /// The items of `check` in a launch of this kind.
    pub fn plan(
        check: &Check,
        launch: &'a str,
        kind: LaunchKind,
        layout: &'a Layout,
        run: &'a RunNonce,
        allocator: &'a mut Allocator,
    ) -> Vec<Item> {
        let mut planner = Self { layout, launch, kind, run, slug: check.slug, allocator, items: vec![] };
        let waived = !check.waived_by.is_empty() && check.waived_by.iter().all(|one| layout.absent.contains(one));
        if waived {
            planner.try_absent(check.waived_by);
        } else if check.of_relays && layout.absent.contains(&Capability::Relay) {
            planner.try_absent(Capability::ROUTES);
        } else {
            (check.plan)(&mut planner);
        }
        planner.items
    }

    /// An attempt that must be denied, with the same attempt unconfined before and after as its control.
    pub fn deny(&mut self, name: impl Into<String>, attempt: Attempt) -> &mut Item {
        self.add(name, attempt, &[LaunchKind::ControlBefore, LaunchKind::Target, LaunchKind::ControlAfter])
    }

    /// An attempt whose findings the check's rule judges.
    pub fn ask(&mut self, name: impl Into<String>, attempt: Attempt) -> &mut Item {
        self.add(name, attempt, &[LaunchKind::Target])
    }

    /// Tries what is declared absent, which must not work.
    fn try_absent(&mut self, routes: &[Capability]) {
        for route in routes {
            let name = format!("absent-{}", route.name());
            let steps = permitted(*route).mode(self.nonce(&name), "plain").exchange();
            self.ask(name, exchange(relay(*route), steps));
        }
    }

    /// The same through each kind of use of the target's own proxy, where it brings one: what it must refuse. Its control is
    /// a connection to the same place without a sandbox.
    pub fn deny_by_proxy(&mut self, name: &str, mut to: impl FnMut(&mut Self) -> (Authority, SocketAddr)) {
        for proxy in self.layout.way.proxies() {
            let name = format!("{name}-by-{}", by(proxy.by));
            let (to, unconfined) = to(self);
            let attempt = if is_control(self.kind) { tcp(unconfined) } else { Attempt::Proxied { proxy, to } };
            self.deny(name, attempt).deadline(PROXY_MILLIS);
        }
    }

    /// [`Self::deny_by_proxy`] of an address.
    pub fn deny_address_by_proxy(&mut self, name: &str, mut to: impl FnMut(&mut Self) -> SocketAddr) {
        self.deny_by_proxy(name, |plan| {
            let to = to(plan);
            (to.into(), to)
        });
    }

    /// Where the workload finds this route.
    pub fn endpoint(&self, route: Capability) -> Endpoint {
        self.layout.endpoint(route)
    }

    /// The routes that the target has, in a fixed order.
    pub fn routes(&self) -> Vec<Capability> {
        let absent = &self.layout.absent;
        Capability::ROUTES.iter().copied().filter(|route| !absent.contains(route)).collect()
    }

    /// An attempt that cannot be made here at all, and why: named in the report, never a pass.
    pub fn untestable(&mut self, name: &str, reason: &str) {
        let attempt = Attempt::Privileges;
        self.add(name, attempt, &[LaunchKind::Target]).where_supported().untestable = Some(reason.to_owned());
    }

    #[expect(clippy::expect_used, reason = "an item was pushed in the line before")]
    fn add(&mut self, name: impl Into<String>, attempt: Attempt, launches: &[LaunchKind]) -> &mut Item {
        self.items.push(Item::new(name, attempt, launches));
        self.items.last_mut().expect("just pushed")
    }

    /// The nonce of this check's attempt `name` in this launch.
    pub fn nonce(&self, name: &str) -> Nonce {
        self.run.attempt(self.launch, &format!("{}/{name}", self.slug))
    }

    /// The nonce of requests that the same attempt makes only to wait for a fixture: they count for no attempt.
    pub fn side_nonce(&self, name: &str) -> Nonce {
        self.nonce(&format!("{name}{SIDE}"))
    }

    pub fn kind(&self) -> LaunchKind {
        self.kind
    }

    fn number(&mut self) -> u32 {
        self.allocator.next += 1;
        self.allocator.next
    }

    /// An address of the internet that this attempt alone uses.
    pub fn internet_v4(&mut self, port: u16) -> SocketAddr {
        let [_, a, b, c] = self.number().to_be_bytes();
        SocketAddr::new(Ipv4Addr::new(9, a, b, c).into(), port)
    }

    pub fn internet_v6(&mut self, port: u16) -> SocketAddr {
        let [a, b, c, d] = self.number().to_be_bytes();
        let host = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
        SocketAddr::new(Ipv6Addr::new(0x2620, 0xfe, 0, 0, 0, 0, host[0], host[1]).into(), port)
    }

    /// This address of the internet side, on a port that this attempt alone uses.
    pub fn at(&mut self, address: IpAddr) -> SocketAddr {
        let port = self.fresh_port();
        SocketAddr::new(address, port)
    }

    /// A listener on the host side at this address, on a port that this attempt alone uses.
    pub fn host_tcp(&mut self, address: IpAddr) -> SocketAddr {
        let to = self.at(address);
        self.allocator.wanted.push(Wanted::Tcp(listen_on(to)));
        to
    }

    pub fn host_udp(&mut self, address: IpAddr) -> SocketAddr {
        let to = self.at(address);
        self.allocator.wanted.push(Wanted::Udp(listen_on(to)));
        to
    }

    /// As [`Self::host_tcp`] for a link-local address of the host side's link.
    pub fn host_scoped_tcp(&mut self, address: Ipv6Addr) -> SocketAddr {
        let to = SocketAddr::V6(SocketAddrV6::new(address, self.fresh_port(), 0, self.layout.link));
        self.allocator.wanted.push(Wanted::Tcp(to));
        to
    }

    /// A datagram socket of the host side at this very address, shared by every launch.
    pub fn host_udp_on(&mut self, to: SocketAddr) -> SocketAddr {
        self.want_once(Wanted::Udp(to));
        to
    }

    /// The host side's listener on this very port, shared by every launch.
    pub fn host_tcp_on(&mut self, to: SocketAddr) -> SocketAddr {
        self.want_once(Wanted::Tcp(to));
        to
    }

    /// An abstract Unix socket of the host side that this attempt alone uses.
    pub fn abstract_socket(&mut self, kind: UnixKind) -> Attempt {
        let address = UnixAddress::Abstract(format!("watertight-{}", self.number()));
        self.allocator.wanted.push(Wanted::Unix(address.clone(), kind));
        Attempt::Unix { address, kind }
    }

    /// A Unix socket in this directory of the host side that this attempt alone uses.
    pub fn socket_in(&mut self, directory: &str, kind: UnixKind) -> Attempt {
        let address = UnixAddress::Path(format!("{directory}/watertight-{}.sock", self.number()));
        self.allocator.wanted.push(Wanted::Unix(address.clone(), kind));
        Attempt::Unix { address, kind }
    }

    /// A Unix socket at the path of a well-known daemon, shared by every launch.
    pub fn socket_at(&mut self, path: &str, kind: UnixKind) -> Attempt {
        // The old name of /run is a link to it: one listener serves both.
        let place = path.strip_prefix("/var/run/").map_or_else(|| path.to_owned(), |rest| format!("/run/{rest}"));
        self.want_once(Wanted::Unix(UnixAddress::Path(place), kind));
        Attempt::Unix { address: UnixAddress::Path(path.to_owned()), kind }
    }

    /// A Unix socket in this directory whose peer hands out an internet socket of the host side.
    pub fn handing_socket_in(&mut self, directory: &str) -> Attempt {
        let address = UnixAddress::Path(format!("{directory}/watertight-{}.sock", self.number()));
        self.allocator.wanted.push(Wanted::Handing(address.clone()));
        Attempt::Unix { address, kind: UnixKind::Stream }
    }

    /// A set-user-id-root copy of this program, shared by every launch, where one can be made.
    pub fn set_user_id(&mut self) -> Option<PathBuf> {
        let path = self.layout.set_user_id.clone()?;
        self.want_once(Wanted::SetUserId(path.clone()));
        Some(path)
    }

    /// Key and name of the host's objects of inter-process communication, shared by every launch.
    pub fn ipc(&mut self) -> (i32, String) {
        let nonce = self.run.attempt("world", "ipc").to_string();
        // 28 bits, and never 0, which would ask for a new one.
        let key = i32::from_str_radix(&nonce[..7], 16).unwrap_or_default() | 1;
        let name = format!("/watertight-{nonce}");
        self.want_once(Wanted::Ipc(key, name.clone()));
        (key, name)
    }

    /// Reads a file of the launching user's with the run's marker in it.
    pub fn secret(&mut self, path: &str) -> Attempt {
        self.want_once(Wanted::Secret(path.into()));
        Attempt::Read { path: path.to_owned() }
    }

    /// Writes to the end of a file of the launching user's.
    pub fn watched(&mut self, path: &str) -> Attempt {
        self.want_once(Wanted::Watched(path.into()));
        Attempt::Append { path: path.to_owned() }
    }

    /// A Unix socket in a directory of the host that nothing else uses, where there is one.
    pub fn socket_elsewhere(&mut self, kind: UnixKind) -> Option<Attempt> {
        let place = self.layout.spare.clone()?;
        self.want_once(Wanted::Mounted(place.clone()));
        Some(self.socket_in(&place.display().to_string(), kind))
    }

    /// Opens for writing a file that the launching user may write on the host.
    pub fn given(&mut self, path: &str) -> Attempt {
        self.want_once(Wanted::Given(path.into()));
        Attempt::Open { path: path.to_owned(), read: false }
    }

    /// Opens a device of the host's.
    pub fn device(&mut self, path: &str) -> Attempt {
        self.want_once(Wanted::Device(path.into()));
        Attempt::Open { path: path.to_owned(), read: true }
    }

    /// As [`Self::deny`] for what the world's root alone may do, where it may: elsewhere it is untestable.
    pub fn deny_granted(&mut self, name: &str, attempt: Attempt) {
        if self.layout.granted.iter().any(|one| one == name) {
            self.deny(name, attempt).as_root().where_supported();
        } else {
            self.untestable(name, "the world's root does not get it here");
        }
    }

    fn want_once(&mut self, wanted: Wanted) {
        if !self.allocator.wanted.contains(&wanted) && !self.allocator.taken.contains(&wanted) {
            self.allocator.wanted.push(wanted);
        }
    }

    fn fresh_port(&mut self) -> u16 {
        // Below the ephemeral range, above what anything in the world listens on.
        10_000 + (self.number() % 20_000) as u16
    }
}

/// Where a listener must be for a client that dials `to`: the unspecified and mapped forms mean loopback.
fn listen_on(to: SocketAddr) -> SocketAddr {
    let address = match to.ip() {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(mapped) if mapped.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            Some(mapped) => mapped.into(),
            None => return to,
        },
        address => address,
    };
    SocketAddr::new(address, to.port())
}

/// A TCP connection to `to`.
pub fn tcp(to: SocketAddr) -> Attempt {
    stream(Stream::Tcp, to)
}

/// A connection to `to` over this transport.
pub fn stream(transport: Stream, to: SocketAddr) -> Attempt {
    Attempt::Connect { transport, to, source_port: None }
}

/// A UDP datagram to `to`.
pub fn udp(to: SocketAddr) -> Attempt {
    datagram(Datagram::Udp, to)
}

/// A datagram to `to` over this transport.
pub fn datagram(transport: Datagram, to: SocketAddr) -> Attempt {
    Attempt::Send { transport, to, call: SendCall::SendTo, source_port: None, dns: None }
}

/// The provider's route as the workload sees it.
pub fn provider() -> Endpoint {
    Endpoint::Tcp(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), PROVIDER_PORT))
}

/// The instance's route as the workload sees it.
pub fn instance() -> Endpoint {
    Endpoint::Tcp(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), INSTANCE_PORT))
}

/// Where the bridge of our relays answers for this route.
fn relay(route: Capability) -> Endpoint {
    match route {
        Capability::Provider | Capability::Relay => provider(),
        Capability::Instance => instance(),
    }
}

/// A request that this route must carry, without a body.
pub fn permitted(route: Capability) -> Request {
    match route {
        Capability::Provider | Capability::Relay => Request::models(),
        Capability::Instance => Request::new("GET", "/api/v1/context"),
    }
}

/// A scripted exchange with a relay.
pub fn exchange(to: Endpoint, steps: Vec<Step>) -> Attempt {
    Attempt::Exchange { to, steps }
}
