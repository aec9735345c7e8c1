//! What the build knew of itself, and the digest of the program that runs.

use std::{
    fs::File,
    io::{self, Read},
    sync::OnceLock,
};

use sha2::{Digest, Sha256};
use watertight_reports::predicate;

/// SHA-256 of this program's file. Probe, bridge, relays and fixtures are the same file.
pub fn sha256() -> Result<String, String> {
    static DIGEST: OnceLock<Result<String, String>> = OnceLock::new();
    DIGEST
        .get_or_init(|| {
            digest("/proc/self/exe").map_err(|error| format!("cannot read this program's own file: {error}"))
        })
        .clone()
}

/// SHA-256 of a file.
pub fn digest(path: impl AsRef<std::path::Path>) -> io::Result<String> {
    let (mut file, mut hasher) = (File::open(path)?, Sha256::new());
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hex::encode(hasher.finalize())),
            Ok(len) => hasher.update(&buffer[..len]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The program, as evidence names it.
pub fn harness() -> Result<predicate::Harness, String> {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Ok(predicate::Harness {
        version: env!("CARGO_PKG_VERSION").into(),
        sha256: sha256()?,
        commit: known(env!("WATERTIGHT_COMMIT")),
        dirty: known(env!("WATERTIGHT_DIRTY")).map(|text| text == "true"),
        cargo_lock_sha256: hex::encode(Sha256::digest(include_bytes!("../../Cargo.lock"))),
        rustc: env!("WATERTIGHT_RUSTC").into(),
        triple: env!("WATERTIGHT_TRIPLE").into(),
        build: env!("WATERTIGHT_BUILD").into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_knows_its_own_file_and_how_it_was_built() {
        let harness = harness().expect("readable");
        let own = std::fs::read(std::env::current_exe().expect("a path")).expect("readable");
        assert_eq!(harness.sha256, hex::encode(Sha256::digest(own)));
        assert_eq!(harness.cargo_lock_sha256.len(), 64);
        assert!(harness.rustc.starts_with("rustc 1."), "{}", harness.rustc);
        assert!(harness.triple.contains("linux"), "{}", harness.triple);
        assert!(["debug", "release"].contains(&harness.build.as_str()));
        assert!(harness.commit.is_none_or(|commit| commit.len() == 40));
    }
}
