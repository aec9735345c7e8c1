//! Manifests: how a sandbox is installed, launched and told what to run, without a word about verdicts.

mod adapter;
mod edit;
mod known;

use std::{
    collections::BTreeMap,
    io,
    path::{Component, Path},
};

use serde::Deserialize;
use watertight_probe::wire;
use watertight_reports::files;

use crate::{
    check::Capability,
    planner::{Proxies, Way},
    profile::Profile,
    scenario::{BadInput, Prerequisite},
};
pub use adapter::Adapter;
pub use edit::{Edit, Mutant, Variant};
pub use known::KnownFailure;

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

/// What the placeholders of a launch stand for. `{probe}` and `{instance}` stand for several words and stand alone;
/// `{name}` of `values` may stand inside a word.
#[derive(Clone, Debug, Default)]
pub struct Words {
    pub probe: Vec<String>,
    pub values: BTreeMap<&'static str, String>,
    pub with_instance: bool,
}

/// Why a manifest cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    #[error("there is no target {0}: `watertight list --targets` names those there are")]
    Unknown(String),
    #[error("cannot read the manifest {path}: {source}")]
    File { path: String, source: io::Error },
    #[error("the manifest {path}: a target that comes with the program is called {name}: give yours another name")]
    Taken { path: String, name: String },
    #[error("the manifest {path} has more than {MAX_MANIFEST} bytes")]
    Long { path: String },
    #[error("manifest {name}: variant {variant}: {problem}")]
    Variant { name: String, variant: String, problem: String },
    #[error("manifest {name} cannot be read: {source}")]
    Syntax { name: String, source: Box<toml::de::Error> },
    #[error("manifest {name}: its adapter: {problem}")]
    Adapter { name: String, problem: String },
    #[error("manifest {name}: cannot read the adapter's file {file}: {source}")]
    AdapterFile { name: String, file: String, source: io::Error },
    #[error("manifest {name}: `[launch]` says how it is started or `[adapter]` does, and only one of them")]
    Twofold { name: String },
    #[error("{name} has no {{probe}}, so nothing of ours would run in it")]
    NoProbe { name: String },
    #[error("manifest {name}: the word `{word}` has a placeholder that does not exist")]
    Placeholder { name: String, word: String },
    #[error("manifest {name}: the file `{file}` must have a relative path without `.` or `..`")]
    OwnFile { name: String, file: String },
    #[error("manifest {name}, route {route}: {problem}")]
    Route { name: String, route: &'static str, problem: &'static str },
    #[error("manifest {name}: known failure {requirement}: {problem}")]
    KnownFailure { name: String, requirement: String, problem: &'static str },
    #[error("manifest {name}: mutant {slug}: {problem}")]
    Mutant { name: String, slug: String, problem: String },
    #[error("manifest {name}: the words {words:?} do not stand in its argv")]
    Edit { name: String, words: Vec<String> },
}

/// The manifests that come with the program.
const MANIFESTS: [(&str, &str); 33] = [
    ("reference", include_str!("../targets/reference.toml")),
    ("bubblewrap", include_str!("../targets/bubblewrap.toml")),
    ("bubblewrap-exec", include_str!("../targets/bubblewrap-exec.toml")),
    ("unshare", include_str!("../targets/unshare.toml")),
    ("nsjail", include_str!("../targets/nsjail.toml")),
    ("proot", include_str!("../targets/proot.toml")),
    ("chroot", include_str!("../targets/chroot.toml")),
    ("netns", include_str!("../targets/netns.toml")),
    ("ch-run", include_str!("../targets/ch-run.toml")),
    ("runsc", include_str!("../targets/runsc.toml")),
    ("runc", include_str!("../targets/runc.toml")),
    ("crun", include_str!("../targets/crun.toml")),
    ("firejail", include_str!("../targets/firejail.toml")),
    ("systemd-nspawn", include_str!("../targets/systemd-nspawn.toml")),
    ("lxc", include_str!("../targets/lxc.toml")),
    ("podman", include_str!("../targets/podman.toml")),
    ("docker", include_str!("../targets/docker.toml")),
    ("srt", include_str!("../targets/srt.toml")),
    ("srt-proxy", include_str!("../targets/srt-proxy.toml")),
    ("codex", include_str!("../targets/codex.toml")),
    ("codex-proxy", include_str!("../targets/codex-proxy.toml")),
    ("codex-landlock", include_str!("../targets/codex-landlock.toml")),
    ("hozo", include_str!("../targets/hozo.toml")),
    ("hozo-proxy", include_str!("../targets/hozo-proxy.toml")),
    ("agent-nook", include_str!("../targets/agent-nook.toml")),
    ("buddelkiste", include_str!("../targets/buddelkiste.toml")),
    ("sandlock", include_str!("../targets/sandlock.toml")),
    ("open", include_str!("../targets/open.toml")),
    ("dead", include_str!("../targets/dead.toml")),
    ("echo", include_str!("../targets/echo.toml")),
    ("deny-all", include_str!("../targets/deny-all.toml")),
    ("liar", include_str!("../targets/liar.toml")),
    ("polite-liar", include_str!("../targets/polite-liar.toml")),
];

