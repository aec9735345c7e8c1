//! Manifests: how a sandbox is installed, launched and told what to run, without a word about verdicts.

mod adapter;
mod edit;
mod error;
mod known;
mod load;
mod words;

use std::{
    collections::BTreeMap,
    path::{Component, Path},
};

use serde::Deserialize;

use crate::{
    check::Capability,
    profile::Profile,
    scenario::{BadInput, Prerequisite},
    way::{Proxies, Way},
};
pub use adapter::Adapter;
pub use edit::{Edit, Mutant, Variant};
pub use error::TargetError;
pub use known::KnownFailure;
pub use load::is_file;
pub use words::Words;

/// One target, as `harness/targets/NAME.toml` describes it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub name: String,
    /// What it is, in one sentence.
    pub summary: String,
    pub route: Route,
    /// What it claims to hold to, where the command line names no other.
    #[serde(default)]
    pub profile: Profile,
    /// With the route `proxy`: what it understands, and where: `environment`, or `{ address = "127.0.0.1:3128" }`.
    #[serde(default)]
    pub proxy: Option<Proxies>,
    /// Prints the version, in its first line. An adapter says it itself.
    #[serde(default)]
    pub version: Vec<String>,
    /// The launch: see [`Words`] for the placeholders. With an adapter it is made of that.
    #[serde(default)]
    pub launch: LaunchArgv,
    /// What starts it where no command line can.
    #[serde(default)]
    pub adapter: Option<Adapter>,
    /// As whom it is launched.
    #[serde(default)]
    pub user: User,
    /// Why it can be launched only where the harness is the machine's root: an ordinary user's world has one user.
    #[serde(default)]
    pub only_by_root: Option<String>,
    /// Programs that must be there, with the package that has each: Debian's, or one of `pip:`, `npm:`, `cargo:`.
    #[serde(default)]
    pub programs: BTreeMap<String, String>,
    /// It takes short arguments only, so that the probe reads its plan from a file in the workspace.
    #[serde(default)]
    pub plan_in_file: bool,
    /// It asks for the cgroup of the first process, as service managers do, so that the world's init must be in the
    /// world's cgroup. Otherwise it stays outside, which is faster.
    #[serde(default)]
    pub init_in_cgroup: bool,
    /// Kernel features without which it must not run anything.
    #[serde(default)]
    pub needs: Vec<Prerequisite>,
    /// Environment of the launch beside the launching user's own.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Files that each launch finds in a directory of its own, `{files}`, by relative path. Placeholders stand for what they do in a launch;
    /// `{probe}` for its words as JSON writes them, with commas between.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Where the workload finds its bearer.
    #[serde(default)]
    pub bearer_variable: Option<String>,
    /// What it does not have, and why.
    #[serde(default)]
    pub absent: BTreeMap<Capability, String>,
    /// How its launch looks with input that it must refuse. Without an entry it has no such input.
    #[serde(default)]
    pub refuses: BTreeMap<BadInput, Edit>,
    /// Whether the probe's processes can be seen from outside, or why not.
    #[serde(default)]
    pub unseen: Option<String>,
    /// Requirements that it is known to fail, by id. Never a change of verdict: only `check --expect` looks at them.
    #[serde(default)]
    pub known_failures: BTreeMap<String, KnownFailure>,
    /// What it is with a defence left out, by slug: `check --with-mutants` runs them.
    #[serde(default)]
    pub mutants: BTreeMap<String, Mutant>,
    /// Other usual configurations of the same sandbox, by name: `check NAME:VARIANT`.
    #[serde(default)]
    pub variants: BTreeMap<String, Variant>,
    /// A double of the suite: what kind of liar or look-alike.
    #[serde(default)]
    pub double: bool,
    /// Two launches cannot be up at once, since they share the host's ports.
    #[serde(default)]
    pub one_at_a_time: bool,
    /// Each attempt is made as whom its control is made as, in launches of their own.
    #[serde(default)]
    pub as_control: bool,
    /// The manifest itself, byte for byte.
    #[serde(skip)]
    pub manifest: String,
}

/// As whom a target is launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum User {
    /// The ordinary user of the world; with `--as-root` its root.
    #[default]
    Agent,
    /// The world's root: for what nobody else can start.
    Root,
    /// The ordinary user, whom a launcher of the world's root becomes (`relay --user agent`): with no user namespace
    /// between, set-user-id programs work.
    #[serde(rename = "agent-by-root")]
    AgentByRoot,
}

/// How the declared routes get into the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// Our relays' Unix sockets, turned into loopback ports by the bridge.
    Sockets,
    /// No network at all.
    None,
    /// A proxy of the target's own with a list of what it allows, the instance's name: see [`Target::proxy`].
    Proxy,
    /// The instance's own address, let through.
    Direct,
}

