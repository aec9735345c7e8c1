//! Opens what checks want to be there: canaries on the host side, at addresses, names and paths of their own.

use std::{
    fs, io,
    net::{TcpListener, UdpSocket},
    os::{
        fd::OwnedFd,
        linux::net::SocketAddrExt,
        unix::{
            fs::{PermissionsExt, chown},
            net::{SocketAddr as UnixSocketAddr, UnixDatagram, UnixListener},
        },
    },
    path::Path,
};

use nix::{
    mount::{MsFlags, mount},
    sys::socket::{AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, listen, socket},
};
use std::os::fd::AsRawFd;
use watertight_fixtures::world::PROGRAMS;
use watertight_probe::plan::{UnixAddress, UnixKind};

use super::up::{Site, SiteError};
use crate::planner::Wanted;

pub const TCP: &str = "canary-tcp";
pub const UDP: &str = "canary-udp";
pub const UNIX: &str = "canary-unix";
/// The canaries, each with a banner of its own.
pub const CANARIES: [&str; 3] = [TCP, UDP, UNIX];

/// Where the C library looks for the name service's cache.
const NAME_SERVICE: &str = "/run/nscd/socket";

/// A socket that is open and not served yet.
enum Opened {
    Tcp(TcpListener),
    Udp(UdpSocket),
    Stream(UnixListener),
    NameService(UnixListener),
    Datagram(UnixDatagram),
    Seqpacket(OwnedFd),
    Handing(UnixListener, OwnedFd),
    /// A file, which needs no server.
    File,
}

impl Site {
    /// Opens and serves everything of `wanted`. Anything that cannot be opened is an error: a canary that is not there hears nothing.
    pub fn open(&mut self, wanted: Vec<Wanted>) -> Result<(), SiteError> {
        let (owner, marker) = (self.world.agent_owner(), self.secrets.marker.clone());
        for one in &wanted {
            if let Wanted::Watched(path) = one {
                self.watched.push(path.clone());
            }
            if let Wanted::Ipc(key, name) = one {
                self.world
                    .plant_ipc(*key, name)
                    .map_err(|source| SiteError::Canary { what: format!("{one:?}"), source })?;
            }
        }
        let open = |wanted: &Wanted| {
            let what = format!("{wanted:?}");
            opened(wanted, owner, &marker).map_err(|source| SiteError::Canary { what, source })
        };
        let opened: Vec<Opened> = self
            .world
            .in_host_files(|| wanted.iter().map(open).collect::<Result<_, _>>())
            .map_err(|source| SiteError::Enter { source })??;
        for socket in opened {
            self.serve(socket)?;
        }
        Ok(())
    }

    fn serve(&self, socket: Opened) -> Result<(), SiteError> {
        let banner = |fixture: &str| self.secrets.spoken(fixture);
        match socket {
            Opened::Tcp(listener) => self.servers().canary_tcp(TCP, listener, &banner(TCP))?,
            Opened::Udp(socket) => self.servers().canary_udp(UDP, socket, &banner(UDP), None)?,
            Opened::Stream(listener) => self.servers().canary_unix(UNIX, listener, &banner(UNIX))?,
            Opened::NameService(listener) => self.servers().canary_name_service(UNIX, listener)?,
            Opened::Datagram(socket) => self.servers().canary_unix_datagram(UNIX, socket, &banner(UNIX))?,
            Opened::Seqpacket(socket) => self.servers().canary_unix_seqpacket(UNIX, socket, &banner(UNIX))?,
            Opened::File => {}
            Opened::Handing(listener, inside) => {
                self.servers().canary_unix_rights(UNIX, listener, &banner(UNIX), inside)?;
            }
        }
        Ok(())
    }
}

