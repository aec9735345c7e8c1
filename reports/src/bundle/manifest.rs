//! `SHA256SUMS`: every file under `payload/` with its digest, checkable with coreutils. What it does not list must not be there.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::transparency::merkle;

/// Files in one payload, at most.
pub const MAX_ENTRIES: usize = 20_000;
/// Bytes of one path, at most.
const MAX_PATH: usize = 200;

/// Digests by path under `payload/`, in the order of the paths' bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    pub entries: BTreeMap<String, [u8; 32]>,
}

/// Why a text is no manifest.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ManifestError {
    #[error("line {0} is not 64 lower-case hexadecimal digits, two spaces and a path, ended by a line feed")]
    Syntax(usize),
    #[error("line {line}: the path {path:?} leaves the payload or is not in its plain form")]
    Path { line: usize, path: String },
    #[error("line {0}: the path is not after the one before it, byte by byte")]
    Order(usize),
    #[error("line {line}: {path:?} differs from an earlier path only in case")]
    Case { line: usize, path: String },
    #[error("there are more than {MAX_ENTRIES} lines")]
    Long,
}

impl Manifest {
    /// The text: one line a file, sorted.
    pub fn text(&self) -> String {
        self.entries.iter().map(|(path, digest)| format!("{}  {path}\n", hex::encode(digest))).collect()
    }

    /// Reads a text strictly: one spelling for each manifest.
    pub fn parse(text: &[u8]) -> Result<Self, ManifestError> {
        let mut entries = BTreeMap::new();
        let mut folded = std::collections::BTreeSet::new();
        if text.is_empty() {
            return Ok(Self { entries });
        }
        let lines = text.strip_suffix(b"\n").ok_or(ManifestError::Syntax(text.split(|byte| *byte == b'\n').count()))?;
        let mut last: Option<String> = None;
        for (index, line) in lines.split(|byte| *byte == b'\n').enumerate() {
            let number = index + 1;
            if number > MAX_ENTRIES {
                return Err(ManifestError::Long);
            }
            let (digest, path) = entry(line).ok_or(ManifestError::Syntax(number))?;
            if !plain(path) {
                return Err(ManifestError::Path { line: number, path: path.to_owned() });
            }
            if last.as_deref().is_some_and(|last| last.as_bytes() >= path.as_bytes()) {
                return Err(ManifestError::Order(number));
            }
            if !folded.insert(path.to_ascii_lowercase()) {
                return Err(ManifestError::Case { line: number, path: path.to_owned() });
            }
            last = Some(path.to_owned());
            entries.insert(path.to_owned(), digest);
        }
        Ok(Self { entries })
    }

    /// SHA-256 of the text.
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.text()).into()
    }

    /// Root of the Merkle tree (RFC 6962, section 2.1) over the lines without their line feeds.
    pub fn merkle_root(&self) -> [u8; 32] {
        let line = |(path, digest): (&String, &[u8; 32])| merkle::leaf(format!("{}  {path}", hex::encode(digest)));
        *merkle::root(&self.entries.iter().map(line).collect::<Vec<_>>()).as_bytes()
    }
}

/// Digest and path of a line.
fn entry(line: &[u8]) -> Option<([u8; 32], &str)> {
    let line = std::str::from_utf8(line).ok()?;
    let (digest, path) = line.split_once("  ")?;
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if digest.len() != 64 || !digest.bytes().all(lower) || path.is_empty() || path.len() > MAX_PATH {
        return None;
    }
    let mut bytes = [0; 32];
    hex::decode_to_slice(digest, &mut bytes).ok()?;
    path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte)).then_some((bytes, path))
}

/// Relative, and every part a name of its own.
fn plain(path: &str) -> bool {
    path.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(path: &str) -> String {
        format!("{}  {path}\n", "0a".repeat(32))
    }

    fn parse(text: &str) -> Result<Manifest, ManifestError> {
        Manifest::parse(text.as_bytes())
    }

    #[test]
    fn a_manifest_comes_back_as_it_was_and_is_sorted_by_bytes() {
        let paths = ["plan.json", "launches/0/launch.json", "launches/10/probe.jsonl", "launches/2/a-b_c"];
        let manifest = Manifest { entries: paths.iter().map(|path| ((*path).to_owned(), [7; 32])).collect() };
        let text = manifest.text();
        assert_eq!(parse(&text), Ok(manifest));
        let sorted: Vec<&str> = text.lines().map(|line| &line[66..]).collect();
        assert!(sorted.windows(2).all(|two| two[0].as_bytes() < two[1].as_bytes()));
    }

    #[test]
    fn only_one_spelling_is_a_manifest() {
        assert_eq!(parse(""), Ok(Manifest::default()));
        for wrong in [
            "\n".to_owned(),
            line("a").trim_end().to_owned(),
            line("a").to_uppercase(),
            line("a").replace("  ", " "),
            line("a").replace("  ", " *"),
            format!("\\{}", line("a\\nb")),
            line("a b"),
            line("ä"),
            line(&"a".repeat(201)),
            format!("{}\r\n", line("a").trim_end()),
            format!("{}\n", line("a")),
            line(""),
        ] {
            assert!(matches!(parse(&wrong), Err(ManifestError::Syntax(_))), "{wrong:?}");
        }
    }

    #[test]
    fn paths_stay_in_the_payload() {
        for wrong in ["/etc/passwd", "../x", "a/../b", "a//b", "a/", "./a", ".", "a/."] {
            assert!(matches!(parse(&line(wrong)), Err(ManifestError::Path { .. })), "{wrong:?}");
        }
    }

    #[test]
    fn paths_come_once_in_order_and_in_one_case() {
        assert_eq!(parse(&(line("b") + &line("a"))), Err(ManifestError::Order(2)));
        assert_eq!(parse(&(line("a") + &line("a"))), Err(ManifestError::Order(2)));
        assert!(matches!(parse(&(line("A") + &line("a"))), Err(ManifestError::Case { line: 2, .. })));
    }

    #[test]
    fn a_manifest_has_an_end() {
        let long: String = (0..=MAX_ENTRIES).map(|number| line(&format!("{number:08}"))).collect();
        assert_eq!(parse(&long), Err(ManifestError::Long));
    }
}
