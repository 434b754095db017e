//! A description of this build, for the report.

use crate::results::Build;

/// Describes the running program, which was built from that commit.
pub fn build(commit: Option<String>) -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rustc: env!("ONDECK_RUSTC").to_owned(),
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
        opt_level: env!("ONDECK_OPT_LEVEL").to_owned(),
        rustflags: option_env!("ONDECK_RUSTFLAGS").unwrap_or_default().to_owned(),
        target: env!("ONDECK_TARGET").to_owned(),
        target_features: env!("ONDECK_TARGET_FEATURES").to_owned(),
        commit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_known() {
        assert!(build(None).rustc.starts_with(|first: char| first.is_ascii_digit()));
    }
}
