//! Where attempts go, and what must be there: addresses, sockets, files and devices of the world.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6},
    path::PathBuf,
};

use watertight_probe::plan::{Attempt, UnixAddress, UnixKind};

use super::{Planner, allocator::Wanted};

impl Planner<'_> {
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
