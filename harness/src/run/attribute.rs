//! Gives everything seen outside to the attempt that it belongs to: by nonce, or by a destination that one attempt alone has.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    ops::RangeInclusive,
};

use watertight_probe::{
    nonce::{Nonce, RunNonce},
    plan::{Attempt, Datagram, Stream, UnixAddress},
    sighting::{Event, Sighting},
};
use watertight_reports::evidence::{AttemptRecord, Launch, LaunchKind, Unattributed};

use crate::{planner::SIDE, site::address::is_origin};

/// Sightings without an owner that are kept.
const KEPT: usize = 50;

/// The fixture that captures frames.
const CAPTURE: &str = "capture";

/// When a launch began, in the clock of the ledgers: a key of [`Launch::outside`].
pub const BEGAN_AT: &str = "began_at";

/// Where an attempt's record is: index of the launch, id of the attempt.
type Place = (usize, String);

/// Where an attempt goes, in the words of a fixture.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Destination {
    Internet(SocketAddr, Carrier),
    /// A path, or `@` and an abstract name.
    Unix(String),
}

/// By what something goes there: a connection and a datagram to the same place belong to different attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Carrier {
    Stream,
    Datagram,
    /// Neither, or it cannot be told.
    Other,
}

/// Moves `sightings` into the records of `launches`; returns what belongs to none.
pub fn attribute(launches: &mut [Launch], sightings: Vec<Sighting>, run: &RunNonce) -> Unattributed {
    let owners = Owners::of(launches, &sightings, run);
    let mut rest = Unattributed::default();
    for sighting in sightings {
        let places = owners.places(&sighting);
        match places {
            Owned::By(places) => {
                for (launch, attempt) in places {
                    let record = launches.get_mut(launch).and_then(|launch| launch.attempts.get_mut(&attempt));
                    if let Some(record) = record
                        && concerns(record, &sighting)
                    {
                        record.sightings.push(sighting.clone());
                    }
                }
            }
            Owned::BySide => {}
            Owned::ByNobody => {
                rest.count += 1;
                if rest.first.len() < KEPT {
                    rest.first.push(sighting);
                }
            }
        }
    }
    rest
}

/// Attributes what is recorded in these launches once more. The first attempt, `launch: attempt`, that does not come to
/// what it has: then something was moved, added or taken away since.
pub fn again(launches: &[Launch], run: &RunNonce) -> Option<String> {
    // Launches that checks make by themselves are in a world of their own, with connections numbered apart.
    [true, false].into_iter().find_map(|own| {
        let these = launches.iter().filter(|launch| (launch.kind == LaunchKind::Own) == own);
        let recorded: Vec<&Launch> = these.collect();
        let mut bare: Vec<Launch> = recorded.iter().map(|launch| unseen(launch)).collect();
        let records = recorded.iter().flat_map(|launch| launch.attempts.values());
        let mut sightings: Vec<Sighting> = records.flat_map(|record| record.sightings.iter().cloned()).collect();
        // Ledgers first, then frames, each in its order; what several nonces name is there for each of them.
        sightings.sort_by_key(|one| (one.fixture == CAPTURE, one.seq));
        sightings.dedup();
        attribute(&mut bare, sightings, run);
        recorded.iter().zip(&bare).find_map(|(recorded, bare)| {
            let mut both = recorded.attempts.iter().zip(bare.attempts.values());
            both.find(|((_, one), other)| one.sightings != other.sightings)
                .map(|((attempt, _), _)| format!("{}: {attempt}", recorded.id))
        })
    })
}

/// The launch before anything of it was seen, as far as it matters here.
fn unseen(launch: &Launch) -> Launch {
    let record = |(id, record): (&String, &AttemptRecord)| {
        let AttemptRecord { nonce, attempt, evil, began, .. } = record;
        let (nonce, attempt, evil, began) = (*nonce, attempt.clone(), *evil, *began);
        (id.clone(), AttemptRecord { nonce, attempt, evil, began, observation: None, sightings: vec![] })
    };
    Launch {
        attempts: launch.attempts.iter().map(record).collect(),
        outside: launch.outside.clone(),
        micros: launch.micros,
        ..Launch::not_made(&launch.id, launch.kind)
    }
}

enum Owned {
    By(Vec<Place>),
    /// A request by which a script waits for a fixture.
    BySide,
    ByNobody,
}

