//! The profiles: which requirements a run is about. `CONFORMANCE.md` names their areas and versions, and is held to this.

use clap::ValueEnum;
use serde::Deserialize;

use crate::{check::Check, checks};

/// A set of requirements that a target can be held to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Network, privileges, relays, starts and ends.
    #[default]
    Core,
    /// Core, and what a sandbox hides beyond the network: files, processes, IPC, terminals, devices, the kernel.
    Isolation,
}

impl Profile {
    /// From the smallest on: each contains those before it.
    pub const ALL: [Self; 2] = [Self::Core, Self::Isolation];

    /// Its name in manifests, evidence and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Isolation => "isolation",
        }
    }

    /// The profile of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// Two numbers, which change where a requirement changes.
    pub fn version(self) -> &'static str {
        match self {
            Self::Core | Self::Isolation => "1.0",
        }
    }

    /// `core 1.0`: what results call it.
    pub fn words(self) -> String {
        format!("{} {}", self.name(), self.version())
    }

    /// Its checks, in the order of `CONFORMANCE.md`.
    pub fn checks(self) -> Vec<&'static Check> {
        match self {
            Self::Core => checks::CORE.concat(),
            Self::Isolation => checks::all(),
        }
    }

    /// The smallest profile with this check.
    pub fn of(check: &Check) -> Self {
        let has = |profile: &Self| profile.checks().iter().any(|one| one.id == check.id);
        Self::ALL.into_iter().find(has).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use watertight_reports::{predicate::check_set, signing::digest::Digest};

    use super::*;

    #[test]
    fn each_profile_contains_those_before_it() {
        for pair in Profile::ALL.windows(2) {
            let (less, more) = (pair[0].checks(), pair[1].checks());
            assert!(less.len() < more.len());
            assert_eq!(
                less.iter().map(|check| check.id).collect::<Vec<_>>(),
                more[..less.len()].iter().map(|check| check.id).collect::<Vec<_>>()
            );
        }
        assert!(Profile::ALL.iter().all(|profile| Profile::named(profile.name()) == Some(*profile)));
        assert_eq!(Profile::named("everything"), None);
    }

    #[test]
    fn core_is_frozen() {
        let set = check_set(Profile::Core.checks().into_iter().map(|check| (check.id, check.level)));
        assert_eq!(set.lines().count(), 70);
        assert_eq!(Digest::of(set).to_string(), "0aa5228aec5186a399d233366bb8774bda32279ec2aab7ab79fc276df8cb3b41");
    }
}
