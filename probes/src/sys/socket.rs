//! Sockets of every family, with addresses as the kernel takes them.

use std::{
    io, mem,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6},
    os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd},
};

use super::check;

/// A socket address of any family: its bytes as the kernel takes them.
#[derive(Clone, Copy)]
pub struct Address {
    storage: libc::sockaddr_storage,
    len: libc::socklen_t,
}

impl Address {
    pub fn from_bytes(bytes: &[u8]) -> Self {
        // SAFETY: every bit pattern, all zero included, is a valid `sockaddr_storage`.
        let mut storage: libc::sockaddr_storage = unsafe { mem::zeroed() };
        let len = bytes.len().min(size_of::<libc::sockaddr_storage>());
        // SAFETY: both are at least `len` bytes long and do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (&raw mut storage).cast::<u8>(), len) };
        Self { storage, len: len as libc::socklen_t }
    }

    fn bytes(&self) -> &[u8] {
        let len = (self.len as usize).min(size_of::<libc::sockaddr_storage>());
        // SAFETY: the storage is wholly initialised and at least `len` bytes long.
        unsafe { std::slice::from_raw_parts((&raw const self.storage).cast::<u8>(), len) }
    }

    /// A pathname Unix socket, or an abstract one where `name` starts with NUL. `None` where it is too long.
    pub fn unix(name: &[u8]) -> Option<Self> {
        if name.is_empty() || name.len() > 107 {
            return None;
        }
        let end: &[u8] = if name[0] == 0 { b"" } else { b"\0" };
        Some(Self::from_bytes(&[&(libc::AF_UNIX as u16).to_ne_bytes(), name, end].concat()))
    }

    /// The address of every station on this link (`AF_PACKET`).
    pub fn link_broadcast(index: u32, protocol: u16) -> Self {
        let mut bytes = Vec::with_capacity(20);
        bytes.extend((libc::AF_PACKET as u16).to_ne_bytes());
        bytes.extend(protocol.to_be_bytes());
        bytes.extend((index as i32).to_ne_bytes());
        bytes.extend([0, 0, 0, 6]);
        bytes.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0]);
        Self::from_bytes(&bytes)
    }

    /// The kernel's end of a netlink socket.
    pub fn netlink_kernel() -> Self {
        Self::from_bytes(&[&(libc::AF_NETLINK as u16).to_ne_bytes()[..], &[0; 10]].concat())
    }

    /// Pointer and length, for calls that take them as numbers. They are good as long as `self` is neither moved nor dropped.
    pub fn as_raw(&self) -> (*const libc::sockaddr_storage, libc::socklen_t) {
        (&raw const self.storage, self.len)
    }

    /// The internet address, where it is one.
    pub fn to_socket_addr(self) -> Option<SocketAddr> {
        let bytes = self.bytes();
        let family = i32::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
        let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
        if family == libc::AF_INET {
            let octets: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some((Ipv4Addr::from(octets), port).into())
        } else if family == libc::AF_INET6 {
            let octets: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            let scope = u32::from_ne_bytes(bytes.get(24..28)?.try_into().ok()?);
            Some(SocketAddrV6::new(Ipv6Addr::from(octets), port, 0, scope).into())
        } else {
            None
        }
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        let family = family_of(address.ip()) as u16;
        let mut bytes = Vec::with_capacity(28);
        bytes.extend(family.to_ne_bytes());
        bytes.extend(address.port().to_be_bytes());
        match address {
            SocketAddr::V4(v4) => {
                bytes.extend(v4.ip().octets());
                bytes.extend([0; 8]);
            }
            SocketAddr::V6(v6) => {
                bytes.extend(v6.flowinfo().to_be_bytes());
                bytes.extend(v6.ip().octets());
                bytes.extend(v6.scope_id().to_ne_bytes());
            }
        }
        Self::from_bytes(&bytes)
    }
}

pub fn family_of(address: IpAddr) -> i32 {
    if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }
}

/// A socket; `kind` may carry `SOCK_NONBLOCK`. It is never inherited across an exec.
pub fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes no pointer; a descriptor that it answers with is new and ours.
    unsafe { check(libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol)).map(|fd| OwnedFd::from_raw_fd(fd)) }
}

