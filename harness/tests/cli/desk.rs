//! Somebody who signs and verifies.

use std::{fs, os::unix::fs::chown};

use super::support::{As, Ended, USER, directory, run_as};

/// A directory of one user's own, with a key, its public half in a policy, and places for bundles.
pub struct Desk {
    pub directory: tempfile::TempDir,
    pub user: As,
}

impl Desk {
    pub fn new(user: As) -> Self {
        let desk = Self { directory: directory(), user };
        if user == As::User {
            chown(desk.directory.path(), Some(USER), Some(USER)).expect("given away");
        }
        let made = desk.run(&["keygen", "--out", &desk.at("key")]);
        assert_eq!(made.code, Some(0), "{}", made.stderr);
        let id = made.stdout.split_whitespace().nth(2).expect("an id").to_owned();
        let pem = fs::read_to_string(desk.at("key.pub")).expect("a public key");
        let spki: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
        fs::write(desk.at("policy.toml"), policy(&id, &spki, "")).expect("written");
        desk
    }

    pub fn at(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        run_as(self.user, arguments)
    }

    /// Keeps a whole run against the reference.
    pub fn check(&self, name: &str, more: &[&str]) -> Ended {
        let bundle = self.at(name);
        self.run(&[&["check", "reference", "--quiet", "--out", &bundle], more].concat())
    }

    pub fn sign(&self, name: &str) -> Ended {
        self.run(&["sign", &self.at(name), "--key-file", &self.at("key")])
    }

    pub fn verify(&self, name: &str, more: &[&str]) -> Ended {
        let (bundle, policy) = (self.at(name), self.at("policy.toml"));
        self.run(&[&["verify", &bundle, "--policy", &policy], more].concat())
    }
}

/// A policy that trusts this key alone.
fn policy(id: &str, spki: &str, more: &str) -> String {
    format!(
        "accept = [\"conformant\"]\nmax_age_days = 1\nmin_profile = \"1.0\"\n{more}\n[[key]]\nkeyid = \"{id}\"\nspki = \"{spki}\"\n\
         organisation = \"us\"\nrole = \"runner\"\nnot_before = \"2020-01-01T00:00:00Z\"\nnot_after = \"2099-01-01T00:00:00Z\"\n\
         targets = [\"reference\"]\nprofiles = [\"core\"]\n"
    )
}
