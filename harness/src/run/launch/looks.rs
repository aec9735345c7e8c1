//! What the outside sees of a launch that is under way.

use std::fs::File;

use super::Running;
use crate::{
    run::{
        channel::complain,
        held,
        leading::{self, LEADING},
        listening::{self, LISTENING},
        sockets,
        terminal::TERMINAL,
    },
    site::Site,
};

/// Why no process of the probe can be seen, who holds its streams instead, and as which users: keys of [`watertight_reports::evidence::Launch::outside`].
pub const UNSEEN: &str = "unseen";
pub const HELD_BY: &str = "held_by";
pub const HELD_AS: &str = "held_as";

impl Running {
    /// Records who holds the streams of a probe that cannot be seen.
    pub(super) fn look_at_holders(&mut self, site: &Site) {
        let streams: Vec<&File> = [&self.stdin, &self.stdout].into_iter().flatten().collect();
        match held::look(site, &streams) {
            Ok(held) => {
                let outside = &mut self.record.outside;
                outside.insert(HELD_BY.into(), held.names.into_iter().collect::<Vec<_>>().join(", "));
                outside.insert(HELD_AS.into(), held.users.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
                outside.extend(held.bearer.map(|bearer| ("bearer".to_owned(), bearer)));
            }
            Err(why) => complain(&mut self.record, why),
        }
    }

    /// Records what has reached the launch's terminal, where it has one.
    pub fn note_terminal(&mut self, site: &Site) {
        if let Some(terminal) = &mut self.terminal {
            terminal.note(site.ledger(), site.secrets.run.attempt(&self.record.id, TERMINAL));
        }
    }

    /// Records the sockets of the relays that this launch holds.
    pub fn look_at_sockets(&mut self, site: &Site) {
        match sockets::look(site, self.child.pid, self.as_root) {
            Ok(sockets) => self.record.sockets = sockets,
            Err(error) => {
                self.record.outside.insert("sockets".into(), format!("cannot be looked at: {error}"));
            }
        }
    }

    /// Records where TCP is listened in the probe's network.
    pub fn look_at_listeners(&mut self) {
        // Where it cannot be told, nothing is recorded.
        if let Some(Ok(listening)) = self.record.processes.first().map(|one| listening::of(one.pid)) {
            self.record.outside.insert(LISTENING.into(), listening);
        }
    }

    /// Records what leads out of the probe's network.
    pub fn look_at_network(&mut self) {
        // Where it cannot be told, nothing is recorded.
        if let Some(Ok(leading)) = self.record.processes.first().map(|one| leading::of(one.pid)) {
            self.record.outside.insert(LEADING.into(), leading);
        }
    }
}