struct Owners {
    nonces: HashMap<Nonce, Place>,
    sides: HashMap<Nonce, ()>,
    /// Destinations that one attempt alone has, in one launch or in several. Those of several attempts say nothing.
    destinations: HashMap<Destination, Vec<Place>>,
    /// From when to when each launch went on, in microseconds.
    spans: Vec<Option<RangeInclusive<u64>>>,
    /// Connections of which some part carried a nonce.
    connections: HashMap<u64, Place>,
}

impl Owners {
    fn of(launches: &[Launch], sightings: &[Sighting], run: &RunNonce) -> Self {
        let mut owners = Self {
            nonces: HashMap::new(),
            sides: HashMap::new(),
            destinations: HashMap::new(),
            spans: launches.iter().map(span).collect(),
            connections: HashMap::new(),
        };
        for (index, launch) in launches.iter().enumerate() {
            for (id, record) in &launch.attempts {
                let place = (index, id.clone());
                owners.nonces.insert(record.nonce, place.clone());
                owners.sides.insert(run.attempt(&launch.id, &format!("{id}{SIDE}")), ());
                let evil = record.evil.map(|to| Destination::Internet(plain(to), Carrier::Stream));
                for to in destination(&record.attempt).into_iter().chain(evil) {
                    let known = owners.destinations.entry(to).or_default();
                    if !known.contains(&place) {
                        known.push(place.clone());
                    }
                }
            }
        }
        for sighting in sightings {
            let place = sighting.nonces.iter().find_map(|nonce| owners.nonces.get(nonce));
            if let (Some(connection), Some(place)) = (connection(&sighting.event), place) {
                owners.connections.entry(connection).or_insert_with(|| place.clone());
            }
        }
        owners
    }

    /// The only one of these places that a sighting at their destination can belong to.
    ///
    /// An address that cannot be given to each launch anew, as that of a metadata service, is the same attempt's in each:
    /// then the time tells. It does so of frames only, since nobody but the workload has a reason to send one there.
    fn alone(&self, places: &[Place], sighting: &Sighting) -> Option<Place> {
        let (first, rest) = places.split_first()?;
        if rest.is_empty() {
            return Some(first.clone());
        }
        if rest.iter().any(|place| place.1 != first.1) || !matches!(sighting.event, Event::Frame { .. }) {
            return None;
        }
        let then = |place: &&Place| self.spans.get(place.0).is_some_and(|span| goes_on(span, sighting.micros));
        let mut during = places.iter().filter(then);
        during.next().filter(|_| during.next().is_none()).cloned()
    }

    fn places(&self, sighting: &Sighting) -> Owned {
        let by_nonce: Vec<Place> = sighting.nonces.iter().filter_map(|nonce| self.nonces.get(nonce).cloned()).collect();
        if sighting.nonces.iter().any(|nonce| self.sides.contains_key(nonce)) {
            return Owned::BySide;
        }
        if !by_nonce.is_empty() {
            return Owned::By(by_nonce);
        }
        let find = |to: Destination| self.alone(self.destinations.get(&to)?, sighting);
        let internet = sighting.to.map(plain);
        let by = carrier(sighting);
        let by_port = internet.and_then(|to| find(Destination::Internet(to, by)));
        let whole = |to: SocketAddr| Destination::Internet(SocketAddr::new(to.ip(), 0), Carrier::Other);
        let by_address = internet.and_then(|to| find(whole(to)));
        let name = sighting.from.split(" by ").next().unwrap_or_default();
        let by_name = find(Destination::Unix(name.to_owned()));
        let by_connection = connection(&sighting.event).and_then(|id| self.connections.get(&id).cloned());
        // A connection whose bytes name their attempt is no other's, wherever it goes.
        match by_connection.or(by_port).or(by_address).or(by_name) {
            Some(place) => Owned::By(vec![place]),
            None => Owned::ByNobody,
        }
    }
}

fn goes_on(span: &Option<RangeInclusive<u64>>, micros: u64) -> bool {
    span.as_ref().is_some_and(|span| span.contains(&micros))
}

/// From when to when a launch went on, where that is known.
fn span(launch: &Launch) -> Option<RangeInclusive<u64>> {
    let began = launch.number(BEGAN_AT)?;
    Some(began..=began + launch.micros)
}

/// Whether a sighting says something about an attempt: one that speaks to a relay or a proxy is *supposed* to cross loopback
/// where the target shares it, or between the proxy's own parts, and only what is sent on counts.
fn concerns(record: &AttemptRecord, sighting: &Sighting) -> bool {
    match (&record.attempt, &sighting.event) {
        (Attempt::Exchange { .. } | Attempt::Mcp { .. } | Attempt::Proxied { .. }, Event::Frame { link, .. }) => {
            link != "lo"
        }
        _ => true,
    }
}