/// The same with a family of 64 bits, straight to the kernel, which reads the low 32 of them.
pub fn socket_of_wide_family(family: i64, kind: i32, protocol: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes no pointer; a descriptor that it answers with is new and ours.
    unsafe {
        check(libc::syscall(libc::SYS_socket, family, kind | libc::SOCK_CLOEXEC, protocol))
            .map(|fd| OwnedFd::from_raw_fd(fd as i32))
    }
}

/// A pipe: its end to read from and its end to write to.
pub fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the array is the place for two descriptors, which are new and ours.
    unsafe {
        check(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC))?;
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

pub fn connect(socket: impl AsFd, to: &Address) -> io::Result<()> {
    // SAFETY: the address lives across the call and is `len` bytes long.
    check(unsafe { libc::connect(socket.as_fd().as_raw_fd(), (&raw const to.storage).cast(), to.len) }).map(drop)
}

pub fn bind(socket: impl AsFd, to: &Address) -> io::Result<()> {
    // SAFETY: as for `connect`.
    check(unsafe { libc::bind(socket.as_fd().as_raw_fd(), (&raw const to.storage).cast(), to.len) }).map(drop)
}

/// Binds a Unix socket to an abstract name of the kernel's choice.
pub fn bind_anywhere(socket: impl AsFd) -> io::Result<()> {
    bind(socket, &Address::from_bytes(&(libc::AF_UNIX as u16).to_ne_bytes()))
}

/// Sends, with no `SIGPIPE`, to `to` where the socket is not connected.
pub fn send(socket: impl AsFd, bytes: &[u8], flags: i32, to: Option<&Address>) -> io::Result<usize> {
    let (address, len) = to.map_or((std::ptr::null(), 0), |to| ((&raw const to.storage).cast(), to.len));
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: bytes and address live across the call and their lengths are their own.
    let sent =
        unsafe { libc::sendto(fd, bytes.as_ptr().cast(), bytes.len(), flags | libc::MSG_NOSIGNAL, address, len) };
    check(sent).map(|sent| sent as usize)
}

/// The same by `sendmsg`, or by `sendmmsg` where `many`.
pub fn send_message(socket: impl AsFd, bytes: &[u8], to: &Address, many: bool) -> io::Result<()> {
    let fd = socket.as_fd().as_raw_fd();
    let mut address = to.storage;
    let mut part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: all zero is a valid `mmsghdr`; what its pointers point to lives across the calls, which only read it.
    unsafe {
        let mut message: libc::mmsghdr = mem::zeroed();
        message.msg_hdr.msg_name = (&raw mut address).cast();
        message.msg_hdr.msg_namelen = to.len;
        message.msg_hdr.msg_iov = &mut part;
        message.msg_hdr.msg_iovlen = 1;
        if many {
            check(libc::sendmmsg(fd, &mut message, 1, libc::MSG_NOSIGNAL as _)).map(drop)
        } else {
            check(libc::sendmsg(fd, &message.msg_hdr, libc::MSG_NOSIGNAL)).map(drop)
        }
    }
}

pub fn receive(socket: impl AsFd, buffer: &mut [u8], flags: i32) -> io::Result<usize> {
    // SAFETY: the buffer is writable and as long as is said.
    let read = unsafe { libc::recv(socket.as_fd().as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), flags) };
    check(read).map(|read| read as usize)
}

