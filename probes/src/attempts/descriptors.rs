//! Descriptors that the workload inherited: what each is, and whether something leaves through it.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    os::fd::{BorrowedFd, RawFd},
    time::{Duration, Instant},
};

use super::raw;
use crate::{
    context::{Attempted, Context, found},
    observation::{Descriptor, Facts},
    sys::{
        descriptors, namespaces, poll, process,
        socket::{self, Address},
    },
};

/// How long one descriptor may take.
const EACH: Duration = Duration::from_millis(200);
const LINKS: u32 = 8;

/// `Attempt::Descriptors`.
pub fn look(context: &Context<'_>, reach: SocketAddr) -> Attempted {
    let open = context.inherited.iter().map(|fd| describe(context, *fd, reach)).collect();
    Ok(found(Facts::Descriptors { open }))
}

fn describe(context: &Context<'_>, fd: RawFd, reach: SocketAddr) -> Descriptor {
    let borrowed = descriptors::borrow(fd);
    let kind = kind(borrowed);
    context.step(&format!("descriptor {fd} ({kind})"));
    Descriptor { fd, usable: try_to_use(context, borrowed, kind, reach).is_ok(), kind: kind.to_owned() }
}

fn kind(fd: BorrowedFd<'_>) -> &'static str {
    if descriptors::is_namespace(fd) {
        return "namespace";
    }
    match descriptors::mode(fd) {
        Ok(libc::S_IFREG) => "regular",
        Ok(libc::S_IFDIR) => "directory",
        Ok(libc::S_IFIFO) => "pipe",
        Ok(libc::S_IFCHR) => "char",
        Ok(libc::S_IFSOCK) => match socket::option(fd, libc::SOL_SOCKET, libc::SO_DOMAIN) {
            Ok(libc::AF_UNIX) => "unix",
            Ok(libc::AF_INET | libc::AF_INET6) => "inet",
            Ok(libc::AF_NETLINK) => "netlink",
            Ok(libc::AF_PACKET) => "packet",
            Ok(_) | Err(_) => "other",
        },
        Ok(0) => "anon",
        Ok(_) | Err(_) => "other",
    }
}

fn try_to_use(context: &Context<'_>, fd: BorrowedFd<'_>, kind: &str, reach: SocketAddr) -> io::Result<()> {
    let payload = context.payload();
    match kind {
        "regular" => descriptors::write(fd, payload.as_bytes()).map(drop),
        "directory" => descriptors::lists(&descriptors::reopen_directory(fd)?),
        // A full pipe must not stop the attempt, and its flags are not ours to change.
        "pipe" | "char" => write_if_ready(fd, payload.as_bytes()),
        // An event counter takes eight bytes and no more.
        "anon" => write_if_ready(fd, payload.as_bytes()).or_else(|_| write_if_ready(fd, &payload.as_bytes()[..8])),
        "unix" => socket::send(fd, payload.as_bytes(), libc::MSG_DONTWAIT, None).map(drop),
        "inet" => send_from(fd, payload.as_bytes(), reach),
        "netlink" => {
            let message = [
                &(16 + payload.len() as u32).to_ne_bytes()[..],
                &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                payload.as_bytes(),
            ]
            .concat();
            socket::send(fd, &message, libc::MSG_DONTWAIT, Some(&Address::netlink_kernel())).map(drop)
        }
        "packet" => (1..=LINKS)
            .map(|link| raw::send_frame(context, fd, link))
            .find(Result::is_ok)
            .unwrap_or_else(|| Err(io::Error::from_raw_os_error(libc::ENXIO))),
        "namespace" => join_in_a_child(fd),
        _ => Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP)),
    }
}

fn write_if_ready(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<()> {
    let ready = poll::wait(fd, poll::WRITE, Instant::now())?.unwrap_or(0);
    if ready & poll::WRITE == 0 {
        return Err(io::ErrorKind::WouldBlock.into());
    }
    descriptors::write(fd, bytes).map(drop)
}

/// The namespace is joined by a child, so that what is looked at afterwards is still seen from here.
fn join_in_a_child(fd: BorrowedFd<'_>) -> io::Result<()> {
    let child = process::spawn(|| u8::from(namespaces::join(fd).is_err()))?;
    match process::wait_for(child)? {
        process::End::Exited(0) => Ok(()),
        process::End::Exited(_) | process::End::Killed(_) => Err(io::Error::from_raw_os_error(libc::EPERM)),
    }
}

/// Through the connection that is there, or else to `reach`.
fn send_from(fd: BorrowedFd<'_>, payload: &[u8], reach: SocketAddr) -> io::Result<()> {
    if socket::send(fd, payload, libc::MSG_DONTWAIT, None).is_ok() {
        return Ok(());
    }
    let to = Address::from(as_family_of(fd, reach));
    if socket::option(fd, libc::SOL_SOCKET, libc::SO_TYPE)? != libc::SOCK_STREAM {
        return socket::send(fd, payload, libc::MSG_DONTWAIT, Some(&to)).map(drop);
    }
    socket::limit_sending(fd, EACH.as_millis() as u32)?;
    if let Err(error) = socket::connect(fd, &to) {
        if error.raw_os_error() != Some(libc::EINPROGRESS) {
            return Err(error);
        }
        poll::wait(fd, poll::WRITE, Instant::now() + EACH)?.ok_or(io::ErrorKind::TimedOut)?;
        socket::pending_error(fd)?;
    }
    socket::send(fd, payload, 0, None).map(drop)
}

/// An IPv6 socket reaches an IPv4 address by its mapped form.
fn as_family_of(fd: BorrowedFd<'_>, reach: SocketAddr) -> SocketAddr {
    match (socket::option(fd, libc::SOL_SOCKET, libc::SO_DOMAIN), reach.ip()) {
        (Ok(libc::AF_INET6), IpAddr::V4(v4)) => SocketAddr::new(v4.to_ipv6_mapped().into(), reach.port()),
        _ => reach,
    }
}
