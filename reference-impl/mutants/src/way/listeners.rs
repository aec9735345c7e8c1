//! Where the host listens, as the tables of /proc/net say.

use std::{
    fs, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use nix::sys::socket::SockType;

use super::table::Listeners;

/// Where a socket can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Tcp(SocketAddr),
    Udp(SocketAddr),
    /// An abstract name.
    Unix(UnixKind, Vec<u8>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnixKind {
    Stream,
    Datagram,
    Seqpacket,
}

impl UnixKind {
    pub fn socket_type(self) -> SockType {
        match self {
            Self::Stream => SockType::Stream,
            Self::Datagram => SockType::Datagram,
            Self::Seqpacket => SockType::SeqPacket,
        }
    }
}

/// Inside, the bridge listens there.
const BRIDGE_PORTS: [u16; 2] = [8765, 8766];
const HTTP: u16 = 80;
const DNS: u16 = 53;
/// TCP_LISTEN, and TCP_CLOSE, which is what an unconnected socket of UDP is in.
const LISTENING: &str = "0A";
const UNCONNECTED: &str = "07";
/// `__SO_ACCEPTCON`
const ACCEPTS: u32 = 1 << 16;

/// The listeners of this network namespace, each once.
pub fn places(of: Listeners) -> io::Result<Vec<Place>> {
    let mut places: Vec<Place> = match of {
        Listeners::TcpV4 => on_loopback("tcp", LISTENING)?.filter(not_the_bridge).map(Place::Tcp).collect(),
        Listeners::TcpV6 => on_loopback("tcp6", LISTENING)?.filter(not_the_bridge).map(Place::Tcp).collect(),
        Listeners::Udp => udp()?.filter(|place| place.port() != DNS).map(Place::Udp).collect(),
        Listeners::Dns => udp()?.filter(|place| place.port() == DNS).map(Place::Udp).collect(),
        Listeners::Abstract => fs::read("/proc/net/unix")?.split(|byte| *byte == b'\n').filter_map(unix).collect(),
        Listeners::Http(addresses) => addresses.map(|one| Place::Tcp(SocketAddr::new(one, HTTP))).to_vec(),
    };
    // Sockets that share a port stand in the table several times.
    let mut seen = vec![];
    places.retain(|place| {
        !seen.contains(place) && {
            seen.push(place.clone());
            true
        }
    });
    Ok(places)
}

fn udp() -> io::Result<impl Iterator<Item = SocketAddr>> {
    Ok(on_loopback("udp", UNCONNECTED)?.chain(on_loopback("udp6", UNCONNECTED)?))
}

fn not_the_bridge(place: &SocketAddr) -> bool {
    !BRIDGE_PORTS.contains(&place.port())
}

fn on_loopback(table: &str, state: &str) -> io::Result<impl Iterator<Item = SocketAddr>> {
    let text = fs::read_to_string(format!("/proc/net/{table}"))?;
    Ok(text.lines().filter_map(|line| internet(line, state)).collect::<Vec<_>>().into_iter())
}

/// Slot, local address, remote address, state, more. What listens everywhere listens on loopback.
fn internet(line: &str, state: &str) -> Option<SocketAddr> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let (address, port) = words.next()?.split_once(':')?;
    if words.nth(1)? != state {
        return None;
    }
    let address = match read_address(address)? {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        address if address.is_loopback() => address,
        _ => return None,
    };
    Some(SocketAddr::new(address, u16::from_str_radix(port, 16).ok()?))
}

/// Words of 32 bits as the machine has them in memory.
fn read_address(hexadecimal: &str) -> Option<IpAddr> {
    let word = |at: usize| Some(u32::from_str_radix(hexadecimal.get(at * 8..at * 8 + 8)?, 16).ok()?.to_ne_bytes());
    if hexadecimal.len() == 8 {
        return Some(Ipv4Addr::from(word(0)?).into());
    }
    let words = [word(0)?, word(1)?, word(2)?, word(3)?];
    Some(Ipv6Addr::from(<[u8; 16]>::try_from(words.concat()).ok()?).into())
}

/// Slot, references, protocol, flags, type, state, inode, name; `@` stands for the NUL of an abstract one.
fn unix(line: &[u8]) -> Option<Place> {
    let words: Vec<&[u8]> = line.splitn(7, |byte| *byte == b' ').collect();
    let number = |at: usize| u32::from_str_radix(std::str::from_utf8(words.get(at)?).ok()?, 16).ok();
    let kind = match number(4)? as i32 {
        libc::SOCK_STREAM => UnixKind::Stream,
        libc::SOCK_DGRAM => UnixKind::Datagram,
        libc::SOCK_SEQPACKET => UnixKind::Seqpacket,
        _ => return None,
    };
    if kind != UnixKind::Datagram && number(3)? & ACCEPTS == 0 {
        return None;
    }
    // The inode may be padded with blanks; the name is the rest of the line, blanks and all.
    let name = words.get(6)?.trim_ascii_start().splitn(2, |byte| *byte == b' ').nth(1)?.strip_prefix(b"@")?;
    Some(Place::Unix(kind, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_of_loopback_is_read_from_its_line() {
        let line = |local: &str, state: &str| format!("   0: {local} 00000000:0000 {state} 00000000:00000000 00:0");
        let read = |local: &str| internet(&line(local, "0A"), LISTENING).map(|place| place.to_string());
        assert_eq!(read("0200007F:1F90").as_deref(), Some("127.0.0.2:8080"));
        assert_eq!(read("00000000:0035").as_deref(), Some("127.0.0.1:53"));
        assert_eq!(read("00000000000000000000000001000000:0050").as_deref(), Some("[::1]:80"));
        assert_eq!(read("00000000000000000000000000000000:0050").as_deref(), Some("[::1]:80"));
        assert_eq!(read("026433C6:0050"), None, "198.51.100.2 is not loopback");
        assert_eq!(internet(&line("0100007F:0050", "01"), LISTENING), None, "connected");
    }

    #[test]
    fn a_line_that_is_none_is_passed_over() {
        for line in
            ["", "sl local_address rem_address st", "0: 0100007F 0:0 0A", "0: 01:50 0:0 0A", "0: é00007F:1 0:0 0A"]
        {
            assert_eq!(internet(line, LISTENING), None, "{line}");
        }
        for line in ["", "Num RefCount Protocol Flags Type St Inode Path", "0: 2 0 0 0002 01", "0: 2 0 0 0002 01 7"] {
            assert_eq!(unix(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn an_abstract_socket_that_can_be_reached_is_read_from_its_line() {
        let read = |kind: &str, flags: &str, name: &str| {
            unix(format!("0000000000000000: 00000002 00000000 {flags} {kind} 01   167 {name}").as_bytes())
        };
        let place = |kind, name: &[u8]| Some(Place::Unix(kind, name.to_owned()));
        assert_eq!(read("0001", "00010000", "@a b"), place(UnixKind::Stream, b"a b"));
        assert_eq!(read("0005", "00010000", "@a"), place(UnixKind::Seqpacket, b"a"));
        assert_eq!(read("0002", "00000000", "@a"), place(UnixKind::Datagram, b"a"));
        assert_eq!(read("0001", "00000000", "@a"), None, "connected");
        assert_eq!(read("0001", "00010000", "/run/a"), None, "a path");
    }
}
