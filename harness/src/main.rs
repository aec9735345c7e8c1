//! The program: one executable that is harness, probe, bridge, relays, sandbox and world.

use std::process::ExitCode;

fn main() -> ExitCode {
    watertight::commands::main()
}