/// The adapters of those manifests, by the names of their files.
const ADAPTERS: [(&str, &str); 2] = [
    ("bubblewrap-exec.py", include_str!("../targets/bubblewrap-exec.py")),
    ("docker.py", include_str!("../targets/docker.py")),
];

impl Target {
    /// Whether it is the manifest of this name that comes with the program, word for word, with the adapter that does.
    pub fn is_ours(&self, name: &str) -> bool {
        MANIFESTS.iter().any(|(known, text)| *known == name && *text == self.manifest)
            && self.clone().with_adapter(our_adapter).is_ok_and(|ours| ours.adapter == self.adapter)
    }

    /// Whether it is launched as the world's root, where `asked` says whether the command line wants that of every target.
    pub fn as_root(&self, asked: bool) -> bool {
        match self.user {
            User::Agent => asked,
            User::Root => true,
            User::AgentByRoot => false,
        }
    }

    /// Whether a word of its launch, of a mutant's or of bad input has this placeholder.
    pub fn mentions(&self, placeholder: &str) -> bool {
        let edits = self.mutants.values().flat_map(|mutant| &mutant.edits).chain(self.refuses.values());
        let added = edits.flat_map(|edit| &edit.add);
        self.launch.argv.iter().chain(added).any(|word| word.contains(&format!("{{{placeholder}}}")))
    }

