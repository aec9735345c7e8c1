//! System calls of the ways out: descriptors that are handed over, packet sockets.

use std::{
    fs::OpenOptions,
    io::{self, IoSlice, IoSliceMut},
    os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd},
};

use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockType, SockaddrLike, bind,
    recvmsg, sendmsg, sendto, socket,
};

/// Closes every descriptor but this one, the standard ones included, which are then /dev/null.
pub fn keep_only(descriptor: &OwnedFd) -> io::Result<()> {
    let kept = descriptor.as_raw_fd() as libc::c_uint;
    close_range(0, kept.saturating_sub(1))?;
    close_range(kept + 1, libc::c_uint::MAX)?;
    for _ in 0..3 {
        // They get the lowest numbers, and stay for good.
        let _ = OpenOptions::new().read(true).write(true).open("/dev/null")?.into_raw_fd();
    }
    Ok(())
}

fn close_range(first: libc::c_uint, last: libc::c_uint) -> io::Result<()> {
    // SAFETY: no memory is passed. The caller has just been forked and ends without running the destructors of those
    // who own these descriptors in its copy of the memory.
    nix::Error::result(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) })?;
    Ok(())
}

/// Hands over a descriptor, with a number that says what it is for.
pub fn hand_over(way: &OwnedFd, number: u32, descriptor: &OwnedFd) -> io::Result<()> {
    let bytes = number.to_ne_bytes();
    let rights = [descriptor.as_raw_fd()];
    let control = [ControlMessage::ScmRights(&rights)];
    sendmsg::<()>(way.as_raw_fd(), &[IoSlice::new(&bytes)], &control, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

/// What was handed over; `None` when the other end is closed.
pub fn take_over(way: &OwnedFd) -> io::Result<Option<(u32, OwnedFd)>> {
    let mut bytes = [0; 4];
    let mut parts = [IoSliceMut::new(&mut bytes)];
    let mut control = nix::cmsg_space!([RawFd; 1]);
    let message = recvmsg::<()>(way.as_raw_fd(), &mut parts, Some(&mut control), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let mut descriptor = None;
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(rights) = control {
            for right in rights {
                // SAFETY: the kernel has just made this descriptor for this process, and nothing else owns it.
                descriptor = Some(unsafe { OwnedFd::from_raw_fd(right) });
            }
        }
    }
    let whole = message.bytes == size_of::<u32>();
    Ok(descriptor.filter(|_| whole).map(|descriptor| (u32::from_ne_bytes(bytes), descriptor)))
}

/// A packet socket on a link: it hears and sends IP packets, without the link's own header.
pub fn open_packets(link: u32) -> io::Result<OwnedFd> {
    // Protocol 0 hears nothing, so that nothing of other links comes in before it is bound.
    let packets = socket(AddressFamily::Packet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    bind(packets.as_raw_fd(), &address(link, libc::ETH_P_ALL, [0; 6])?)?;
    Ok(packets)
}

/// Sends an IP packet over this link to the station with this address.
pub fn send_packet(packets: &OwnedFd, link: u32, station: [u8; 6], packet: &[u8]) -> io::Result<()> {
    let is_v6 = packet.first().is_some_and(|first| first >> 4 == 6);
    let protocol = if is_v6 { libc::ETH_P_IPV6 } else { libc::ETH_P_IP };
    sendto(packets.as_raw_fd(), packet, &address(link, protocol, station)?, MsgFlags::empty())?;
    Ok(())
}

fn address(link: u32, protocol: i32, station: [u8; 6]) -> io::Result<LinkAddr> {
    let mut hardware = [0; 8];
    hardware[..6].copy_from_slice(&station);
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (protocol as u16).to_be(),
        sll_ifindex: link as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 6,
        sll_addr: hardware,
    };
    let length = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the pointer is to a whole `sockaddr_ll` of this length, which is copied.
    let address = unsafe { LinkAddr::from_raw((&raw const address).cast(), Some(length)) };
    address.ok_or_else(|| io::ErrorKind::InvalidInput.into())
}
