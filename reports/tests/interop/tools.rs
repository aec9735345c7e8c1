//! Programs of the machine, run in a directory with no network.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;
use watertight_reports::signing::{
    digest::Digest,
    dsse::Envelope,
    key::SigningKey,
    key_file,
    statement::{DigestSet, Statement, Subject},
    test_result::{Configuration, Outcome, TestResult},
};

/// A directory with a key (`key`, `key.pub`, `key.ssh.pub`) and an envelope that it signed (`envelope.json`).
pub struct Signed {
    directory: TempDir,
    pub key: SigningKey,
    pub envelope: Envelope,
}

impl Signed {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (key, _) = key_file::create(&directory.path().join("key"), "tests").expect("a key");
        let envelope = Envelope::sign(statement().to_payload().expect("a payload"), &key);
        fs::write(directory.path().join("envelope.json"), envelope.to_json()).expect("a file");
        Self { directory, key, envelope }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).expect("a file");
    }

    /// Runs a script of bash in the directory.
    pub fn bash(&self, script: &str) -> Output {
        run(self.directory.path(), &["bash", "-euo", "pipefail", "-c", script])
    }
}

fn statement() -> Statement<TestResult> {
    let digest = DigestSet { sha256: Digest::of(b"artifact") };
    let result = TestResult {
        result: Outcome::Passed,
        configuration: vec![Configuration { name: "core 1.0".into(), digest }],
        passed_tests: vec!["EGRESS-1".into()],
        warned_tests: vec![],
        failed_tests: vec![],
    };
    Statement::new(vec![Subject { name: "sandbox".into(), digest }], result)
}

fn run(directory: &Path, words: &[&str]) -> Output {
    // Verification must need no network; where namespaces are not for us, it is not taken away.
    let sealed: &[&str] = if can_unshare() { &["unshare", "--user", "--map-current-user", "--net"] } else { &[] };
    let words: Vec<_> = ["timeout", "60"].iter().chain(sealed).chain(words).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(directory).env("LC_ALL", "C").stdin(Stdio::null());
    command.output().expect("`scripts/packages` installs the tools")
}

fn can_unshare() -> bool {
    let status =
        Command::new("unshare").args(["--user", "--map-current-user", "--net", "true"]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

/// Standard output and error, for messages.
pub fn words(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).join("")
}
