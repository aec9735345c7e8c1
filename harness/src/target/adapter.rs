//! A manifest's `[adapter]`: the program that starts the sandbox where no command line can (docs/ADAPTERS.md).

use std::{io, path::Path};

use serde::Deserialize;
use watertight_reports::files;

use super::{LaunchArgv, Route, load::our_program};
use crate::adapter::{Order, WORKLOAD};

/// What a manifest says of its adapter.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// Its words. `{adapter}` is `file` as it lies in the world.
    pub argv: Vec<String>,
    /// A file beside the manifest that is put into the world.
    #[serde(default)]
    pub file: Option<String>,
    /// Variables that the workload must have, beside those of the routes.
    #[serde(default)]
    pub environment: Vec<String>,
    /// What is in the file.
    #[serde(skip)]
    pub program: Option<String>,
}

/// Variables that the relays' launcher gives the workload, and one that shows what passes.
const ENVIRONMENT: [&str; 3] = ["OPENAI_BASE_URL", "WATERTIGHT_INSTANCE_URL", "WATERTIGHT_MARKER"];
/// Bytes of an adapter's file, at most.
const MAX_PROGRAM: u64 = 256 << 10;

impl Adapter {
    /// The launch that it is made into: an ordinary one, whose words edits can change.
    pub fn launch(&self, route: Route, bearer: Option<&str>) -> LaunchArgv {
        let sockets = route == Route::Sockets;
        let environment = bearer.into_iter().chain(ENVIRONMENT).map(str::to_owned);
        let bridge = ["{watertight}", "bridge", "--sockets", "{sockets}", "--"];
        let order = Order {
            route: route.name().into(),
            sockets: sockets.then(|| "{sockets}".into()),
            program: "{watertight}".into(),
            workspace: "{workspace}".into(),
            run_dir: "{run_dir}".into(),
            environment: environment.chain(self.environment.iter().cloned()).collect(),
            adapter: self.argv.clone(),
            workload: words(if sockets { &bridge } else { &[] }).chain(["{probe}".into()]).collect(),
            ..Order::default()
        };
        let relay = [
            "{watertight}",
            "relay",
            "--provider",
            "{provider_url}",
            "--provider-key-file",
            "{key_file}",
            "{instance}",
            "--sockets",
            "{sockets}",
            "--",
        ];
        let beside = words(if sockets { &relay } else { &[] });
        let adapted = ["{watertight}".to_owned()].into_iter().chain(order.words());
        LaunchArgv {
            argv: beside.chain(adapted).collect(),
            instance: words(&["--instance", "{instance_url}"]).collect(),
            no_instance: vec![],
        }
    }

    /// The command that prints name and version, as the adapter's hello says them.
    pub fn version(&self) -> Vec<String> {
        let order = Order { only_hello: true, adapter: self.argv.clone(), ..Order::default() };
        ["{watertight}".to_owned()].into_iter().chain(order.words()).collect()
    }

    /// Why it cannot be used.
    pub fn check(&self) -> Result<(), String> {
        let names = |name: &str| self.argv.iter().any(|word| word.contains(name));
        if self.argv.is_empty() {
            return Err("its argv is empty".into());
        }
        if self.argv.iter().any(|word| word == WORKLOAD) {
            return Err(format!("its argv has the word {WORKLOAD}, which ends it"));
        }
        if self.file.is_some() != names("{adapter}") {
            return Err("a `file` is what {adapter} in its argv stands for: one is there without the other".into());
        }
        if self.file.as_ref().is_some_and(|file| Path::new(file).file_name() != Some(file.as_ref())) {
            return Err("its `file` lies beside the manifest: a name without a directory".into());
        }
        match self.environment.iter().find(|name| name.is_empty() || name.contains([',', '='])) {
            Some(name) => Err(format!("`{name}` is no name of a variable")),
            None => Ok(()),
        }
    }

    /// Reads the file beside this manifest.
    pub fn read(&mut self, manifest: &Path) -> io::Result<()> {
        if let Some(file) = &self.file {
            self.program = Some(files::text(&manifest.with_file_name(file), MAX_PROGRAM)?);
        }
        Ok(())
    }

    /// The file alone, of a launch whose words somebody else knows; where there is none, the one of ours with this name.
    pub fn of_file(path: &Path) -> io::Result<Self> {
        let file = path.display().to_string();
        let program = match files::text(path, MAX_PROGRAM) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => our_program(&file).ok_or(error)?.to_owned(),
            read => read?,
        };
        Ok(Self { argv: vec![], file: Some(file), environment: vec![], program: Some(program) })
    }
}

fn words<'a>(words: &'a [&'a str]) -> impl Iterator<Item = String> + 'a {
    words.iter().map(|word| (*word).to_owned())
}

#[cfg(test)]
mod tests;