/// The words of a launch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LaunchArgv {
    pub argv: Vec<String>,
    /// What `{instance}` stands for when there is an instance.
    #[serde(default)]
    pub instance: Vec<String>,
    /// What `{instance}` stands for when there is none.
    #[serde(default)]
    pub no_instance: Vec<String>,
}

impl Target {
    /// Whether it is launched as the world's root, where `asked` says whether the command line wants that of every target.
    pub fn as_root(&self, asked: bool) -> bool {
        match self.user {
            User::Agent => asked,
            User::Root => true,
            User::AgentByRoot => false,
        }
    }

    /// The target as this variant of it is launched.
    pub fn varied(&self, name: &str) -> Result<Self, TargetError> {
        let of = |problem: String| TargetError::Variant { name: self.name.clone(), variant: name.to_owned(), problem };
        let variant = self.variants.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.variants.keys().map(String::as_str).collect();
            of(if known.is_empty() { "it has none".into() } else { format!("it has: {}", known.join(", ")) })
        })?;
        let mut target = self.clone();
        target.name = format!("{}:{name}", self.name);
        variant.summary.clone_into(&mut target.summary);
        target.user = variant.user.unwrap_or(target.user);
        target.needs = variant.needs.clone().unwrap_or(target.needs);
        target.only_by_root = variant.only_by_root.clone().or(target.only_by_root);
        target.launch.argv = variant.apply(&self.launch.argv).map_err(of)?;
        for id in &variant.holds {
            if target.known_failures.remove(id).is_none() {
                return Err(of(format!("it holds to {id}, which is no known failure of the manifest")));
            }
        }
        target.known_failures.extend(variant.known_failures.clone());
        target.environment.extend(variant.environment.clone());
        target.files.extend(variant.files.clone());
        target.one_at_a_time |= variant.one_at_a_time;
        target.variants = BTreeMap::new();
        // Edits and mutants are of the words that the manifest itself has: those that do not fit are of no use here.
        target.mutants.retain(|_, mutant| mutant.apply(&target.launch.argv).is_ok());
        target.keep_what_fits();
        Ok(target)
    }

    /// A command line as a target: `{probe}` stands in it, and the placeholders of manifests may; `{adapter}` is this file.
    pub fn of_command(argv: Vec<String>, adapter: Option<&Path>) -> Result<Self, TargetError> {
        let name = "the command line";
        let launch = LaunchArgv { argv, instance: vec![], no_instance: vec![] };
        launch.must_run_the_probe(name)?;
        let text = format!(
            "name = \"{name}\"\nsummary = \"\"\nroute = \"sockets\"\nversion = []\nbearer_variable = \"OPENAI_API_KEY\"\n\
             # It may share the host's ports.\none_at_a_time = true\n\
             [launch]\nargv = [\"{{probe}}\"]\ninstance = [\"--instance\", \"{{instance_url}}\"]\n"
        );
        let mut target = Self::parse(name, &text)?;
        target.launch.argv = launch.argv;
        let adapter = adapter.map(|file| {
            Adapter::of_file(file).map_err(|source| {
                let (name, file) = (name.to_owned(), file.display().to_string());
                TargetError::AdapterFile { name, file, source }
            })
        });
        target.adapter = adapter.transpose()?;
        Ok(target)
    }

    /// Reads a manifest.
    pub fn parse(name: &str, text: &str) -> Result<Self, TargetError> {
        let mut target: Self = toml::from_str(text)
            .map_err(|source| TargetError::Syntax { name: name.to_owned(), source: Box::new(source) })?;
        target.manifest = text.to_owned();
        match &target.adapter {
            Some(_) if target.launch != LaunchArgv::default() => {
                return Err(TargetError::Twofold { name: name.to_owned() });
            }
            Some(adapter) => {
                adapter.check().map_err(|problem| TargetError::Adapter { name: name.to_owned(), problem })?;
                target.launch = adapter.launch(target.route, target.bearer_variable.as_deref());
                if target.version.is_empty() {
                    target.version = adapter.version();
                }
            }
            None => {}
        }
        target.launch.must_run_the_probe(&format!("the argv of manifest {name}"))?;
        target.check_route()?;
        let mut files = target.files.keys().chain(target.variants.values().flat_map(|one| one.files.keys()));
        if let Some(file) = files.find(|file| !is_relative(file)) {
            return Err(TargetError::OwnFile { name: name.to_owned(), file: file.clone() });
        }
        for (requirement, known) in &target.known_failures {
            known.check().map_err(|problem| TargetError::KnownFailure {
                name: name.to_owned(),
                requirement: requirement.clone(),
                problem,
            })?;
        }
        for (slug, mutant) in &target.mutants {
            target.mutated(slug, mutant)?;
        }
        for (variant, one) in &target.variants {
            one.apply(&target.launch.argv).map_err(|problem| TargetError::Variant {
                name: name.to_owned(),
                variant: variant.clone(),
                problem,
            })?;
        }
        Ok(target)
    }

    /// Forgets bad input that is an edit of words that are not there any more.
    fn keep_what_fits(&mut self) {
        self.refuses.retain(|_, edit| edit.apply(&mut self.launch.argv.clone()).is_ok());
    }

    /// Whether its route and what it declares of routes fit.
    fn check_route(&self) -> Result<(), TargetError> {
        let of_ours = matches!(self.route, Route::Sockets | Route::None);
        let problem = if (self.route == Route::Proxy) != self.proxy.as_ref().is_some_and(|one| one.tunnel().is_some()) {
            "its `proxy` says where CONNECT or SOCKS5 is spoken, and no other route has one"
        } else if of_ours == self.absent.contains_key(&Capability::Relay) {
            "`relay` is declared absent where there is none of ours, and only there"
        } else if !of_ours && !self.absent.contains_key(&Capability::Provider) {
            "without a relay of ours nothing adds the provider's key: declare `provider` absent"
        } else {
            return Ok(());
        };
        Err(TargetError::Route { name: self.name.clone(), route: self.route.name(), problem })
    }

    /// How its workload reaches what it may reach.
    pub fn way(&self) -> Way {
        match (self.route, &self.proxy) {
            (Route::Proxy, Some(proxies)) => Way::Proxy(proxies.clone()),
            (Route::Direct, _) => Way::Direct,
            (Route::Sockets | Route::None | Route::Proxy, _) => Way::Relays,
        }
    }

    /// The target with this mutant's edits.
    pub fn mutated(&self, slug: &str, mutant: &Mutant) -> Result<Self, TargetError> {
        let refused = |problem| TargetError::Mutant { name: self.name.clone(), slug: slug.to_owned(), problem };
        let mut target = self.clone();
        target.launch.argv = mutant.apply(&self.launch.argv).map_err(refused)?;
        target.one_at_a_time |= mutant.one_at_a_time;
        target.keep_what_fits();
        Ok(target)
    }
}

