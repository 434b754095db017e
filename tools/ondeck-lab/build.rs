//! Passes the compiler and the target to the report. The command's build script passes the commit,
//! so that a new commit does not recompile this crate.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let rustc = Command::new(variable("RUSTC")).arg("--version").output();
    let version = rustc.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    // `rustc 1.95.0 (f2d3ce0bd 2026-03-21)`
    let version = version.ok().and_then(|line| line.split(' ').nth(1).map(str::to_owned));
    for (name, value) in [
        ("RUSTC", version.unwrap_or_default()),
        ("OPT_LEVEL", variable("OPT_LEVEL")),
        ("TARGET", variable("TARGET")),
        ("TARGET_FEATURES", variable("CARGO_CFG_TARGET_FEATURE")),
        // Cargo separates the flags by the unit separator.
        ("RUSTFLAGS", variable("CARGO_ENCODED_RUSTFLAGS").replace('\u{1f}', " ")),
    ] {
        println!("cargo::rustc-env=ONDECK_{name}={value}");
    }
}
