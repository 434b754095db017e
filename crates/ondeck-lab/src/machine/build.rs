//! A description of this build, for the report.

use crate::results::Build;

/// Describes the program that is running.
pub fn build() -> Build {
    let known = |value: &str| {
        (!value.is_empty() && !value.starts_with("VERGEN_")).then(|| value.to_owned())
    };
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rustc: env!("VERGEN_RUSTC_SEMVER").to_owned(),
        profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
        opt_level: env!("VERGEN_CARGO_OPT_LEVEL").to_owned(),
        rustflags: option_env!("ONDECK_RUSTFLAGS").unwrap_or_default().to_owned(),
        target: env!("VERGEN_CARGO_TARGET_TRIPLE").to_owned(),
        target_features: option_env!("ONDECK_TARGET_FEATURES").unwrap_or_default().to_owned(),
        commit: option_env!("VERGEN_GIT_SHA").and_then(known).map(|commit| {
            let dirty = option_env!("VERGEN_GIT_DIRTY") == Some("true");
            if dirty { format!("{commit}-dirty") } else { commit }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_is_known() {
        assert!(!build().rustc.is_empty());
    }
}
