//! Destinations and things of the world that attempts ask for, each given out once.

use std::{net::SocketAddr, path::PathBuf};

use watertight_probe::plan::{UnixAddress, UnixKind};

/// Something that must listen, or lie, in the world before a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    Tcp(SocketAddr),
    Udp(SocketAddr),
    Unix(UnixAddress, UnixKind),
    /// A Unix socket whose peer hands out an internet socket.
    Handing(UnixAddress),
    /// A copy of this program that is root's and set-user-id.
    SetUserId(PathBuf),
    /// One object of each kind of inter-process communication, by System V key and POSIX name.
    Ipc(i32, String),
    /// A file of the launching user's that nobody else may read, with the run's marker in it.
    Secret(PathBuf),
    /// A file that is given to the launching user.
    Given(PathBuf),
    /// A file of the launching user's, which is looked at when all is over.
    Watched(PathBuf),
    /// An empty file system on this directory.
    Mounted(PathBuf),
    /// A device node of the host's that no program needs: in truth the null device.
    Device(PathBuf),
}

/// Gives out destinations. One for a whole run.
#[derive(Debug, Default)]
pub struct Allocator {
    pub(super) next: u32,
    pub(super) wanted: Vec<Wanted>,
    /// What was handed out by [`Self::take`] already.
    pub(super) taken: Vec<Wanted>,
}

impl Allocator {
    /// Gives none of the first `count` destinations out.
    pub fn leave_out(&mut self, count: u32) {
        self.next = self.next.max(count);
    }

    /// Forgets what was planned and will not be made.
    pub fn forget(&mut self) {
        self.wanted.clear();
    }

    /// What must be opened before the next launch, each thing once in a run.
    pub fn take(&mut self) -> Vec<Wanted> {
        self.taken.extend(self.wanted.iter().cloned());
        std::mem::take(&mut self.wanted)
    }
}
