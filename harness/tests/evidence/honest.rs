//! One honest piece of evidence: real runs, made once, signed and logged by the program itself with keys that nobody keeps.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use tempfile::TempDir;
use watertight::verifier::Verifier;
use watertight_reports::{
    matrix::{Double, Harness, Matrix, SCHEMA, Summary},
    mutants::{Fate, Mutant},
    signing::{digest::Digest, key::SigningKey},
    transparency::{file::LogFile, note::NoteKey},
    verify::Judge,
};

/// What the verifier of the corpus asked its run to contain.
pub const CHALLENGE: &str = "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00";
pub const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
/// The log's name.
pub const ORIGIN: &str = "corpus.invalid/runs";

/// How often a run is made until it comes out as it must.
const TRIES: usize = 4;

/// Throw-away keys, by what they are for.
pub struct Keys {
    /// Trusted, as the runner's.
    pub runner: SigningKey,
    /// Trusted, of the same organisation.
    pub colleague: SigningKey,
    /// Trusted, of another organisation.
    pub lab: SigningKey,
    /// Nobody trusts it.
    pub attacker: SigningKey,
    pub log: SigningKey,
}

/// Runs of the reference, each a signed bundle, and the log that they are in.
pub struct Honest {
    directory: TempDir,
    pub keys: Keys,
    /// What was tested, which is the program itself.
    pub artifact: Digest,
}

impl Honest {
    /// The only one: what runs costs seconds.
    pub fn get() -> &'static Self {
        static HONEST: OnceLock<Honest> = OnceLock::new();
        HONEST.get_or_init(Self::make)
    }

    fn make() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let key = || SigningKey::generate().expect("a key");
        let keys = Keys { runner: key(), colleague: key(), lab: key(), attacker: key(), log: key() };
        let bytes = fs::read(program()).expect("the program");
        let honest = Self { directory, keys, artifact: Digest::of(bytes) };
        fs::write(honest.path("matrix.json"), serde_json::to_vec(&matrix(honest.artifact)).expect("JSON"))
            .expect("written");
        honest.check("earlier", "runs", &["reference"], 0);
        honest.check("bundle", "runs", &["reference"], 0);
        let note = LogFile::lock(&honest.path("runs.jsonl")).and_then(|log| log.checkpoint(ORIGIN, &honest.keys.log));
        fs::write(honest.path("runs.checkpoint"), note.expect("a checkpoint")).expect("written");
        honest
    }

    /// A run of the same command before this one.
    pub fn earlier(&self) -> PathBuf {
        self.path("earlier")
    }

    /// A run that requirements were left out of.
    pub fn filtered(&self) -> PathBuf {
        static MADE: OnceLock<()> = OnceLock::new();
        MADE.get_or_init(|| self.check("filtered", "others", &["reference", "--filter", "EGRESS-5"], 3));
        self.path("filtered")
    }

    /// A run against a sandbox that does not conform; nothing where it is not installed.
    pub fn bubblewrap(&self) -> Option<PathBuf> {
        static MADE: OnceLock<()> = OnceLock::new();
        Path::new("/usr/bin/bwrap").exists().then(|| {
            MADE.get_or_init(|| self.check("bubblewrap", "others", &["bubblewrap"], 1));
            self.path("bubblewrap")
        })
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What a policy names the log's key by.
    pub fn log_key(&self) -> String {
        NoteKey::new(ORIGIN, self.keys.log.public()).expect("a name").to_string()
    }

    /// Runs, signs and logs.
    fn check(&self, name: &str, log: &str, words: &[&str], status: i32) {
        let (out, log, matrix) = (self.path(name), self.path(&format!("{log}.jsonl")), self.path("matrix.json"));
        // On a busy machine a control can miss its deadline. Whether runs come out as they should is tested elsewhere.
        let before = fs::read(&log).unwrap_or_default();
        let came_out = (0..TRIES).any(|_| {
            // What is left of a try before this one, in the log as well: there it would be an abandoned run.
            let _ = fs::remove_dir_all(&out);
            fs::write(&log, &before).expect("written");
            let mut check = Command::new(program());
            check.arg("check").args(words).arg("--quiet").arg("--out").arg(&out).arg("--log").arg(&log);
            check.arg("--matrix").arg(&matrix).args(["--nonce", CHALLENGE]);
            check.args(["--source", "https://corpus.invalid/sandbox", "--commit", COMMIT]);
            ended(&mut check, status)
        });
        assert!(came_out, "no run of {words:?} ended with status {status}");
        let mut sign = Command::new(program());
        sign.arg("sign").arg(&out).arg("--allow-env-key").arg("--log").arg(&log);
        sign.env("WATERTIGHT_SIGNING_KEY", self.keys.runner.to_pem().expect("PEM").as_str());
        assert!(ended(&mut sign, 0), "{name} was not signed");
    }
}

/// The program under test.
pub fn program() -> &'static str {
    env!("CARGO_BIN_EXE_watertight")
}

/// Whether a command ends with this status; what it said is shown where it does not.
fn ended(command: &mut Command, status: i32) -> bool {
    let output = command.env("NO_COLOR", "1").output().expect("the program starts");
    let right = output.status.code() == Some(status);
    if !right {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        eprintln!("{command:?}: {}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr));
    }
    right
}

/// A kill matrix as a selftest prints it, in which every mutant was caught: hours of runs are not what is tested here.
fn matrix(harness: Digest) -> Matrix {
    let verifier = Verifier::new().expect("text and checks agree");
    let caught = |(slug, expected): (String, Vec<String>)| {
        let reasons: BTreeMap<_, _> =
            expected.iter().map(|id| (id.clone(), "made for the corpus".to_owned())).collect();
        let mutant = Mutant::new(&slug, "Made for the corpus.", expected.clone());
        Mutant { status: Fate::Killed, kills: expected, reasons, checked: 1, ..mutant }
    };
    let mutants: Vec<Mutant> = verifier.mutants(true, false).into_iter().map(caught).collect();
    let double = |name: &String| Double {
        name: name.clone(),
        expected: "Made for the corpus.".into(),
        right: true,
        passed: vec![],
        failed: vec![],
        unclear: vec![],
        error: None,
    };
    let doubles: Vec<Double> = verifier.doubles().iter().map(double).collect();
    Matrix {
        schema: SCHEMA.into(),
        spec: verifier.spec().version,
        harness: Harness { version: "0.1.0".into(), sha256: harness.to_string(), mutants_sha256: "aa".repeat(32) },
        kernel: "6.12.0".into(),
        identity: "root".into(),
        full: false,
        started_at: "2026-01-01T00:00:00Z".into(),
        wall_ms: 1,
        ablation: None,
        summary: Summary::of(&mutants, &doubles),
        mutants,
        doubles,
    }
}