    /// The names of all manifests that come with the program.
    pub fn names() -> impl Iterator<Item = &'static str> {
        MANIFESTS.iter().map(|(name, _)| *name)
    }

    /// The target with this name, `NAME` or `NAME:VARIANT`. A name with a slash in it, or that ends in `.toml`, is the
    /// file of a manifest.
    pub fn load(name: &str) -> Result<Self, TargetError> {
        let (manifest, variant) = match name.rsplit_once(':') {
            Some((manifest, variant)) => (manifest, Some(variant)),
            None => (name, None),
        };
        let target = if is_file(manifest) {
            let target =
                Self::parse(manifest, &read(manifest)?)?.with_adapter(|adapter| adapter.read(manifest.as_ref()))?;
            // Two sandboxes of one name could be taken for each other in evidence.
            if Self::names().any(|name| name == target.name) && !target.is_ours(&target.name) {
                return Err(TargetError::Taken { path: manifest.to_owned(), name: target.name });
            }
            target
        } else {
            let known = MANIFESTS.iter().find(|(known, _)| *known == manifest);
            let (_, text) = known.ok_or_else(|| TargetError::Unknown(manifest.to_owned()))?;
            Self::parse(manifest, text)?.with_adapter(our_adapter)?
        };
        match variant {
            Some(variant) => target.varied(variant),
            None => Ok(target),
        }
    }

    /// The target with its adapter's file, as it is found.
    fn with_adapter(mut self, find: impl FnOnce(&mut Adapter) -> io::Result<()>) -> Result<Self, TargetError> {
        let Some(adapter) = &mut self.adapter else { return Ok(self) };
        let file = adapter.file.clone().unwrap_or_default();
        find(adapter).map_err(|source| TargetError::AdapterFile { name: self.name.clone(), file, source })?;
        Ok(self)
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

    /// The command that prints its version, with `program` in the place of ours.
    pub fn version_command(&self, program: &str) -> Vec<String> {
        self.version.iter().map(|word| word.replace("{watertight}", program)).collect()
    }

    /// The same in the world, where all placeholders have a meaning.
    pub fn version_words(&self, values: &BTreeMap<&'static str, String>) -> Vec<String> {
        let replaced = |word: &String| {
            values.iter().fold(word.clone(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
        };
        self.version.iter().map(replaced).collect()
    }

    /// What of the output of [`Self::version_command`] is shown: its first line, harmless.
    pub fn version_line(output: &[u8]) -> String {
        const LONGEST: usize = 100;
        wire::escape(output.split(|byte| *byte == b'\n').next().unwrap_or_default(), LONGEST)
    }

    /// The launch's words with every placeholder replaced.
    pub fn argv(&self, words: &Words) -> Result<Vec<String>, TargetError> {
        self.expand(&self.launch.argv, words)
    }

    /// The environment of the launch, beside the launching user's own.
    pub fn environment(&self, words: &Words) -> Result<Vec<(String, String)>, TargetError> {
        self.environment.iter().map(|(name, value)| Ok((name.clone(), self.word(value, words)?))).collect()
    }

    /// What the launch finds in its directory. Braces that are no placeholder stay: most such files have some.
    pub fn files(&self, words: &Words) -> Vec<(String, String)> {
        let probe = words.probe.iter().map(|word| serde_json::Value::from(word.as_str()).to_string());
        let probe = probe.collect::<Vec<_>>().join(", ");
        let file = |(name, text): (&String, &String)| {
            let replaced = |text: String, (name, value): (&&str, &String)| text.replace(&format!("{{{name}}}"), value);
            (name.clone(), words.values.iter().fold(text.replace("{probe}", &probe), replaced))
        };
        self.files.iter().map(file).collect()
    }

    /// The same after an edit.
    pub fn edited_argv(&self, edit: &Edit, words: &Words) -> Result<Vec<String>, TargetError> {
        let mut argv = self.launch.argv.clone();
        edit.apply(&mut argv).map_err(|words| TargetError::Edit { name: self.name.clone(), words })?;
        self.expand(&argv, words)
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

    fn expand(&self, argv: &[String], words: &Words) -> Result<Vec<String>, TargetError> {
        let mut expanded = vec![];
        for word in argv {
            match word.as_str() {
                "{probe}" => expanded.extend(words.probe.iter().cloned()),
                "{instance}" => {
                    let part = if words.with_instance { &self.launch.instance } else { &self.launch.no_instance };
                    for word in part {
                        expanded.push(self.word(word, words)?);
                    }
                }
                word => expanded.push(self.word(word, words)?),
            }
        }
        Ok(expanded)
    }

    fn word(&self, word: &str, words: &Words) -> Result<String, TargetError> {
        let mut text = word.to_owned();
        for (name, value) in &words.values {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        if placeholders(&text).next().is_some() && placeholders(word).next().is_some() {
            return Err(TargetError::Placeholder { name: self.name.clone(), word: word.to_owned() });
        }
        Ok(text)
    }
}

impl LaunchArgv {
    fn must_run_the_probe(&self, of: &str) -> Result<(), TargetError> {
        let runs = self.argv.iter().any(|word| word == "{probe}");
        if runs { Ok(()) } else { Err(TargetError::NoProbe { name: of.to_owned() }) }
    }
}

/// Gives an adapter the file that comes with the program.
fn our_adapter(adapter: &mut Adapter) -> io::Result<()> {
    let Some(file) = &adapter.file else { return Ok(()) };
    let (_, text) = ADAPTERS.iter().find(|(known, _)| known == file).ok_or(io::ErrorKind::NotFound)?;
    adapter.program = Some((*text).to_owned());
    Ok(())
}

/// Words in braces: a launch may have other braces, of JSON.
fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    let inside = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    let named = |name: &&str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    inside.map(|(name, _)| name).filter(named)
}

/// Bytes of a manifest, at most.
const MAX_MANIFEST: u64 = 256 << 10;

/// Whether a target is named by the file of its manifest.
pub fn is_file(name: &str) -> bool {
    name.contains('/') || name.ends_with(".toml")
}

fn is_relative(file: &str) -> bool {
    !file.is_empty() && Path::new(file).components().all(|part| matches!(part, Component::Normal(_)))
}

fn read(path: &str) -> Result<String, TargetError> {
    files::text(path.as_ref(), MAX_MANIFEST).map_err(|source| match source.kind() {
        io::ErrorKind::FileTooLarge => TargetError::Long { path: path.to_owned() },
        _ => TargetError::File { path: path.to_owned(), source },
    })
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

    fn words() -> Words {
        Words {
            probe: vec!["/w".into(), "probe".into()],
            values: BTreeMap::from([("workspace", "/home/agent/work".to_owned())]),
            with_instance: true,
        }
    }

    fn target(argv: &str) -> Result<Target, TargetError> {
        let text = format!(
            "name = 'x'\nsummary = 's'\nroute = 'none'\nversion = []\n[launch]\nargv = {argv}\ninstance = ['-i', '{{workspace}}']\n"
        );
        Target::parse("x", &text)
    }

    #[test]
    fn every_manifest_that_comes_with_the_program_can_be_read_and_has_its_own_name() {
        for name in Target::names() {
            assert_eq!(Target::load(name).expect(name).name, name);
        }
    }

    #[test]
    fn files_of_a_launch_have_its_words_and_keep_other_braces() {
        let text = "name = 'x'\nsummary = 's'\nroute = 'none'\nversion = []\n[launch]\nargv = ['{probe}']\n[environment]\n\
            HERE = '{workspace}/x'\n[files]\n'a/b.json' = '{ \"cwd\": \"{workspace}\", \"args\": [{probe}] }'\n";
        let target = Target::parse("x", text).expect("a manifest");
        let said = r#"{ "cwd": "/home/agent/work", "args": ["/w", "probe"] }"#;
        assert_eq!(target.files(&words()), [("a/b.json".to_owned(), said.to_owned())]);
        let environment = target.environment(&words()).expect("placeholders that exist");
        assert_eq!(environment, [("HERE".to_owned(), "/home/agent/work/x".to_owned())]);
        for path in ["/etc/x", "../x", "", "a/../../x", "./x"] {
            let error = Target::parse("x", &text.replace("a/b.json", path)).expect_err(path);
            assert!(matches!(error, TargetError::OwnFile { .. }), "{path}: {error}");
        }
    }

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

    #[test]
    fn a_manifest_can_be_a_file_of_the_users_own() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("mine.toml").display().to_string();
        let missing = Target::load(&path).expect_err("not there").to_string();
        assert!(missing.starts_with("cannot read the manifest /") && missing.contains("No such file"), "{missing}");
        let text = "name = 'mine'\nsummary = 's'\nroute = 'none'\nversion = []\n[launch]\nargv = ['{probe}']\n\
            [variants.v]\nsummary = 'V.'\nedits = [{ add = ['x'], before = '{probe}' }]\n";
        std::fs::write(&path, text).expect("written");
        let target = Target::load(&path).expect("a manifest");
        assert_eq!((target.name.as_str(), target.manifest.as_str()), ("mine", text));
        assert_eq!(Target::load(&format!("{path}:v")).expect("a variant").name, "mine:v");
        std::fs::write(&path, text.replace("'mine'", "'bubblewrap'")).expect("written");
        assert!(matches!(Target::load(&path), Err(TargetError::Taken { .. })));
        std::fs::write(&path, "#".repeat(MAX_MANIFEST as usize + 1)).expect("written");
        assert!(matches!(Target::load(&path), Err(TargetError::Long { .. })));
    }

    #[test]
    fn placeholders_are_replaced_and_unknown_ones_refused() {
        let argv = target("['a', '--x={workspace}', '{instance}', '{probe}']").expect("valid").argv(&words());
        let expected = ["a", "--x=/home/agent/work", "-i", "/home/agent/work", "/w", "probe"];
        assert_eq!(argv.expect("known placeholders"), expected);
        let unknown = target("['{other}', '{probe}']").expect("valid").argv(&words());
        assert!(matches!(unknown, Err(TargetError::Placeholder { .. })));
        assert!(matches!(target("['a']"), Err(TargetError::NoProbe { .. })));
    }

    #[test]
    fn an_edit_replaces_or_inserts_words_and_refuses_those_that_are_not_there() {
        let target = target("['a', '--net', 'none', '{probe}']").expect("valid");
        let edit = |remove: &[&str], add: &[&str], before: Option<&str>| Edit {
            remove: remove.iter().map(|word| (*word).to_owned()).collect(),
            add: add.iter().map(|word| (*word).to_owned()).collect(),
            before: before.map(str::to_owned),
        };
        let replaced = target.edited_argv(&edit(&["--net", "none"], &["--net", "host"], None), &words());
        assert_eq!(replaced.expect("there"), ["a", "--net", "host", "/w", "probe"]);
        let inserted = target.edited_argv(&edit(&[], &["-v"], Some("--net")), &words());
        assert_eq!(inserted.expect("there"), ["a", "-v", "--net", "none", "/w", "probe"]);
        let missing = target.edited_argv(&edit(&["none", "--net"], &[], None), &words());
        assert!(matches!(missing, Err(TargetError::Edit { .. })));
    }
}