impl LaunchArgv {
    fn must_run_the_probe(&self, of: &str) -> Result<(), TargetError> {
        let runs = self.argv.iter().any(|word| word == "{probe}");
        if runs { Ok(()) } else { Err(TargetError::NoProbe { name: of.to_owned() }) }
    }
}

fn is_relative(file: &str) -> bool {
    !file.is_empty() && Path::new(file).components().all(|part| matches!(part, Component::Normal(_)))
}

impl Route {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sockets => "sockets",
            Self::None => "none",
            Self::Proxy => "proxy",
            Self::Direct => "direct",
        }
    }
}

#[cfg(test)]
mod tests {
    use watertight_probe::plan::ProxyAt;

    use super::*;

    #[test]
    fn a_route_fits_what_is_declared_of_routes() {
        let parse = |route: &str, more: &str| {
            let text = format!(
                "name = 'x'\nsummary = 's'\nroute = '{route}'\nversion = []\n{more}\n[launch]\nargv = ['{{probe}}']\n"
            );
            Target::parse("x", &text)
        };
        let (absent, proxy) = ("absent = { provider = 'p', relay = 'r' }", "proxy = { socks5 = 'environment' }");
        for (route, more) in
            [("sockets", ""), ("none", ""), ("direct", absent), ("proxy", &format!("{absent}\n{proxy}"))]
        {
            parse(route, more).unwrap_or_else(|error| panic!("{route}: {error}"));
        }
        let only_absolute = format!("{absent}\nproxy = {{ absolute = 'environment' }}");
        for (route, more) in [
            ("sockets", absent),
            ("none", proxy),
            ("direct", "absent = { relay = 'r' }"),
            ("direct", "absent = { provider = 'p' }"),
            ("proxy", absent),
            ("proxy", &only_absolute),
        ] {
            let error = parse(route, more).expect_err(more);
            assert!(matches!(error, TargetError::Route { .. }), "{route} {more}: {error}");
        }
        let proxied = parse("proxy", &format!("{absent}\n{proxy}")).expect("a manifest");
        assert!(matches!(proxied.way(), Way::Proxy(proxies) if proxies.socks5 == Some(ProxyAt::Environment)));
    }
}
