//! Changes of links that have an ioctl: up and down, and tun devices.

use std::{
    io, mem,
    os::fd::{AsFd, AsRawFd},
};

use super::check;

/// Sets or clears `IFF_UP` of a link, by `SIOCGIFFLAGS` and `SIOCSIFFLAGS` on any socket. An error says which of them it was.
pub fn set_up(socket: impl AsFd, name: &str, up: bool) -> Result<(), (&'static str, io::Error)> {
    let mut request = request(name);
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the request is a whole `ifreq` that the calls read and fill; the flags are its active field for both.
    unsafe {
        check(libc::ioctl(fd, libc::SIOCGIFFLAGS as _, &raw mut request)).map_err(|error| ("SIOCGIFFLAGS", error))?;
        let flag = libc::IFF_UP as libc::c_short;
        let flags = request.ifr_ifru.ifru_flags;
        request.ifr_ifru.ifru_flags = if up { flags | flag } else { flags & !flag };
        check(libc::ioctl(fd, libc::SIOCSIFFLAGS as _, &raw const request)).map_err(|error| ("SIOCSIFFLAGS", error))?;
    }
    Ok(())
}

/// Makes a tun interface of this name; it goes when the descriptor is closed.
pub fn make_tun(device: impl AsFd, name: &str) -> io::Result<()> {
    let mut request = request(name);
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the request is a whole `ifreq` that the call reads and fills.
    check(unsafe { libc::ioctl(device.as_fd().as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) }).map(drop)
}

fn request(name: &str) -> libc::ifreq {
    // SAFETY: all zero is a valid `ifreq`.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    let last = request.ifr_name.len() - 1;
    request.ifr_name[..last].iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from as libc::c_char);
    request
}
