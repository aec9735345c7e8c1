//! What goes wrong with an adapter. Nothing it says is quoted raw.

use std::{io, time::Duration};

use watertight_probe::wire;

use super::protocol::PROTOCOL;

/// Why a launch through an adapter came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error("cannot start the adapter `{program}`: {source}")]
    Start { program: String, source: io::Error },
    #[error("cannot speak with the adapter: {0}")]
    Channel(#[from] io::Error),
    #[error("the adapter did not answer `{verb}` within {} s", .within.as_secs_f64())]
    Late { verb: &'static str, within: Duration },
    #[error("the adapter ended its output and did not answer `{verb}`; its standard error may say why")]
    Ended { verb: &'static str },
    #[error("the adapter wrote a line that is no answer (nothing else may go to its standard output): {why}: {line}")]
    Nonsense { why: String, line: String },
    #[error("the adapter wrote a line of more than {} bytes", super::protocol::LONGEST)]
    Long,
    #[error("the adapter answered request {id}, which is not open: each is answered once, by its id")]
    Unasked { id: u64 },
    #[error("the adapter's answer to `{verb}` is none: {why}")]
    Answer { verb: &'static str, why: String },
    #[error("the adapter speaks protocol {theirs}, and this program {PROTOCOL}")]
    Version { theirs: u32 },
    #[error("the adapter does not support the route `{route}` that its manifest says")]
    Route { route: String },
    #[error("the adapter says that process {pid} is of the sandbox, and there is none of this number")]
    Process { pid: u32 },
    #[error("the adapter says that `{path}` is the sandbox's cgroup, and there is none of this name")]
    Cgroup { path: String },
    #[error("the adapter did not end within {} s of the end of its input, and was killed", .within.as_secs_f64())]
    Stays { within: Duration },
    /// It says so itself.
    #[error("the adapter refuses `{verb}`: {words}")]
    Refused { verb: &'static str, words: String },
    /// The launch was asked to end by this signal.
    #[error("ended by signal {0}")]
    Asked(u8),
}

impl Trouble {
    /// Whether the adapter can still be spoken with.
    pub fn leaves_it_speaking(&self) -> bool {
        match self {
            Self::Answer { .. }
            | Self::Version { .. }
            | Self::Route { .. }
            | Self::Process { .. }
            | Self::Cgroup { .. }
            | Self::Refused { .. }
            | Self::Asked(_) => true,
            Self::Start { .. }
            | Self::Channel(_)
            | Self::Late { .. }
            | Self::Ended { .. }
            | Self::Nonsense { .. }
            | Self::Long
            | Self::Unasked { .. }
            | Self::Stays { .. } => false,
        }
    }

    /// Whether it is the adapter's fault, so that nothing can be said of the sandbox.
    ///
    /// A sandbox that cannot be started, or cannot run the workload, is one that fails closed: a launch of the ordinary kind.
    pub fn is_the_adapters(&self) -> bool {
        !matches!(self, Self::Refused { verb: "up" | "exec", .. } | Self::Asked(_))
    }
}

/// An adapter's own words, short and harmless.
pub fn shown(text: impl AsRef<[u8]>) -> String {
    wire::escape(text.as_ref(), 300)
}
