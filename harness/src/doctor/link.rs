//! Makes a veth pair by netlink, as the world does.

use nix::{
    errno::Errno,
    sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send, socket},
};
use std::os::fd::AsRawFd;

/// Attribute of `RTM_NEWLINK` and, nested in it, of `IFLA_LINKINFO` (linux/if_link.h).
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;

/// Makes a veth pair with names of the kernel's choice in this thread's network namespace.
pub fn make_veth() -> nix::Result<()> {
    let socket = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0))?;
    send(socket.as_raw_fd(), &request(), MsgFlags::empty())?;
    let mut answer = [0; 4096];
    let len = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    // `struct nlmsghdr` of 16 bytes, then the error number of `struct nlmsgerr`: 0 or negative.
    let code: [u8; 4] = answer[..len].get(16..20).and_then(|code| code.try_into().ok()).ok_or(Errno::EBADMSG)?;
    match i32::from_ne_bytes(code) {
        0 => Ok(()),
        error => Err(Errno::from_raw(-error)),
    }
}

fn request() -> Vec<u8> {
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL) as u16;
    // `struct ifinfomsg`, all 0.
    let mut body = vec![0; 16];
    body.extend(attribute(IFLA_LINKINFO, &attribute(IFLA_INFO_KIND, b"veth\0\0\0\0", 5), 12));
    let mut message = vec![];
    message.extend((16 + body.len() as u32).to_ne_bytes());
    message.extend(libc::RTM_NEWLINK.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    // Sequence number and port, which nobody else uses on this socket.
    message.extend([0; 8]);
    message.extend(body);
    message
}

/// An attribute whose value, of `len` bytes, is padded to a multiple of four.
fn attribute(kind: u16, padded: &[u8], len: u16) -> Vec<u8> {
    let mut bytes = vec![];
    bytes.extend((4 + len).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(padded);
    bytes
}
