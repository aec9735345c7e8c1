//! Where TCP is listened in a process's network namespace, as the kernel tells the harness.
//!
//! Asked by sock_diag(7): `/proc/PID/net/tcp` says the same, and the kernel looks through every connection of the machine
//! for it, which takes a hundred times as long.

use std::{
    collections::BTreeSet,
    fs::File,
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::fd::AsRawFd,
    thread,
};

use nix::{
    sched::{CloneFlags, setns},
    sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket},
};

/// The addresses in a launch's record: a key of [`watertight_reports::evidence::Launch::outside`].
pub const LISTENING: &str = "listening";
/// The state of a listening socket (`TCP_LISTEN`).
const LISTEN: u32 = 10;
/// `SOCK_DIAG_BY_FAMILY`.
const BY_FAMILY: u16 = 20;
/// `struct nlmsghdr`.
const HEADER: usize = 16;
/// `struct inet_diag_req_v2`: family, protocol and states, and a socket's id that says nothing here.
const REQUEST: usize = 56;
/// Bytes of answers that are read at once: the kernel makes no larger ones.
const ANSWERS: usize = 32 << 10;

/// Every address, with a space between two of them.
pub fn of(pid: i32) -> io::Result<String> {
    let network = File::open(format!("/proc/{pid}/ns/net"))?;
    // A thread of its own, since it stays in the network that it joins.
    let found = thread::scope(|scope| {
        let asked = thread::Builder::new().spawn_scoped(scope, || {
            setns(&network, CloneFlags::CLONE_NEWNET)?;
            let mut found = listeners(AddressFamily::Inet)?;
            found.extend(listeners(AddressFamily::Inet6)?);
            Ok::<_, io::Error>(found)
        })?;
        asked.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    Ok(found.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(" "))
}

/// Those of one family in this thread's network. Fails where the kernel has no such family, or does not tell of its sockets.
fn listeners(family: AddressFamily) -> io::Result<BTreeSet<SocketAddr>> {
    let kernel = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkSockDiag)?;
    send(kernel.as_raw_fd(), &request(family), MsgFlags::empty())?;
    let mut found = BTreeSet::new();
    let mut buffer = vec![0; ANSWERS];
    loop {
        let length = recv(kernel.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
        let mut rest = buffer.get(..length).unwrap_or_default();
        while let Some((kind, body, next)) = message(rest) {
            match i32::from(kind) {
                libc::NLMSG_DONE | libc::NLMSG_ERROR => return ended(body).map(|()| found),
                _ => found.extend(address(body)),
            }
            rest = next;
        }
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// Asks for the listeners among the TCP sockets of a family.
fn request(family: AddressFamily) -> Vec<u8> {
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_DUMP) as u16;
    let mut bytes = Vec::with_capacity(HEADER + REQUEST);
    bytes.extend(((HEADER + REQUEST) as u32).to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    // Its number and its sender's, which one question and its answers do not need.
    bytes.extend([0; 8]);
    bytes.extend([family as u8, libc::IPPROTO_TCP as u8, 0, 0]);
    bytes.extend((1u32 << LISTEN).to_ne_bytes());
    bytes.resize(HEADER + REQUEST, 0);
    bytes
}

/// The first message: its kind, what it says, and what follows it.
fn message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    let next = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, bytes.get(HEADER..length)?, next))
}

/// How the answers ended: a negative error number, or 0.
fn ended(body: &[u8]) -> io::Result<()> {
    match body.get(..4).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes) {
        Some(0) => Ok(()),
        Some(errno) => Err(io::Error::from_raw_os_error(-errno)),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The local address of a `struct inet_diag_msg`: family, three bytes, and in the network's order two ports and two addresses.
fn address(body: &[u8]) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(body.get(4..6)?.try_into().ok()?);
    let bytes = body.get(8..24)?;
    let address = match i32::from(*body.first()?) {
        libc::AF_INET => IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(bytes.get(..4)?).ok()?)),
        _ => Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).into(),
    };
    Some(SocketAddr::new(address, port))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn listeners_of_both_families_are_found_and_connections_are_not() {
        let listeners = ["127.0.0.1:0", "[::1]:0"].map(|on| TcpListener::bind(on).expect("loopback"));
        let addresses = listeners.each_ref().map(|one| one.local_addr().expect("bound"));
        let client = std::net::TcpStream::connect(addresses[0]).expect("a connection");
        let client = client.local_addr().expect("connected");
        let found = of(std::process::id() as i32).expect("the tables");
        let found: Vec<SocketAddr> = found.split(' ').map(|one| one.parse().expect("an address")).collect();
        assert!(addresses.iter().all(|address| found.contains(address)), "{found:?}");
        assert!(!found.contains(&client), "{found:?}");
    }

    #[test]
    fn answers_that_end_with_an_error_are_none() {
        assert!(ended(&0i32.to_ne_bytes()).is_ok());
        let error = ended(&(-libc::ENOENT).to_ne_bytes()).expect_err("an error");
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
        assert!(ended(&[]).is_err());
    }

    #[test]
    fn many_listeners_come_in_several_answers() {
        let listeners: Vec<_> = (0..600).map(|_| TcpListener::bind("127.0.0.1:0").expect("loopback")).collect();
        let found = of(std::process::id() as i32).expect("the kernel tells");
        for one in &listeners {
            let address = one.local_addr().expect("bound").to_string();
            assert!(found.split(' ').any(|found| found == address), "{address}");
        }
    }
}
