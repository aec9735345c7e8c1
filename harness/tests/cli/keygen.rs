//! `keygen`: what it writes and says, and that it overwrites nothing.

use std::{fs, os::unix::fs::MetadataExt, path::Path, process::Command};

use super::support::{directory, run};

fn keygen(path: &Path, more: &[&str]) -> super::support::Ended {
    run(&[&["keygen", "--out", path.to_str().expect("text")], more].concat())
}

#[test]
fn it_writes_a_key_for_its_owner_alone_and_says_its_id() {
    let directory = directory();
    let path = directory.path().join("runner");
    let ended = keygen(&path, &["--comment", "runner of CI"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    assert_eq!(fs::metadata(&path).expect("the key").mode() & 0o7777, 0o600);
    let line = fs::read_to_string(directory.path().join("runner.ssh.pub")).expect("the line");
    assert!(line.starts_with("ssh-ed25519 ") && line.ends_with(" runner of CI\n"), "{line}");
    let found = Command::new("sh")
        .args(["-c", "openssl pkey -in \"$0\" -pubout -outform DER | sha256sum"])
        .arg(&path)
        .output()
        .expect("`scripts/packages` installs openssl");
    let id = String::from_utf8_lossy(&found.stdout)[..64].to_owned();
    insta::assert_snapshot!(
        ended.stdout.replace(&id, "[id]").replace(directory.path().to_str().expect("text"), "[directory]"),
        @"
    key id      [id]
    private key [directory]/runner (for `watertight sign` alone: keep it where no sandbox runs)
    public key  [directory]/runner.pub
    for SSH     [directory]/runner.ssh.pub
    "
    );
    let secret = fs::read_to_string(&path).expect("the key");
    assert!(!ended.stdout.contains(secret.lines().nth(1).expect("a body")));
}

#[test]
fn it_overwrites_nothing() {
    let directory = directory();
    let path = directory.path().join("runner");
    assert_eq!(keygen(&path, &[]).code, Some(0));
    let before = fs::read(&path).expect("the key");
    let again = keygen(&path, &[]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(2), ""));
    assert!(again.stderr.contains("there is such a file already; a key is never overwritten"), "{}", again.stderr);
    assert_eq!(fs::read(&path).expect("the key"), before);
}

#[test]
fn a_directory_that_is_not_there_is_refused_with_the_reason() {
    let ended = keygen(Path::new("/nonexistent/runner"), &[]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("failed to make it: No such file or directory"), "{}", ended.stderr);
}
