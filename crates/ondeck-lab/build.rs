//! Notes compiler, target and commit for the report.

use std::env;

use vergen_gitcl::{Cargo, Emitter, Gitcl, Rustc};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Outside a git checkout vergen leaves the commit unset, which is not an error.
    Emitter::default()
        .add_instructions(&Cargo::builder().opt_level(true).target_triple(true).build())?
        .add_instructions(&Rustc::builder().semver(true).build())?
        .add_instructions(&Gitcl::builder().sha(true).dirty(true).build())?
        .emit()?;
    println!(
        "cargo::rustc-env=ONDECK_TARGET_FEATURES={}",
        env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default()
    );
    // Cargo separates the flags by the unit separator.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default().replace('\u{1f}', " ");
    println!("cargo::rustc-env=ONDECK_RUSTFLAGS={flags}");
    Ok(())
}
