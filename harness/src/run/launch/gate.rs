//! Before its first attempt: the probe says hello, is found in the world, and is let go.

use std::{io::Write, time::Instant};

use watertight_reports::evidence::Launch;

use super::{
    Running,
    looks::{HELD_BY, UNSEEN},
};
use crate::{
    run::{channel::complain, witness},
    site::Site,
};

impl Running {
    /// Waits for the probe to say hello, and records its processes. False where it did not.
    pub fn greet(&mut self, site: &Site) -> bool {
        let deadline = Instant::now() + if site.has_hung() { site.start_again() } else { site.start };
        self.read_until(deadline, |record| record.hello.is_some() || !record.errors.is_empty());
        let Some(hello) = &self.record.hello else {
            // One that takes so long to fail was waited for in vain as well.
            self.overdue |= self.began.elapsed() >= site.start_again();
            return false;
        };
        site.note_start(self.began.elapsed());
        let unseen = self.record.outside.contains_key(UNSEEN);
        let expected = 1 + usize::from(hello.forked > 0) + usize::from(hello.executed.is_some());
        // Where it is said that none can be seen, none is waited for.
        match witness::processes(site, &self.comm, if unseen { 0 } else { expected }) {
            Ok(seen) => {
                let found = seen.processes.len();
                if (1..expected).contains(&found) {
                    complain(
                        &mut self.record,
                        format!("of {expected} processes of the probe, {found} could be seen from outside"),
                    );
                }
                self.record.processes = seen.processes;
                self.record.outside.extend(seen.outside);
            }
            Err(error) => complain(&mut self.record, format!("the witness could not look at the probe: {error}")),
        }
        if unseen && self.record.processes.is_empty() {
            self.look_at_holders(site);
        }
        true
    }

    /// Lets the probe make its attempts.
    ///
    /// Where no process of the probe was found, or one that is in the machine's network, there is no `go`. One that cannot be
    /// seen is let go where its streams are held in the world and by nobody else, and it does not say that it is elsewhere.
    pub fn go(&mut self) {
        if !in_the_world(&self.record, self.machine_net, self.machine_netns) {
            complain(&mut self.record, "the probe was not found inside the world, so it was not let go".into());
            self.stdin = None;
            return;
        }
        if let Some(stdin) = &mut self.stdin
            && let Err(error) = stdin.write_all(b"g")
        {
            complain(&mut self.record, format!("the probe could not be told to go: {error}"));
        }
    }
}

/// Whether it is certain that the probe is in the world, and not in the machine's network, of which this is the namespace and
/// its cookie.
fn in_the_world(record: &Launch, machine: u64, cookie: u64) -> bool {
    let told = record
        .hello
        .as_ref()
        .is_some_and(|hello| hello.netns != Some(cookie) && hello.namespaces.get("net") != Some(&machine));
    let elsewhere = record.processes.iter().all(|one| one.namespaces.get("net") != Some(&machine));
    told && elsewhere && (!record.processes.is_empty() || record.outside.contains_key(HELD_BY))
}

#[cfg(test)]
mod tests {
    use watertight_probe::observation::Hello;
    use watertight_reports::evidence::{LaunchKind, Process};

    use super::*;

    fn record(cookie: Option<u64>, nets: &[u64], held: bool) -> Launch {
        let mut record = Launch::not_made("target", LaunchKind::Target);
        record.hello = Some(Hello { netns: cookie, ..Hello::default() });
        let process = |net: &u64| Process { namespaces: [("net".to_owned(), *net)].into(), ..Process::default() };
        record.processes = nets.iter().map(process).collect();
        if held {
            record.outside.insert(HELD_BY.into(), "sentry".into());
        }
        record
    }

    #[test]
    fn a_probe_is_let_go_where_it_is_seen_in_the_world_or_its_streams_are_held_there() {
        const MACHINE: (u64, u64) = (1, 11);
        let certain = |record: &Launch| in_the_world(record, MACHINE.0, MACHINE.1);
        assert!(certain(&record(Some(12), &[2, 2], false)));
        assert!(certain(&record(None, &[2], false)), "a filter may keep it from making a socket");
        assert!(certain(&record(None, &[], true)), "unseen, and held in the world");
        assert!(!certain(&record(Some(12), &[], false)), "nowhere");
        assert!(!certain(&record(Some(12), &[2, 1], false)), "one process is in the machine's network");
        assert!(!certain(&record(Some(11), &[], true)), "it says itself that it is there");
        let mut told = record(None, &[], true);
        told.hello.as_mut().expect("there").namespaces.insert("net".into(), 1);
        assert!(!certain(&told), "so does the name of its namespace");
        told.hello = None;
        assert!(!certain(&told), "it said nothing");
    }
}
