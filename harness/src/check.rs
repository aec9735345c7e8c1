//! What a check is: one requirement's attempts, control, rule of judgement and mutants, declared in one place.

use std::net::SocketAddr;

use watertight_probe::plan::Attempt;
use watertight_reports::{
    evidence::LaunchKind,
    results::{ControlKind, Level, Subject},
};

use crate::{case::Case, planner::Planner, scenario::Scenario};

/// The code that tests one requirement of `CONFORMANCE.md`.
pub struct Check {
    /// The requirement: `EGRESS-3`.
    pub id: &'static str,
    /// The same fact in words, used everywhere: `egress::tcp_to_internet`.
    pub slug: &'static str,
    pub level: Level,
    pub subject: Subject,
    pub control: ControlKind,
    /// Adds the attempts of one launch; called once for each kind of launch.
    pub plan: fn(&mut Planner<'_>),
    /// Launches of its own that the rule looks at.
    pub scenarios: &'static [Scenario],
    pub rule: Rule,
    /// Slugs of the broken references that this check, and nothing else than it, must catch.
    pub mutants: &'static [&'static str],
    /// The same where the harness is the machine's root, beside those: an ordinary user's world cannot plant everything.
    pub mutants_of_root: &'static [&'static str],
    /// Parts that no mutant needs (a name, `*` for any characters), and why they are there.
    pub spared: &'static [(&'static str, &'static str)],
    /// Judged by what the harness sees of the processes from outside as well.
    pub witnessed: bool,
    /// The routes that the requirement is about. It is waived where a manifest declares all of them absent: the closed
    /// list of `CONFORMANCE.md`. Nothing waives one without any.
    pub waived_by: &'static [Capability],
    /// It is about what a relay of ours does: waived as well where a manifest declares `relay` absent.
    pub of_relays: bool,
}

/// How a check is judged.
pub enum Rule {
    /// Every attempt must be denied, by the table of [`crate::judge`].
    Denied,
    /// What was found must be as required.
    Facts(fn(&mut Case<'_>)),
}

/// What a target may lack without being broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Capability {
    /// A route to a provider.
    Provider,
    /// A route to an instance.
    Instance,
    /// A relay of ours: what the route models `proxy` and `direct` do without.
    Relay,
}

impl Capability {
    /// Both routes.
    pub const ROUTES: &[Self] = &[Self::Provider, Self::Instance];

    pub const ALL: &[Self] = &[Self::Provider, Self::Instance, Self::Relay];

    /// Its name in manifests, evidence and the names of attempts, and that of the fixture at its end.
    pub fn name(self) -> &'static str {
        match self {
            Self::Provider => "provider",
            Self::Instance => "instance",
            Self::Relay => "relay",
        }
    }
}

/// One attempt of a check, and what must be known to judge it.
#[derive(Clone, Debug)]
pub struct Item {
    /// Name within the check: `v4`.
    pub name: String,
    pub attempt: Attempt,
    /// In which launches it is made.
    pub launches: Vec<LaunchKind>,
    pub need: Need,
    /// Where success would show.
    pub shows: Shows,
    pub deadline_ms: u32,
    /// When in the launch it is made.
    pub when: When,
    /// Why it cannot be made here at all, not even without a sandbox.
    pub untestable: Option<String>,
    /// An address that the attempt must not make anyone connect to, though it does not connect there itself.
    pub evil: Option<SocketAddr>,
}

/// When in a launch an attempt is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the probe's start, before the gate.
    First,
    Any,
    /// After all others and by itself, since it changes what they rely on.
    Alone,
}

/// Whether a requirement can be judged without this attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    /// Left out where the kernel or the identity cannot make it even without a sandbox.
    WhereSupported,
}

/// Where success would show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// At a fixture or in the capture: silence outside is evidence.
    Outside,
    /// Only in what the probe reports.
    Inside,
}

