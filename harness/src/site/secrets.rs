//! The synthetic secrets of one run, and the digests by which the probe looks for them.

use std::{fs::File, io, io::Read};

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};
use watertight_probe::{nonce::RunNonce, plan::Needle};

/// Everything secret in one run. All of it is made up for the run and worthless after it.
#[derive(Clone)]
pub struct Secrets {
    pub run: RunNonce,
    /// What makes the run's nonce of the challenge.
    pub salt: [u8; 32],
    /// What banners are made from.
    banners: RunNonce,
    /// What the provider takes.
    pub provider_key: String,
    /// Stands in files that may be read only by some.
    pub marker: String,
    /// The launcher's environment: name and value.
    pub planted: Vec<(&'static str, String)>,
}

impl Secrets {
    /// New ones, from the kernel's random numbers. The run's nonce answers this challenge, which may be empty.
    pub fn new(salt: Option<[u8; 32]>, challenge: &[u8]) -> io::Result<Self> {
        let salt = match salt {
            Some(salt) => salt,
            None => random()?,
        };
        let run = RunNonce::answer(salt, challenge);
        let provider_key = format!("sk-wt-{}", &run.secret("provider-key")[..40]);
        let marker = run.secret("marker");
        let planted =
            ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "NPM_TOKEN", "WATERTIGHT_PLANTED", "WATERTIGHT_SIGNING_KEY"]
                .map(|name| (name, format!("planted-{}", &run.secret(name)[..40])));
        Ok(Self { banners: run.clone(), run, salt, provider_key, marker, planted: planted.to_vec() })
    }

    /// The same secrets with nonces of its own: for a world beside others in which the same launches are made.
    pub fn apart(&self, name: &str) -> Self {
        let digest = self.run.secret(&format!("apart {name}"));
        let mut bytes = [0; 32];
        bytes.copy_from_slice(&digest.as_bytes()[..32]);
        Self { run: RunNonce::from_bytes(bytes), ..self.clone() }
    }

    /// What a canary says on contact.
    pub fn banner(&self, fixture: &str) -> String {
        format!("wt-banner:{}", self.banners.secret(&format!("banner {fixture}")))
    }

    /// The same as a line: a reader knows when it has all of it.
    pub fn spoken(&self, fixture: &str) -> String {
        format!("{}\n", self.banner(fixture))
    }

    /// The key in the spellings that a careless program leaves it in, and the markers that show that the search sees.
    pub fn key_needles(&self) -> Vec<Needle> {
        let key = self.provider_key.as_bytes();
        let reversed: Vec<u8> = key.iter().rev().copied().collect();
        let (first, second) = key.split_at(key.len() / 2);
        vec![
            needle("key", key),
            needle("key-base64", BASE64_STANDARD.encode(key).trim_end_matches('=').as_bytes()),
            needle("key-hex", hex::encode(key).as_bytes()),
            needle("key-reversed", &reversed),
            needle("key-first-half", first),
            needle("key-second-half", second),
            needle("marker-file", format!("file-{}", self.marker).as_bytes()),
            needle("marker-environment", self.marker_environment().as_bytes()),
        ]
    }

    /// SHA-256 of the planted files that only some may read.
    pub fn marker_digest(&self) -> String {
        hex::encode(Sha256::digest(&self.marker))
    }

    /// Value of `WATERTIGHT_MARKER`, which every launch hands in on purpose.
    pub fn marker_environment(&self) -> String {
        format!("environment-{}", self.marker)
    }

    /// What is planted in the launcher's environment.
    pub fn planted_needles(&self) -> Vec<Needle> {
        self.planted.iter().map(|(name, value)| needle(name, value.as_bytes())).collect()
    }
}

/// Bytes that nobody can guess.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn needle(name: &str, bytes: &[u8]) -> Needle {
    Needle {
        name: name.to_owned(),
        len: bytes.len() as u32,
        sum: bytes.iter().map(|byte| u32::from(*byte)).fold(0, u32::wrapping_add),
        sha256: hex::encode(Sha256::digest(bytes)),
    }
}
