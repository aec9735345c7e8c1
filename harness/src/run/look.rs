//! The first launch of a target whose processes cannot be seen: it tries nothing, and says where it is.

use std::{collections::BTreeSet, net::IpAddr};

use nix::{ifaddrs::getifaddrs, sys::socket::SockaddrStorage};
use watertight_probe::{
    observation::{Facts, Outcome},
    plan::{Attempt, End, Planned},
};
use watertight_reports::evidence::{AttemptRecord, Launch, LaunchKind};

use super::session::{RunError, Session};

/// The launch, and what it looks at.
pub const LOOK: &str = "look";
pub const LOOK_AT_NETWORK: &str = "look/network";
const DEADLINE_MS: u32 = 4_000;

impl Session<'_> {
    /// Makes that launch, where there has to be one. Later ones are made where it is certain that it was in the world.
    pub(super) fn look_first(&mut self) -> Result<Option<Launch>, RunError> {
        if self.target.unseen.is_none() || std::mem::replace(&mut self.looked, true) {
            return Ok(None);
        }
        let mut assembled = self.bare(LOOK, End::Exit(0))?;
        // What is tried before the word to go is tried unwatched.
        assembled.plan.first.clear();
        let nonce = self.site.secrets.run.attempt(LOOK, LOOK_AT_NETWORK);
        let (id, attempt) = (LOOK_AT_NETWORK.to_owned(), Attempt::Network);
        let record = AttemptRecord {
            nonce,
            attempt: attempt.clone(),
            evil: None,
            began: false,
            observation: None,
            sightings: vec![],
        };
        assembled.records = [(id.clone(), record)].into();
        assembled.plan.attempts = vec![Planned { id, nonce, deadline_ms: DEADLINE_MS, attempt }];
        let mut running = self.start(LaunchKind::Own, assembled, true)?;
        running.carry_through(&self.site);
        let launch = running.end(&self.site);
        let own = getifaddrs().map_err(|errno| RunError::Look(errno.into()))?;
        let own: BTreeSet<IpAddr> =
            own.filter_map(|one| address(one.address?)).filter(|one| !one.is_loopback()).collect();
        self.refused = refusal(&launch, &own);
        Ok(Some(launch))
    }

    /// A launch that is not made since the target may be anywhere.
    pub(super) fn refused(&self, id: &str, kind: LaunchKind) -> Option<Launch> {
        let why = self.refused.as_ref()?;
        let mut launch = Launch::not_made(id, kind);
        launch.errors.push(format!("it is not certain that it would be in the world: {why}"));
        Some(launch)
    }
}

/// Why nothing may be tried in the target that this was a launch of.
fn refusal(launch: &Launch, machines: &BTreeSet<IpAddr>) -> Option<String> {
    if let Some(error) = launch.errors.first() {
        return Some(error.clone());
    }
    if let Some(problem) = launch.problem() {
        return Some(problem);
    }
    let record = launch.attempts.get(LOOK_AT_NETWORK)?;
    match &record.observation.as_ref()?.outcome {
        Outcome::Found { facts: Facts::Network { addresses, .. } } => {
            let of_machine = addresses.iter().find(|one| machines.contains(&one.address));
            of_machine.map(|one| format!("it has the address {}, which is one of the machine's own", one.address))
        }
        // It has no way to look; who holds its streams is known all the same.
        _ => None,
    }
}

fn address(address: SockaddrStorage) -> Option<IpAddr> {
    let v4 = address.as_sockaddr_in().map(|address| IpAddr::from(address.ip()));
    v4.or_else(|| address.as_sockaddr_in6().map(|address| address.ip().into()))
}

#[cfg(test)]
mod tests {
    use watertight_probe::{
        nonce::RunNonce,
        observation::{Address, Hello, Observation},
    };

    use super::*;

    fn launch(addresses: &[&str]) -> Launch {
        let mut launch = Launch::not_made(LOOK, LaunchKind::Own);
        (launch.hello, launch.done) = (Some(Hello::default()), true);
        let addresses = addresses.iter().map(|one| Address { link: 1, address: one.parse().expect("an address") });
        let facts = Facts::Network { links: vec![], addresses: addresses.collect(), routes: vec![] };
        let observation =
            Observation { attempt: LOOK_AT_NETWORK.into(), outcome: Outcome::Found { facts }, micros: 1, cut: false };
        let record = AttemptRecord {
            nonce: RunNonce::from_bytes([1; 32]).attempt(LOOK, LOOK_AT_NETWORK),
            attempt: Attempt::Network,
            evil: None,
            began: true,
            observation: Some(observation),
            sightings: vec![],
        };
        launch.attempts.insert(LOOK_AT_NETWORK.into(), record);
        launch
    }

    #[test]
    fn nothing_is_tried_in_what_has_an_address_of_the_machine_or_was_not_let_go() {
        let machines = BTreeSet::from(["192.0.2.7".parse().expect("an address")]);
        assert_eq!(refusal(&launch(&["127.0.0.1", "::1"]), &machines), None);
        let why = refusal(&launch(&["127.0.0.1", "192.0.2.7"]), &machines);
        assert!(why.is_some_and(|why| why.contains("192.0.2.7")));
        let mut outside = launch(&["127.0.0.1"]);
        outside.errors.push("nobody in the world holds its streams".into());
        assert!(refusal(&outside, &machines).is_some_and(|why| why.contains("nobody in the world")));
        let mut silent = launch(&[]);
        silent.hello = None;
        assert!(refusal(&silent, &machines).is_some());
        silent = launch(&[]);
        silent.done = false;
        assert!(refusal(&silent, &machines).is_some());
    }
}
