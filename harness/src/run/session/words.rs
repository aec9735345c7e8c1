//! What the placeholders of a manifest stand for in one launch, and how that is made.

use std::collections::BTreeMap;

use watertight_fixtures::world::{PROGRAMS, WORKSPACE};
use watertight_probe::{
    PLAN_FILE_OPTION,
    wire::{self, PlanError},
};

use super::{RunError, Session};
use crate::{
    run::{assemble::Assembled, launch::Manner},
    site::{self, Bundle, LAUNCHES, LINKED_KEY, OPEN_KEY, WORKSPACE_KEY, address},
    target::{Target, User, Words},
};

impl Session<'_> {
    /// How a launch with these words is made.
    pub(in crate::run) fn manner(&self, words: &Words) -> Result<Manner, RunError> {
        Ok(Manner {
            as_root: self.target.as_root(self.options.as_root),
            by_root: self.target.user == User::AgentByRoot,
            faults: vec![],
            environment: self.target.environment(words)?,
            unseen: self.target.unseen.clone(),
            files_at: words.values["files"].clone().into(),
            files: self.target.files(words),
        })
    }

    pub(super) fn probe_words(&self, assembled: &Assembled) -> Result<Vec<String>, PlanError> {
        let plan = wire::encode_plan(&assembled.plan)?;
        Ok(vec![program(), "probe".into(), "--plan".into(), plan])
    }

    pub(in crate::run) fn words(&self, assembled: &Assembled, with_instance: bool) -> Result<Words, RunError> {
        let mut values = self.values();
        let number = self.site.next_launch();
        values.insert("files", format!("{LAUNCHES}{number}"));
        if has_bundles(self.target) {
            let Bundle { name, path, root } = self.site.make_bundle(number)?;
            values.extend([(NAME_PLACEHOLDER, name), (BUNDLE_PLACEHOLDER, path), (ROOT_PLACEHOLDER, root)]);
        }
        let mut probe = self.probe_words(assembled)?;
        if self.target.plan_in_file
            && let Some(plan) = probe.pop()
        {
            probe.truncate(2);
            probe.extend([PLAN_FILE_OPTION.to_owned(), self.site.write_plan(number, &plan)?]);
        }
        Ok(Words { probe, values, with_instance })
    }

    /// What the placeholders stand for that are the same in every launch.
    pub(super) fn values(&self) -> BTreeMap<&'static str, String> {
        let values = [
            ("watertight", program()),
            ("mutants", format!("{PROGRAMS}/{MUTANTS}")),
            // By address: a resolver daemon's socket is planted for DNS-5, and the C library asks it first.
            ("provider_url", format!("http://{}/v1", address::PROVIDER_V4)),
            ("instance_url", format!("http://{}", address::INSTANCE_V4)),
            ("key_file", self.site.plants.key_file.display().to_string()),
            ("open_key_file", OPEN_KEY.to_owned()),
            ("linked_key_file", LINKED_KEY.to_owned()),
            ("workspace_key_file", WORKSPACE_KEY.to_owned()),
            ("workspace", WORKSPACE.to_owned()),
            ("sockets", site::SOCKETS.to_owned()),
            ("adapter", site::ADAPTER.to_owned()),
            ("run_dir", site::RUN_DIR.to_owned()),
        ];
        values.into()
    }
}

/// The placeholders of the empty root directory, of a directory that each launch has for itself, and of a name for it.
const ROOT_PLACEHOLDER: &str = "rootfs";
const BUNDLE_PLACEHOLDER: &str = "bundle";
const NAME_PLACEHOLDER: &str = "container";

/// Whether launches of the target have something for themselves.
pub(super) fn has_bundles(target: &Target) -> bool {
    [ROOT_PLACEHOLDER, BUNDLE_PLACEHOLDER].iter().any(|name| target.mentions(name))
}

/// The name of the broken references' program, on the machine and in the world.
pub const MUTANTS: &str = "watertight-mutants";

/// This program as it lies in the world.
fn program() -> String {
    format!("{PROGRAMS}/watertight")
}
