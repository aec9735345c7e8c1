//! Path filters: one that leaves out a file that a verdict depends on lets a change of it pass without a run.

use std::{fs, path::Path};

use serde_json::Value;

use crate::REPOSITORY;

/// Files that a verdict depends on and that a trigger's filters leave out.
pub fn uncovered(settings: &Value) -> Vec<String> {
    let patterns = |name: &str| {
        settings[name]
            .as_array()
            .map(|list| list.iter().map(|pattern| pattern.as_str().expect("a pattern")).collect::<Vec<_>>())
    };
    let (only, ignored) = (patterns("paths"), patterns("paths-ignore"));
    if only.is_none() && ignored.is_none() {
        return vec![];
    }
    let covered = |file: &str| {
        // The last pattern that fits decides; `!` takes out.
        let last = |patterns: &[&str]| {
            let fits = patterns.iter().rev().find(|pattern| fits(pattern.trim_start_matches('!'), file));
            fits.is_some_and(|pattern| !pattern.starts_with('!'))
        };
        only.as_deref().is_none_or(last) && !ignored.as_deref().is_some_and(last)
    };
    let files = files();
    let missing = files.iter().filter(|file| !covered(file));
    missing.map(|file| format!("a change of {file}, which a verdict depends on, is not covered")).collect()
}

/// Every file that the program, its tests or its evidence is made from: all but prose and what others published.
fn files() -> Vec<String> {
    let manifest = fs::read_to_string(Path::new(REPOSITORY).join("Cargo.toml")).expect("a workspace");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let members = manifest["workspace"]["members"].as_array().expect("members");
    let mut files = vec![];
    for root in
        members.iter().map(|member| member.as_str().expect("a path")).chain([".cargo", ".ci", ".github", "scripts"])
    {
        walk(Path::new(root), &mut files);
    }
    files.extend(["Cargo.toml", "Cargo.lock", "CONFORMANCE.md"].map(str::to_owned));
    assert!(files.len() > 100, "{files:?}");
    files
}

fn walk(directory: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(Path::new(REPOSITORY).join(directory)).expect("a directory") {
        let entry = entry.expect("an entry");
        let path = directory.join(entry.file_name());
        match entry.file_type().expect("a kind").is_dir() {
            true => walk(&path, files),
            false => files.push(path.to_str().expect("UTF-8").to_owned()),
        }
    }
}

/// Whether one of GitHub's patterns fits the whole of a path: `*` is any characters but `/`, `**` any at all.
fn fits(pattern: &str, path: &str) -> bool {
    if let Some(rest) = pattern.strip_prefix("**") {
        let rest = rest.strip_prefix('/').unwrap_or(rest);
        return (0..=path.len()).filter(|at| path.is_char_boundary(*at)).any(|at| fits(rest, &path[at..]));
    }
    if let Some(rest) = pattern.strip_prefix('*') {
        let end = path.find('/').unwrap_or(path.len());
        return (0..=end).filter(|at| path.is_char_boundary(*at)).any(|at| fits(rest, &path[at..]));
    }
    match (pattern.chars().next(), path.chars().next()) {
        (None, None) => true,
        (Some(wanted), Some(found)) if wanted == found => {
            fits(&pattern[wanted.len_utf8()..], &path[found.len_utf8()..])
        }
        _ => false,
    }
}

#[test]
fn a_pattern_fits_as_on_github() {
    for (pattern, path, expected) in [
        ("harness/**", "harness/src/main.rs", true),
        ("harness/**", "probes/src/lib.rs", false),
        ("**.md", "docs/a.md", true),
        ("**/a.md", "a.md", true),
        ("*.md", "docs/a.md", false),
        ("*", "Cargo.toml", true),
        ("**", ".ci/run", true),
    ] {
        assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
    }
}

#[test]
fn a_filter_is_right_only_where_it_lets_every_such_file_through() {
    let of = |filter: Value| uncovered(&filter).len();
    assert_eq!(of(Value::Null), 0);
    assert_eq!(of(serde_json::json!({ "paths": ["**"] })), 0);
    assert_eq!(of(serde_json::json!({ "paths-ignore": ["docs/**"] })), 0);
    assert_eq!(of(serde_json::json!({ "paths": ["**", "!CONFORMANCE.md"] })), 1);
    assert_eq!(of(serde_json::json!({ "paths-ignore": ["Cargo.lock"] })), 1);
    assert!(of(serde_json::json!({ "paths": ["harness/**"] })) > 100);
}