impl Check {
    /// A deny-check with an unconfined control: the most common kind.
    pub const fn denied(id: &'static str, slug: &'static str, plan: fn(&mut Planner<'_>)) -> Self {
        Self::new(id, slug, ControlKind::Unconfined, plan, Rule::Denied)
    }

    /// A deny-check of what an ordinary user may not do even unconfined: its control is the world's root.
    pub const fn denied_as_root(id: &'static str, slug: &'static str, plan: fn(&mut Planner<'_>)) -> Self {
        Self::new(id, slug, ControlKind::UnconfinedRoot, plan, Rule::Denied)
    }

    /// A check on what was found.
    pub const fn facts(
        id: &'static str,
        slug: &'static str,
        control: ControlKind,
        plan: fn(&mut Planner<'_>),
        rule: fn(&mut Case<'_>),
    ) -> Self {
        Self::new(id, slug, control, plan, Rule::Facts(rule))
    }

    const fn new(
        id: &'static str,
        slug: &'static str,
        control: ControlKind,
        plan: fn(&mut Planner<'_>),
        rule: Rule,
    ) -> Self {
        Self {
            id,
            slug,
            level: Level::Must,
            subject: Subject::Isolation,
            control,
            plan,
            scenarios: &[],
            rule,
            mutants: &[],
            mutants_of_root: &[],
            spared: &[],
            witnessed: false,
            waived_by: &[],
            of_relays: false,
        }
    }

    pub const fn should(mut self) -> Self {
        self.level = Level::Should;
        self
    }

    pub const fn about(mut self, subject: Subject) -> Self {
        self.subject = subject;
        self
    }

    pub const fn caught_on(mut self, mutants: &'static [&'static str]) -> Self {
        self.mutants = mutants;
        self
    }

    pub const fn caught_on_by_root(mut self, mutants: &'static [&'static str]) -> Self {
        self.mutants_of_root = mutants;
        self
    }

    pub const fn spared(mut self, spared: &'static [(&'static str, &'static str)]) -> Self {
        self.spared = spared;
        self
    }

    pub const fn launching(mut self, scenarios: &'static [Scenario]) -> Self {
        self.scenarios = scenarios;
        self
    }

    pub const fn witnessed(mut self) -> Self {
        self.witnessed = true;
        self
    }

    pub const fn waived_by(mut self, routes: &'static [Capability]) -> Self {
        self.waived_by = routes;
        self
    }

    pub const fn of_relays(mut self) -> Self {
        self.of_relays = true;
        self
    }

    /// The area of the requirement: `EGRESS`.
    pub fn area(&self) -> &'static str {
        self.id.split_once('-').map_or(self.id, |(area, _)| area)
    }
}

impl Item {
    pub fn new(name: impl Into<String>, attempt: Attempt, launches: &[LaunchKind]) -> Self {
        let shows = shows(&attempt);
        // What is allowed must work on a busy machine as well, where the kernel may keep a list of links waiting for seconds;
        // only a failure pays.
        let is_allowed = matches!(
            attempt,
            Attempt::Exchange { .. } | Attempt::Network | Attempt::Privileges | Attempt::Descriptors { .. }
        );
        let deadline_ms = if is_allowed { 10_000 } else { 2_000 };
        Self {
            name: name.into(),
            attempt,
            launches: launches.to_vec(),
            need: Need::Required,
            shows,
            deadline_ms,
            when: When::Any,
            untestable: None,
            evil: None,
        }
    }

    /// Its control is the world's root, since an ordinary user may not do this even unconfined.
    pub fn as_root(&mut self) -> &mut Self {
        for kind in &mut self.launches {
            *kind = match *kind {
                LaunchKind::ControlBefore => LaunchKind::RootBefore,
                LaunchKind::ControlAfter => LaunchKind::RootAfter,
                other => other,
            };
        }
        self
    }

    pub fn where_supported(&mut self) -> &mut Self {
        self.need = Need::WhereSupported;
        self
    }

    pub fn deadline(&mut self, milliseconds: u32) -> &mut Self {
        self.deadline_ms = milliseconds;
        self
    }

    /// Made at the probe's start, in every launch of the target.
    pub fn first(&mut self) -> &mut Self {
        self.when = When::First;
        self.launches.extend([LaunchKind::NoInstance, LaunchKind::Second, LaunchKind::Own]);
        self
    }

    pub fn alone(&mut self) -> &mut Self {
        self.when = When::Alone;
        self
    }

    pub fn evil(&mut self, address: SocketAddr) -> &mut Self {
        self.evil = Some(address);
        self
    }

    /// Made in launches of this kind alone.
    pub fn only_in(&mut self, kind: LaunchKind) -> &mut Self {
        self.launches = vec![kind];
        self
    }

    /// Also made in a launch of this kind.
    pub fn also_in(&mut self, kind: LaunchKind) -> &mut Self {
        self.launches.push(kind);
        self
    }
}

/// Success of these attempts leaves a trace outside; of the others only the probe can tell.
fn shows(attempt: &Attempt) -> Shows {
    match attempt {
        Attempt::Connect { .. }
        | Attempt::Send { .. }
        | Attempt::DnsStream { .. }
        | Attempt::Resolve { .. }
        | Attempt::Ping { .. }
        | Attempt::RawIp { .. }
        | Attempt::Frame
        | Attempt::Unix { .. }
        | Attempt::Exchange { .. }
        | Attempt::Proxied { .. }
        | Attempt::Mcp { .. }
        | Attempt::Append { .. }
        | Attempt::Terminal { .. } => Shows::Outside,
        Attempt::Socket { .. }
        | Attempt::Descriptors { .. }
        | Attempt::Network
        | Attempt::ChangeNetwork { .. }
        | Attempt::Privileges
        | Attempt::NewNamespaces { .. }
        | Attempt::Mount { .. }
        | Attempt::SetUserId { .. }
        | Attempt::Read { .. }
        | Attempt::Write { .. }
        | Attempt::Scan { .. }
        | Attempt::Ports { .. }
        | Attempt::Linger { .. }
        | Attempt::ProxyVariables
        | Attempt::Ipc { .. }
        | Attempt::Key { .. }
        | Attempt::Process { .. }
        | Attempt::Open { .. }
        | Attempt::Kernel { .. } => Shows::Inside,
    }
}
