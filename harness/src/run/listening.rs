//! Where TCP is listened in a process's network namespace, as the kernel tells the harness.

use std::{fs::File, io, net::SocketAddr};

use watertight_fixtures::world::listeners;

/// The addresses in a launch's record: a key of [`watertight_reports::evidence::Launch::outside`].
pub const LISTENING: &str = "listening";

/// Every address, with a space between two of them.
pub fn of(pid: i32) -> io::Result<String> {
    let found = listeners(File::open(format!("/proc/{pid}/ns/net"))?)?;
    Ok(found.iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(" "))
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
    fn many_listeners_come_in_several_answers() {
        let listeners: Vec<_> = (0..600).map(|_| TcpListener::bind("127.0.0.1:0").expect("loopback")).collect();
        let found = of(std::process::id() as i32).expect("the kernel tells");
        for one in &listeners {
            let address = one.local_addr().expect("bound").to_string();
            assert!(found.split(' ').any(|found| found == address), "{address}");
        }
    }
}
