//! Stops a build that would give a program which cannot start in an empty root.

fn main() {
    println!("cargo::rerun-if-env-changed=CARGO_CFG_TARGET_FEATURE");
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    if !features.split(',').any(|feature| feature == "crt-static") {
        println!(
            "cargo::error=watertight must be linked statically: build it in its own directory, whose .cargo/config.toml \
             asks for crt-static, with RUSTFLAGS and CARGO_ENCODED_RUSTFLAGS unset"
        );
    }
}
