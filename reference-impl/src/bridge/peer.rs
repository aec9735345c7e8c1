//! Does anybody still hold the other end of a TCP connection over loopback?
//!
//! A client that closed and one that only ended its request both send FIN. On loopback the other end is a socket of the
//! same network namespace, and the kernel says whether a descriptor refers to it: inode 0 means that none does.

use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;

use crate::sys::net::{ask_sock_diag, open_sock_diag};

/// Looks up the owners of sockets, by sock_diag or, where the kernel has none for TCP, in `/proc/net/tcp`.
pub(crate) struct PeerTable {
    diag: Option<OwnedFd>,
}

impl PeerTable {
    pub(crate) fn open() -> Self {
        Self { diag: open_sock_diag().ok() }
    }

    /// Whether the socket at `local`, connected to `remote`, has been closed by everyone who held it.
    ///
    /// Where neither table can be read the answer is no: a response that is wanted counts more than one that is
    /// carried in vain.
    pub(crate) fn is_closed(&self, local: SocketAddrV4, remote: SocketAddrV4) -> bool {
        let inode = self.diag.as_ref().and_then(|diag| inode_by_diag(diag, local, remote));
        inode.or_else(|| inode_in_proc(local, remote)) == Some(0)
    }
}

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;

/// The inode of one socket; 0 also where there is no such socket any more.
fn inode_by_diag(diag: &OwnedFd, local: SocketAddrV4, remote: SocketAddrV4) -> Option<u32> {
    let mut request = Vec::with_capacity(72);
    // struct nlmsghdr
    request.extend(72u32.to_ne_bytes());
    request.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request.extend(NLM_F_REQUEST.to_ne_bytes());
    request.extend([0; 8]);
    // struct inet_diag_req_v2: family, protocol, extensions, padding, states
    request.extend([libc::AF_INET as u8, libc::IPPROTO_TCP as u8, 0, 0]);
    request.extend(u32::MAX.to_ne_bytes());
    // struct inet_diag_sockid: ports and addresses in network order, interface, cookie (any)
    request.extend(local.port().to_be_bytes());
    request.extend(remote.port().to_be_bytes());
    for address in [local.ip(), remote.ip()] {
        request.extend(address.octets());
        request.extend([0; 12]);
    }
    request.extend(0u32.to_ne_bytes());
    request.extend([0xff; 8]);

    let mut answer = [0; 512];
    let length = ask_sock_diag(diag, &request, &mut answer).ok()?;
    let kind = u16::from_ne_bytes(answer.get(4..6)?.try_into().ok()?);
    if kind == SOCK_DIAG_BY_FAMILY {
        // struct nlmsghdr (16), then struct inet_diag_msg, whose idiag_inode is its last field of 72 bytes.
        return (length >= 88).then(|| u32::from_ne_bytes([answer[84], answer[85], answer[86], answer[87]]));
    }
    let errno = i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?);
    // ENOENT also means "no handler for TCP" where the kernel lacks inet_diag; the table in /proc then decides.
    (kind == NLMSG_ERROR && errno == -libc::ENOENT).then(|| inode_in_proc(local, remote).unwrap_or(0))
}

fn inode_in_proc(local: SocketAddrV4, remote: SocketAddrV4) -> Option<u32> {
    let table = std::fs::read_to_string("/proc/self/net/tcp").ok()?;
    Some(inode_in_table(&table, local, remote))
}

/// The inode of one socket in the text of `/proc/net/tcp`; 0 where it is not listed.
fn inode_in_table(table: &str, local: SocketAddrV4, remote: SocketAddrV4) -> u32 {
    let wanted = [spell(local), spell(remote)];
    table
        .lines()
        .map(|line| line.split_ascii_whitespace().collect::<Vec<_>>())
        .find(|fields| fields.len() > 9 && fields[1] == wanted[0] && fields[2] == wanted[1])
        .and_then(|fields| fields[9].parse().ok())
        .unwrap_or(0)
}

/// An address as `/proc/net/tcp` writes it: the address as a number of this machine's byte order.
fn spell(address: SocketAddrV4) -> String {
    format!("{:08X}:{:04X}", u32::from_ne_bytes(address.ip().octets()), address.port())
}

#[cfg(test)]
mod tests {
    use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback listens");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback connects");
        (client, listener.accept().expect("accepts").0)
    }

    fn ends(server: &TcpStream) -> (SocketAddrV4, SocketAddrV4) {
        match (server.peer_addr().expect("peer"), server.local_addr().expect("local")) {
            (SocketAddr::V4(peer), SocketAddr::V4(local)) => (peer, local),
            other => panic!("not v4: {other:?}"),
        }
    }

    fn tables() -> [PeerTable; 2] {
        [PeerTable::open(), PeerTable { diag: None }]
    }

    #[test]
    fn a_half_closed_client_is_still_there() {
        let (client, server) = pair();
        let (peer, local) = ends(&server);
        client.shutdown(Shutdown::Write).expect("half-closes");
        for table in tables() {
            assert!(!table.is_closed(peer, local));
        }
    }

    #[test]
    fn a_closed_client_is_seen_as_closed() {
        for table in tables() {
            let (client, server) = pair();
            let (peer, local) = ends(&server);
            drop(client);
            let deadline = Instant::now() + Duration::from_secs(5);
            while !table.is_closed(peer, local) {
                assert!(Instant::now() < deadline, "the closed client is still listed as held");
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn a_socket_that_is_not_listed_counts_as_closed() {
        let table = "  sl  local_address rem_address\n   0: 0100007F:1F90 0100007F:9C40 08 0:0 0:0 0 0 0 4711 1\n";
        let address = |port| SocketAddrV4::new([127, 0, 0, 1].into(), port);
        if cfg!(target_endian = "little") {
            assert_eq!(inode_in_table(table, address(0x1F90), address(0x9C40)), 4711);
        }
        assert_eq!(inode_in_table(table, address(1), address(2)), 0);
    }
}