/// Where this attempt goes, if it goes anywhere by itself.
fn destination(attempt: &Attempt) -> Option<Destination> {
    // The relays connect to the origins as well: there only the nonce tells whose connection it is.
    let internet = |to: SocketAddr, by| (!is_origin(to.ip())).then(|| Destination::Internet(plain(to), by));
    match attempt {
        Attempt::Connect { to, transport, .. } => match transport {
            Stream::Sctp | Stream::Dccp => internet(*to, Carrier::Other),
            Stream::Tcp | Stream::Mptcp | Stream::TcpFastOpen | Stream::IoUring => internet(*to, Carrier::Stream),
        },
        // By name, its nonce tells; the proxy connects to it, and nobody else does.
        Attempt::Proxied { to, .. } => {
            let address = to.host.parse().ok()?;
            internet(SocketAddr::new(address, to.port), Carrier::Stream)
        }
        Attempt::Send { to, transport, .. } => match transport {
            Datagram::Udp => internet(*to, Carrier::Datagram),
            Datagram::UdpLite => internet(*to, Carrier::Other),
        },
        Attempt::DnsStream { to, .. } => internet(*to, Carrier::Stream),
        Attempt::Ping { to, .. } | Attempt::RawIp { to, .. } => internet(SocketAddr::new(*to, 0), Carrier::Other),
        Attempt::NewNamespaces { reach, .. } => internet(*reach, Carrier::Stream),
        Attempt::Unix { address: UnixAddress::Path(path), .. } => Some(Destination::Unix(path.clone())),
        Attempt::Unix { address: UnixAddress::Abstract(name), .. } => Some(Destination::Unix(format!("@{name}"))),
        // What leaves through a descriptor carries the nonce. Whoever else finds the listener says nothing of descriptors.
        Attempt::Descriptors { .. }
        | Attempt::Resolve { .. }
        | Attempt::ProxyVariables
        | Attempt::Frame
        | Attempt::Socket { .. }
        | Attempt::Network
        | Attempt::ChangeNetwork { .. }
        | Attempt::Privileges
        | Attempt::Mount { .. }
        | Attempt::SetUserId { .. }
        | Attempt::Read { .. }
        | Attempt::Write { .. }
        | Attempt::Append { .. }
        | Attempt::Scan { .. }
        | Attempt::Exchange { .. }
        | Attempt::Ports { .. }
        | Attempt::Mcp { .. }
        | Attempt::Linger { .. }
        | Attempt::Ipc { .. }
        | Attempt::Key { .. }
        | Attempt::Process { .. }
        | Attempt::Terminal { .. }
        | Attempt::Open { .. }
        | Attempt::Kernel { .. } => None,
    }
}

fn carrier(sighting: &Sighting) -> Carrier {
    match &sighting.event {
        Event::Accepted { .. } | Event::Request { .. } | Event::Closed { .. } => Carrier::Stream,
        Event::Received { connection, .. } => {
            if connection.is_some() {
                Carrier::Stream
            } else {
                Carrier::Datagram
            }
        }
        Event::Question { over, .. } => {
            if over == "udp" {
                Carrier::Datagram
            } else {
                Carrier::Stream
            }
        }
        Event::Frame { protocol, .. } => match protocol.as_str() {
            "tcp" | "tcp-syn" => Carrier::Stream,
            "udp" => Carrier::Datagram,
            _ => Carrier::Other,
        },
        Event::Body { .. } | Event::Responded { .. } => Carrier::Other,
    }
}

/// An address as every fixture writes it: without scope, IPv4 where it is mapped, loopback where it is unspecified.
fn plain(to: SocketAddr) -> SocketAddr {
    let ip = match to.ip() {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), IpAddr::V4),
        v4 => v4,
    };
    let ip = if ip == IpAddr::V4(Ipv4Addr::UNSPECIFIED) { Ipv4Addr::LOCALHOST.into() } else { ip };
    SocketAddr::new(ip, to.port())
}

/// The connection that an event belongs to.
fn connection(event: &Event) -> Option<u64> {
    match event {
        Event::Accepted { connection } | Event::Request { connection, .. } | Event::Closed { connection, .. } => {
            Some(*connection)
        }
        Event::Received { connection, .. } => *connection,
        Event::Question { .. } | Event::Body { .. } | Event::Responded { .. } | Event::Frame { .. } => None,
    }
}

#[cfg(test)]
mod tests;
