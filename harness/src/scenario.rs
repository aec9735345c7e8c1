//! Launches that checks about life cycles ask for: how they end, what is hidden from them, what they are given.

/// One launch of its own. Each is made once a run, however many checks look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scenario {
    /// The launch ends like this while the workload has lingering processes and open requests.
    Ends(Ending),
    /// This prerequisite is hidden from the launch: the workload must not run.
    Hides(Prerequisite),
    /// The target is started with input that it must refuse.
    Refuses(BadInput),
    /// The launcher is killed in its first milliseconds, many times.
    KilledEarly,
    /// What interprets the workload's program does not exist: the launch fails after its sockets listen.
    FailsLate,
    /// The workload ends in this way; its status must come out.
    Status(u8),
}

/// How a launch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ending {
    /// The workload exits.
    Exit,
    /// The workload dies by SIGKILL.
    WorkloadKilled,
    /// The launched process gets this signal.
    Terminate,
    Interrupt,
    HangUp,
    Kill,
}

/// What a sandbox may need from the kernel or the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prerequisite {
    UserNamespaces,
    NetworkNamespaces,
    Mounts,
    Seccomp,
    NoNewPrivs,
}

/// What a launcher must refuse before it starts anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BadInput {
    NoProvider,
    SharedNetwork,
    ProviderWithQuery,
    ProviderWithCredentials,
    InstanceWithPath,
    /// A key file that others can read.
    OpenKeyFile,
    /// A symbolic link to the key file.
    LinkedKeyFile,
    /// A key file where the workload can read it.
    KeyInWorkspace,
    /// Started as root without a user to become.
    NoOrdinaryUser,
    /// An option that it does not know, as a misspelt one.
    UnknownOption,
    /// Configuration that is named and is not there: a file of settings, a profile, a key file.
    MissingConfiguration,
    /// Configuration that cannot be read: a value that is none of its kind, a file in no format.
    MalformedConfiguration,
}

impl Ending {
    pub const ALL: [Self; 6] =
        [Self::Exit, Self::WorkloadKilled, Self::Terminate, Self::Interrupt, Self::HangUp, Self::Kill];
}

impl Scenario {
    /// Whether what it leaves is waited for, which takes a while where something is left.
    pub fn settles(self) -> bool {
        match self {
            Self::Ends(_) | Self::KilledEarly | Self::FailsLate => true,
            Self::Hides(_) | Self::Refuses(_) | Self::Status(_) => false,
        }
    }

    /// The launch's id in the evidence.
    pub fn id(self) -> String {
        match self {
            Self::Ends(ending) => format!("ends-{ending:?}").to_lowercase(),
            Self::Hides(prerequisite) => format!("hides-{prerequisite:?}").to_lowercase(),
            Self::Refuses(input) => format!("refuses-{input:?}").to_lowercase(),
            Self::KilledEarly => "killed-early".into(),
            Self::FailsLate => "fails-late".into(),
            Self::Status(status) => format!("status-{status}"),
        }
    }
}

/// Every ending, as scenarios.
pub const ALL_ENDINGS: &[Scenario] = &[
    Scenario::Ends(Ending::Exit),
    Scenario::Ends(Ending::WorkloadKilled),
    Scenario::Ends(Ending::Terminate),
    Scenario::Ends(Ending::Interrupt),
    Scenario::Ends(Ending::HangUp),
    Scenario::Ends(Ending::Kill),
];

/// Every prerequisite, hidden.
pub const ALL_PREREQUISITES: &[Scenario] = &[
    Scenario::Hides(Prerequisite::UserNamespaces),
    Scenario::Hides(Prerequisite::NetworkNamespaces),
    Scenario::Hides(Prerequisite::Mounts),
    Scenario::Hides(Prerequisite::Seccomp),
    Scenario::Hides(Prerequisite::NoNewPrivs),
];

/// Every input that must be refused.
pub const ALL_BAD_INPUT: &[Scenario] = &[
    Scenario::Refuses(BadInput::NoProvider),
    Scenario::Refuses(BadInput::SharedNetwork),
    Scenario::Refuses(BadInput::ProviderWithQuery),
    Scenario::Refuses(BadInput::ProviderWithCredentials),
    Scenario::Refuses(BadInput::InstanceWithPath),
    Scenario::Refuses(BadInput::OpenKeyFile),
    Scenario::Refuses(BadInput::LinkedKeyFile),
    Scenario::Refuses(BadInput::KeyInWorkspace),
    Scenario::Refuses(BadInput::NoOrdinaryUser),
    Scenario::Refuses(BadInput::UnknownOption),
    Scenario::Refuses(BadInput::MissingConfiguration),
    Scenario::Refuses(BadInput::MalformedConfiguration),
];

impl Prerequisite {
    pub const ALL: [Self; 5] =
        [Self::UserNamespaces, Self::NetworkNamespaces, Self::Mounts, Self::Seccomp, Self::NoNewPrivs];
}

impl BadInput {
    pub const ALL: [Self; 12] = [
        Self::NoProvider,
        Self::SharedNetwork,
        Self::ProviderWithQuery,
        Self::ProviderWithCredentials,
        Self::InstanceWithPath,
        Self::OpenKeyFile,
        Self::LinkedKeyFile,
        Self::KeyInWorkspace,
        Self::NoOrdinaryUser,
        Self::UnknownOption,
        Self::MissingConfiguration,
        Self::MalformedConfiguration,
    ];
}
