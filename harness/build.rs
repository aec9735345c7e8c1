//! Stops a build that would give a program which cannot start in an empty root, and notes what the build knows of itself.

use std::{path::Path, process::Command};

fn main() {
    println!("cargo::rerun-if-env-changed=CARGO_CFG_TARGET_FEATURE");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let features = variable("CARGO_CFG_TARGET_FEATURE");
    if !features.split(',').any(|feature| feature == "crt-static") {
        println!(
            "cargo::error=watertight must be linked statically: build it in its own directory, whose .cargo/config.toml \
             asks for crt-static, with RUSTFLAGS and CARGO_ENCODED_RUSTFLAGS unset"
        );
    }
    let build = variable("PROFILE");
    // Whoever works on it builds often, and a build for every commit would be for nothing.
    let (commit, dirty) = if build == "release" { revision() } else { Default::default() };
    println!("cargo::rustc-env=WATERTIGHT_COMMIT={commit}");
    println!("cargo::rustc-env=WATERTIGHT_DIRTY={dirty}");
    println!("cargo::rustc-env=WATERTIGHT_RUSTC={}", output(&variable("RUSTC"), &["--version"]).unwrap_or_default());
    println!("cargo::rustc-env=WATERTIGHT_TRIPLE={}", variable("TARGET"));
    println!("cargo::rustc-env=WATERTIGHT_BUILD={build}");
}

/// The revision, and whether files differ from it; both empty where git cannot tell.
fn revision() -> (String, String) {
    let root = Path::new("..");
    for path in ["Cargo.toml", "Cargo.lock", "CONFORMANCE.md", ".cargo", ".git/index", ".git/logs/HEAD"] {
        if root.join(path).exists() {
            println!("cargo::rerun-if-changed=../{path}");
        }
    }
    for member in ["harness", "probes", "fixtures", "reference-impl", "reports"] {
        println!("cargo::rerun-if-changed=../{member}");
    }
    let commit = output("git", &["rev-parse", "HEAD"]);
    let status = output("git", &["status", "--porcelain", "--untracked-files=no"]);
    match (commit, status) {
        (Some(commit), Some(status)) => (commit, (!status.is_empty()).to_string()),
        _ => Default::default(),
    }
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
