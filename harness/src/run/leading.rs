//! What leads out of a process's network namespace, as the kernel tells the harness: for targets that refuse netlink inside.

use std::{collections::BTreeSet, fs, io, net::Ipv4Addr};

/// What leads elsewhere, in a launch's record: a key of [`watertight_reports::evidence::Launch::outside`].
pub const LEADING: &str = "leading";

/// Addresses that are not loopback's, and links that have routes, with a comma between two of them.
pub fn of(pid: i32) -> io::Result<String> {
    let read = |table: &str| match fs::read_to_string(format!("/proc/{pid}/net/{table}")) {
        // A kernel without IPv6.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other,
    };
    let mut found = BTreeSet::new();
    found.extend(read("route")?.lines().skip(1).filter_map(route));
    found.extend(addresses_v4(&read("fib_trie")?));
    found.extend(read("if_inet6")?.lines().filter_map(address_v6));
    Ok(found.into_iter().collect::<Vec<_>>().join(", "))
}

/// `host0 00000000 0164A8C0 …`: link, destination, gateway.
fn route(line: &str) -> Option<String> {
    let link = line.split_whitespace().next()?;
    (link != "lo").then(|| format!("a route by link {link}"))
}

/// Lines of `|-- 198.51.100.2`, each before one that says what it is: `/32 host LOCAL`.
fn addresses_v4(trie: &str) -> Vec<String> {
    let mut found = vec![];
    let mut last = None;
    for line in trie.lines() {
        match line.trim().split_once("-- ") {
            Some((_, address)) => last = address.trim().parse::<Ipv4Addr>().ok(),
            None if line.trim().ends_with("/32 host LOCAL") => {
                found.extend(last.filter(|one| !one.is_loopback()).map(|one| format!("address {one}")));
            }
            None => {}
        }
    }
    found
}

/// `fe80…0002 02 40 20 80 host0`: address, index, length, scope, flags, link.
fn address_v6(line: &str) -> Option<String> {
    let link = line.split_whitespace().nth(5)?;
    (link != "lo").then(|| format!("an IPv6 address on link {link}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_leads_nowhere_and_everything_else_does() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- 198.51.100.0\n        \
                    /24 link UNICAST\n     |-- 198.51.100.2\n        /32 host LOCAL\n";
        assert_eq!(addresses_v4(trie), ["address 198.51.100.2"]);
        assert_eq!(route("host0\t00000000\t016433C6\t0003"), Some("a route by link host0".into()));
        assert_eq!(route("lo\t0000007F\t00000000"), None);
        assert_eq!(address_v6("00000000000000000000000000000001 01 80 10 80       lo"), None);
        assert_eq!(
            address_v6("fe800000000000000000000000000002 02 40 20 80    host0"),
            Some("an IPv6 address on link host0".into())
        );
        assert!(!of(std::process::id() as i32).expect("the tables").contains("127.0.0.1"));
    }
}