/// Receives bytes and the descriptors that came with them (`SCM_RIGHTS`).
pub fn receive_with_descriptors(socket: impl AsFd, buffer: &mut [u8]) -> io::Result<(usize, Vec<OwnedFd>)> {
    let mut control = [0u64; 128];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let mut received = Vec::new();
    // SAFETY: buffer and control are writable and as long as is said, and aligned; the control messages are walked with
    // the library's own macros, and every descriptor in them is new and ours.
    unsafe {
        let mut message: libc::msghdr = mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        let read = check(libc::recvmsg(socket.as_fd().as_raw_fd(), &mut message, libc::MSG_CMSG_CLOEXEC))?;
        let mut head = libc::CMSG_FIRSTHDR(&message);
        while let Some(control) = head.as_ref() {
            if control.cmsg_level == libc::SOL_SOCKET && control.cmsg_type == libc::SCM_RIGHTS {
                let count = (control.cmsg_len - libc::CMSG_LEN(0) as usize) / size_of::<i32>();
                let data = libc::CMSG_DATA(head).cast::<i32>();
                received.extend((0..count).map(|index| OwnedFd::from_raw_fd(data.add(index).read_unaligned())));
            }
            head = libc::CMSG_NXTHDR(&message, head);
        }
        Ok((read as usize, received))
    }
}

/// `shutdown(SHUT_WR)`.
pub fn half_close(socket: impl AsFd) -> io::Result<()> {
    // SAFETY: takes no pointer.
    check(unsafe { libc::shutdown(socket.as_fd().as_raw_fd(), libc::SHUT_WR) }).map(drop)
}

/// Makes the close of this socket a reset.
pub fn linger_zero(socket: impl AsFd) -> io::Result<()> {
    set_option(socket, libc::SOL_SOCKET, libc::SO_LINGER, libc::linger { l_onoff: 1, l_linger: 0 })
}

/// Bounds blocking sends, a blocking connect among them.
pub fn limit_sending(socket: impl AsFd, millis: u32) -> io::Result<()> {
    let time = libc::timeval { tv_sec: (millis / 1000).into(), tv_usec: (millis % 1000 * 1000).into() };
    set_option(socket, libc::SOL_SOCKET, libc::SO_SNDTIMEO, time)
}

pub fn set_flag(socket: impl AsFd, level: i32, name: i32) -> io::Result<()> {
    set_option(socket, level, name, 1i32)
}

fn set_option<T>(socket: impl AsFd, level: i32, name: i32, value: T) -> io::Result<()> {
    let fd = socket.as_fd().as_raw_fd();
    let len = size_of::<T>() as libc::socklen_t;
    // SAFETY: the value lives across the call and is `len` bytes long.
    check(unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), len) }).map(drop)
}

pub fn option(socket: impl AsFd, level: i32, name: i32) -> io::Result<i32> {
    read_option(socket, level, name, 0i32)
}

/// The error that waits on a socket (`SO_ERROR`), taken from it.
pub fn pending_error(socket: impl AsFd) -> io::Result<()> {
    match option(socket, libc::SOL_SOCKET, libc::SO_ERROR)? {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// The cookie of the socket's network namespace.
pub fn namespace_cookie(socket: impl AsFd) -> io::Result<u64> {
    /// `SO_NETNS_COOKIE`, the same on every architecture that Rust's Linux targets share with asm-generic.
    const SO_NETNS_COOKIE: i32 = 71;
    read_option(socket, libc::SOL_SOCKET, SO_NETNS_COOKIE, 0u64)
}

fn read_option<T: Copy>(socket: impl AsFd, level: i32, name: i32, mut value: T) -> io::Result<T> {
    let mut len = size_of::<T>() as libc::socklen_t;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the value is a writable integer of `len` bytes, for which every bit pattern is valid.
    check(unsafe { libc::getsockopt(fd, level, name, (&raw mut value).cast(), &mut len) })?;
    Ok(value)
}

/// This end's address.
pub fn local_address(socket: impl AsFd) -> io::Result<Address> {
    address_by(socket, libc::getsockname)
}

/// The other end's address.
pub fn peer_address(socket: impl AsFd) -> io::Result<Address> {
    address_by(socket, libc::getpeername)
}

fn address_by(
    socket: impl AsFd,
    call: unsafe extern "C" fn(i32, *mut libc::sockaddr, *mut libc::socklen_t) -> i32,
) -> io::Result<Address> {
    let mut address = Address::from_bytes(&[]);
    address.len = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: the storage is writable and as long as is said; the call is `getsockname` or `getpeername`.
    check(unsafe { call(socket.as_fd().as_raw_fd(), (&raw mut address.storage).cast(), &mut address.len) })?;
    Ok(address)
}
