//! Where TCP is listened in a process's network namespace, as the kernel tells the harness.

use std::{
    collections::BTreeSet,
    fs, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

/// The addresses in a launch's record: a key of [`watertight_reports::evidence::Launch::outside`].
pub const LISTENING: &str = "listening";
/// The state of a listening socket (`TCP_LISTEN`).
const LISTEN: &str = "0A";

/// Every address, with a space between two of them.
pub fn of(pid: i32) -> io::Result<String> {
    let mut found = BTreeSet::new();
    for table in ["tcp", "tcp6"] {
        match fs::read_to_string(format!("/proc/{pid}/net/{table}")) {
            Ok(text) => found.extend(text.lines().filter_map(listener)),
            // A kernel without IPv6.
            Err(error) if error.kind() == io::ErrorKind::NotFound && table == "tcp6" => {}
            Err(error) => return Err(error),
        }
    }
    Ok(found.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(" "))
}

/// The local address of a line, where it is a listener's: `0: 0100007F:223D 00000000:0000 0A …`.
fn listener(line: &str) -> Option<SocketAddr> {
    let mut fields = line.split_whitespace().skip(1);
    let (local, _remote, state) = (fields.next()?, fields.next()?, fields.next()?);
    let (address, port) = local.split_once(':')?;
    // Words in the machine's byte order, each of bytes in the network's.
    let words = (0..address.len()).step_by(8).map(|at| u32::from_str_radix(address.get(at..at + 8)?, 16).ok());
    let bytes: Vec<u8> = words.collect::<Option<Vec<_>>>()?.into_iter().flat_map(u32::to_ne_bytes).collect();
    let address = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(v4) => IpAddr::from(Ipv4Addr::from(v4)),
        Err(_) => Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?).into(),
    };
    (state == LISTEN).then_some(SocketAddr::new(address, u16::from_str_radix(port, 16).ok()?))
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
}
