//! A scene: a bundle, and what a verifier brings to it. Cases start from the honest one and change either.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use toml::Table;
use watertight::verifier::Verifier;
use watertight_reports::{
    bundle::{ATTESTATIONS, PREDICATE, instructions::VERIFY, read::Bundle},
    signing::{digest::Digest, key::SigningKey, public::PublicKey},
    time,
    verify::{Accepted, LogAtHand, Rejection, Request, SIGSTORE, SSHSIG, Strictness, policy::Policy, verify},
};

use crate::honest::{CHALLENGE, COMMIT, Honest, ORIGIN};

pub struct Scene {
    pub honest: &'static Honest,
    directory: TempDir,
    /// The trust policy, before it is written down.
    pub policy: Table,
    pub asked: Asked,
}

/// What is asked of the evidence, in the words of the command line.
pub struct Asked {
    /// Whether an artifact is at hand.
    pub artifact: bool,
    /// The artifact at hand, where it is another than the honest one.
    pub other_artifact: Option<Vec<u8>>,
    pub commit: Option<String>,
    pub nonce: Option<String>,
    pub seen: Vec<String>,
    /// Entries, checkpoint, and the checkpoint that was seen before.
    pub log: Option<(String, String)>,
    pub remembered: Option<String>,
}

impl Scene {
    /// The honest evidence before a verifier who demands all there is to demand.
    pub fn honest() -> Self {
        Self::of(&Honest::get().path("bundle"))
    }

    /// The same verifier before another bundle.
    pub fn of(bundle: &Path) -> Self {
        let honest = Honest::get();
        let directory = tempfile::tempdir().expect("a directory");
        copy(bundle, &directory.path().join("bundle"));
        let read = |name| fs::read_to_string(honest.path(name)).expect("written");
        let asked = Asked {
            artifact: true,
            other_artifact: None,
            commit: Some(COMMIT.into()),
            nonce: Some(CHALLENGE.into()),
            seen: vec![],
            log: Some((read("runs.jsonl"), read("runs.checkpoint"))),
            remembered: None,
        };
        Self { honest, directory, policy: policy(honest), asked }
    }

    /// Leaves the directory of the bundle and what was written beside it.
    pub fn keep(self) -> PathBuf {
        self.directory.keep()
    }

    pub fn bundle(&self) -> PathBuf {
        self.directory.path().join("bundle")
    }

    /// A file of the bundle by its path there.
    pub fn path(&self, name: &str) -> PathBuf {
        self.bundle().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(fs::read(self.path(name)).expect(name)).expect("text")
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect(name);
    }

    pub fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).expect(name);
    }

    /// Takes away what is made of the envelope, whose own faults would be found first or later.
    pub fn without_other_forms(&self) {
        self.remove(SIGSTORE);
        self.remove(SSHSIG);
        self.remove(VERIFY);
    }

    /// Edits one envelope, as anyone can.
    pub fn envelope(&self, line: usize, edit: impl FnOnce(&mut Value)) {
        let mut lines: Vec<String> = self.text(ATTESTATIONS).lines().map(str::to_owned).collect();
        let mut envelope: Value = serde_json::from_str(&lines[line]).expect("an envelope");
        edit(&mut envelope);
        lines[line] = envelope.to_string();
        self.write(ATTESTATIONS, lines.join("\n") + "\n");
    }

    /// A field of the policy.
    pub fn demand(&mut self, field: &str, value: impl Into<toml::Value>) {
        self.policy.insert(field.into(), value.into());
    }

    /// A field of one trusted key: 0 the runner's, 1 its colleague's, 2 the lab's.
    pub fn key(&mut self, index: usize, field: &str, value: impl Into<toml::Value>) {
        let key = self.policy.get_mut("key").and_then(|keys| keys.get_mut(index)).and_then(toml::Value::as_table_mut);
        key.expect("a key").insert(field.into(), value.into());
    }

    /// The copy of the predicate.
    pub fn predicate(&self) -> Value {
        serde_json::from_str(&self.text(PREDICATE)).expect("JSON")
    }

    /// Asks neither for a log nor for anything that only a log shows.
    pub fn unlogged(&mut self) {
        self.asked.log = None;
        self.demand("require", vec!["verifier-nonce", "matrix"]);
    }

    /// What the verifier of this program says.
    pub fn verify(&self, strictness: &impl Strictness) -> Result<Accepted, Rejection> {
        let policy = Policy::parse(&self.policy.to_string()).expect("a policy");
        let bundle = Bundle::open(&self.bundle()).expect("a directory");
        let verifier = Verifier::new().expect("text and checks agree");
        verify(&bundle, &policy, &self.request(), &verifier, strictness)
    }

    fn request(&self) -> Request {
        let Asked { artifact, other_artifact, commit, nonce, seen, log, remembered } = &self.asked;
        Request {
            now: SystemTime::now(),
            artifact: artifact.then(|| other_artifact.as_ref().map_or(self.honest.artifact, Digest::of)),
            commit: commit.clone(),
            nonce: nonce.clone(),
            seen: seen.iter().cloned().collect::<BTreeSet<_>>(),
            log: log.clone().map(|(entries, checkpoint)| LogAtHand {
                entries: entries.into_bytes(),
                checkpoint,
                remembered: remembered.clone(),
            }),
        }
    }
}

/// Demands all that can be demanded of the honest run.
fn policy(honest: &Honest) -> Table {
    let keys = &honest.keys;
    let trusted = [
        trusted(&keys.runner, "acme", "runner"),
        trusted(&keys.colleague, "acme", "runner"),
        trusted(&keys.lab, "lab", "lab"),
    ];
    let policy = json!({
        "accept": ["conformant"],
        "max_age_days": 30,
        "min_profile": "1.0",
        "require": ["verifier-nonce", "log", "matrix"],
        "accepted_harness": [honest.artifact.to_string()],
        "key": trusted,
        "log": [{ "origin": ORIGIN, "vkey": honest.log_key() }],
    });
    serde_json::from_value(policy).expect("a table")
}

fn trusted(key: &SigningKey, organisation: &str, role: &str) -> Value {
    let public: &PublicKey = key.public();
    json!({
        "keyid": public.id().to_string(),
        "spki": base64(public.spki()),
        "organisation": organisation,
        "role": role,
        "not_before": "2020-01-01T00:00:00Z",
        "not_after": time::rfc3339(SystemTime::now() + Duration::from_secs(400 * 86_400)),
        "targets": ["reference", "bubblewrap"],
        "profiles": ["core"],
    })
}

pub fn base64(bytes: impl AsRef<[u8]>) -> String {
    use base64::{Engine, prelude::BASE64_STANDARD};
    BASE64_STANDARD.encode(bytes)
}

pub fn from_base64(text: &str) -> Vec<u8> {
    use base64::{Engine, prelude::BASE64_STANDARD};
    BASE64_STANDARD.decode(text).expect("base64")
}

/// Copies a directory of plain files.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("copied");
        }
    }
}