fn opened(wanted: &Wanted, owner: u32, marker: &str) -> io::Result<Opened> {
    Ok(match wanted {
        Wanted::Tcp(address) => Opened::Tcp(TcpListener::bind(address)?),
        Wanted::Udp(address) => Opened::Udp(UdpSocket::bind(address)?),
        Wanted::Unix(address @ UnixAddress::Path(path), UnixKind::Stream) if path == NAME_SERVICE => {
            Opened::NameService(stream(address, owner)?)
        }
        Wanted::Unix(address, UnixKind::Stream) => Opened::Stream(stream(address, owner)?),
        Wanted::Unix(address, UnixKind::Datagram) => {
            let socket = match address {
                UnixAddress::Path(path) => UnixDatagram::bind(prepared(path)?)?,
                UnixAddress::Abstract(name) => UnixDatagram::bind_addr(&UnixSocketAddr::from_abstract_name(name)?)?,
            };
            give(address, owner)?;
            Opened::Datagram(socket)
        }
        Wanted::Unix(address, UnixKind::Seqpacket) => {
            let socket = socket(AddressFamily::Unix, SockType::SeqPacket, SockFlag::SOCK_CLOEXEC, None)?;
            let name = match address {
                UnixAddress::Path(path) => UnixAddr::new(prepared(path)?)?,
                UnixAddress::Abstract(name) => UnixAddr::new_abstract(name.as_bytes())?,
            };
            bind(socket.as_raw_fd(), &name)?;
            listen(&socket, Backlog::MAXCONN)?;
            give(address, owner)?;
            Opened::Seqpacket(socket)
        }
        Wanted::Handing(address) => {
            let listener = stream(address, owner)?;
            // Made on the host side: whoever gets it speaks from there.
            let inside = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
            Opened::Handing(listener, inside)
        }
        Wanted::SetUserId(path) => {
            fs::create_dir_all(path.with_file_name(""))?;
            fs::copy(format!("{PROGRAMS}/watertight"), path)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o4755))?;
            Opened::File
        }
        Wanted::Secret(path) => {
            prepare(path, owner)?;
            fs::write(path, marker)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
            chown(path, Some(owner), Some(owner))?;
            Opened::File
        }
        Wanted::Watched(path) => {
            prepare(path, owner)?;
            fs::write(path, "# The user's own.\n")?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
            chown(path, Some(owner), Some(owner))?;
            Opened::File
        }
        Wanted::Mounted(path) => {
            mount(Some("tmpfs"), path, Some("tmpfs"), MsFlags::MS_NODEV, Some("mode=755,size=1m"))?;
            Opened::File
        }
        Wanted::Given(path) => {
            chown(path, Some(owner), Some(owner))?;
            Opened::File
        }
        Wanted::Device(path) => {
            fs::write(path, "")?;
            mount(Some("/dev/null"), path, None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
            Opened::File
        }
        // Made in another namespace: see `open`.
        Wanted::Ipc(..) => Opened::File,
    })
}

fn stream(address: &UnixAddress, owner: u32) -> io::Result<UnixListener> {
    let listener = match address {
        UnixAddress::Path(path) => UnixListener::bind(prepared(path)?)?,
        UnixAddress::Abstract(name) => UnixListener::bind_addr(&UnixSocketAddr::from_abstract_name(name)?)?,
    };
    give(address, owner)?;
    Ok(listener)
}

/// Makes the directories of a daemon's socket, as its package would have.
fn prepared(path: &str) -> io::Result<&Path> {
    let path = Path::new(path);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    Ok(path)
}

/// Makes the directories of a file of the user's, as the user would have.
fn prepare(path: &Path, owner: u32) -> io::Result<()> {
    let missing: Vec<_> = path.ancestors().skip(1).take_while(|directory| !directory.exists()).collect();
    for directory in missing.into_iter().rev() {
        fs::create_dir(directory)?;
        fs::set_permissions(directory, fs::Permissions::from_mode(0o700))?;
        chown(directory, Some(owner), Some(owner))?;
    }
    Ok(())
}

/// Everybody may connect: what stops a workload must be the sandbox.
fn give(address: &UnixAddress, owner: u32) -> io::Result<()> {
    if let UnixAddress::Path(path) = address {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777))?;
        chown(path, Some(owner), Some(owner))?;
    }
    Ok(())
}
