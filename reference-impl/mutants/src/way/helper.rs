//! The helper: forked while the launcher is outside still, it stays there and ends with the launcher.

use std::{fs, io, net::IpAddr, os::fd::OwnedFd, sync::OnceLock, thread};

use nix::{
    sys::{
        prctl,
        socket::{AddressFamily, SockFlag, SockType, socketpair},
    },
    unistd::{Pid, getpid, getppid},
};

use super::{
    carry::Carrier,
    forward, link,
    listeners::{self, Place},
    rule::{Prefix, Protocol, Rule},
    sys,
    table::{WAYS, Way},
};
use crate::{
    sys::{end_with_parent, exit_now, fork},
    which,
};

const DNS: &[u16] = &[53];

/// What init and the helper have to do, decided before they part.
enum Task {
    /// The number is that of the host's link, or 0 where the rule has no use for it.
    Link {
        rule: Rule,
        host_link: u32,
    },
    Forward(Vec<Place>),
}

static TASK: OnceLock<Task> = OnceLock::new();

/// In the launcher, a single thread: the end of the helper's socket that init needs, where this mutant leaves a way out.
pub fn out() -> Option<OwnedFd> {
    let (slug, way) = WAYS.iter().find(|(slug, _)| which::is(slug))?;
    match Task::of(way).and_then(|task| start(TASK.get_or_init(|| task))) {
        Ok(end) => Some(end),
        Err(error) => {
            // Without its way this mutant is no mutant, which the suite notices: it passes everything.
            eprintln!("watertight-mutants: {slug}: {error}");
            None
        }
    }
}

/// In init: makes what the way needs and hands it to the helper.
pub fn lead(way: OwnedFd) -> io::Result<()> {
    match TASK.get() {
        Some(Task::Link { rule, host_link }) => {
            let (number, packets) = link::open(rule, *host_link)?;
            sys::hand_over(&way, number, &packets)
        }
        Some(Task::Forward(places)) => (0..).zip(places).try_for_each(|(number, place)| {
            let socket = forward::open(place)
                .map_err(|error| io::Error::new(error.kind(), format!("cannot listen at {place:?}: {error}")))?;
            sys::hand_over(&way, number, &socket)
        }),
        None => Err(io::ErrorKind::NotFound.into()),
    }
}

impl Task {
    /// Takes notice of the host, which is out of sight later.
    fn of(way: &Way) -> io::Result<Self> {
        let link = |rule: Rule| {
            // Inside, a link with the host's number is of use only to what names it, as groups of IPv6 do.
            let has_groups = rule.places.iter().any(|Prefix(base, _)| base.is_multicast());
            let host_link = if has_groups { link::number_of_host_link()? } else { 0 };
            Ok(Self::Link { rule, host_link })
        };
        match way {
            Way::Link(rule) => link(*rule),
            Way::Resolver => {
                let resolver = resolver(&fs::read_to_string("/etc/resolv.conf")?);
                let resolver = resolver.ok_or_else(|| io::Error::other("/etc/resolv.conf names no resolver"))?;
                link(Rule::new(&[Protocol::Tcp, Protocol::Udp], DNS, vec![Prefix::only(resolver)].leak()))
            }
            Way::Forward(of) => listeners::places(*of).map(Self::Forward),
        }
    }
}

fn resolver(settings: &str) -> Option<IpAddr> {
    settings.lines().find_map(|line| match line.split_ascii_whitespace().collect::<Vec<_>>()[..] {
        ["nameserver", address, ..] => address.parse().ok(),
        _ => None,
    })
}

fn start(task: &'static Task) -> io::Result<OwnedFd> {
    let launcher = getpid();
    let (inits, helpers) = socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
    if fork()?.is_some() {
        return Ok(inits);
    }
    drop(inits);
    // Nobody listens any more: the helper holds no stream of the launcher's open.
    let _ = stay(&helpers, launcher).and_then(|()| help(&helpers, task));
    exit_now(1)
}

/// Makes this process end with the launcher, and lets go of all that it shares with it.
fn stay(way: &OwnedFd, launcher: Pid) -> io::Result<()> {
    end_with_parent()?;
    if getppid() != launcher {
        // It ended before it could be noticed.
        exit_now(0);
    }
    prctl::set_name(c"watertight-way")?;
    sys::keep_only(way)
}

fn help(way: &OwnedFd, task: &'static Task) -> io::Result<()> {
    while let Some((number, descriptor)) = sys::take_over(way)? {
        match task {
            Task::Link { rule, host_link } => {
                Carrier { packets: descriptor, link: number, rule, host_link: *host_link }.run()?
            }
            Task::Forward(places) => {
                if let Some(place) = places.get(number as usize) {
                    thread::spawn(|| forward::serve(descriptor, place));
                }
            }
        }
    }
    // The sockets are served by threads; the launcher's end ends this process.
    loop {
        thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_resolver_of_the_settings_counts() {
        let settings = "# nameserver 192.0.2.1\nsearch test\nnameserver 198.51.100.53\nnameserver 192.0.2.2\n";
        assert_eq!(resolver(settings).map(|address| address.to_string()).as_deref(), Some("198.51.100.53"));
        assert_eq!(resolver("nameserver\nnameserver x\n"), None);
    }
}
