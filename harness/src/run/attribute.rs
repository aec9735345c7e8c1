//! Gives everything seen outside to the attempt that it belongs to: by nonce, or by a destination that one attempt alone has.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
};

use watertight_probe::{
    nonce::{Nonce, RunNonce},
    plan::Attempt,
    sighting::{Event, Sighting},
};
use watertight_reports::evidence::{AttemptRecord, Launch, Unattributed};

use crate::planner::SIDE;

/// Sightings without an owner that are kept.
const KEPT: usize = 50;

/// Where an attempt's record is: index of the launch, id of the attempt.
type Place = (usize, String);

/// Moves `sightings` into the records of `launches`; returns what belongs to none.
pub fn attribute(launches: &mut [Launch], sightings: Vec<Sighting>, run: &RunNonce) -> Unattributed {
    let owners = Owners::of(launches, run);
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

enum Owned {
    By(Vec<Place>),
    /// A request by which a script waits for a fixture.
    BySide,
    ByNobody,
}

struct Owners {
    nonces: HashMap<Nonce, Place>,
    sides: HashMap<Nonce, ()>,
    /// Destinations that one attempt alone has. Those of several attempts say nothing.
    destinations: HashMap<SocketAddr, Option<Place>>,
}

impl Owners {
    fn of(launches: &[Launch], run: &RunNonce) -> Self {
        let mut owners = Self { nonces: HashMap::new(), sides: HashMap::new(), destinations: HashMap::new() };
        for (index, launch) in launches.iter().enumerate() {
            for (id, record) in &launch.attempts {
                let place = (index, id.clone());
                owners.nonces.insert(record.nonce, place.clone());
                owners.sides.insert(run.attempt(&launch.id, &format!("{id}{SIDE}")), ());
                for to in destination(&record.attempt).into_iter().chain(record.evil) {
                    let known = owners.destinations.entry(plain(to)).or_insert_with(|| Some(place.clone()));
                    if known.as_ref() != Some(&place) {
                        *known = None;
                    }
                }
            }
        }
        owners
    }

    fn places(&self, sighting: &Sighting) -> Owned {
        let by_nonce: Vec<Place> =
            sighting.nonces.iter().filter_map(|nonce| self.nonces.get(nonce).cloned()).collect();
        if sighting.nonces.iter().any(|nonce| self.sides.contains_key(nonce)) {
            return Owned::BySide;
        }
        if !by_nonce.is_empty() {
            return Owned::By(by_nonce);
        }
        let to = sighting.to.map(plain);
        let by_port = to.and_then(|to| self.destinations.get(&to)).cloned().flatten();
        let by_address = to.and_then(|to| self.destinations.get(&SocketAddr::new(to.ip(), 0))).cloned().flatten();
        match by_port.or(by_address) {
            Some(place) => Owned::By(vec![place]),
            None => Owned::ByNobody,
        }
    }
}

/// Whether a sighting says something about an attempt: one that speaks to a relay is *supposed* to cross loopback where
/// the target shares it, and only what the relay sends on counts.
fn concerns(record: &AttemptRecord, sighting: &Sighting) -> bool {
    match (&record.attempt, &sighting.event) {
        (Attempt::Exchange { .. } | Attempt::Mcp { .. }, Event::Frame { link, .. }) => link != "lo",
        _ => true,
    }
}

/// Where this attempt sends its packets, if it sends any by itself.
fn destination(attempt: &Attempt) -> Option<SocketAddr> {
    match attempt {
        Attempt::Connect { to, .. } | Attempt::Send { to, .. } | Attempt::DnsStream { to, .. } => Some(*to),
        Attempt::Ping { to, .. } | Attempt::RawIp { to, .. } => Some(SocketAddr::new(*to, 0)),
        Attempt::Descriptors { reach } | Attempt::NewNamespaces { reach, .. } => Some(*reach),
        Attempt::Resolve { .. }
        | Attempt::Frame
        | Attempt::Unix { .. }
        | Attempt::Socket { .. }
        | Attempt::Network
        | Attempt::ChangeNetwork { .. }
        | Attempt::Privileges
        | Attempt::Mount { .. }
        | Attempt::SetUserId { .. }
        | Attempt::Read { .. }
        | Attempt::Write { .. }
        | Attempt::Scan { .. }
        | Attempt::Exchange { .. }
        | Attempt::Ports { .. }
        | Attempt::Mcp { .. }
        | Attempt::Linger { .. } => None,
    }
}

/// An address as every fixture writes it: without scope, and IPv4 where it is mapped.
fn plain(to: SocketAddr) -> SocketAddr {
    let ip = match to.ip() {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), IpAddr::V4),
        v4 => v4,
    };
    SocketAddr::new(ip, to.port())
}
