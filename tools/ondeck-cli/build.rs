//! Passes the commit to the report.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Git appends to this file with each commit, checkout and reset.
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    if let Some(log) = log.filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    let commit = git(&["rev-parse", "--short", "HEAD"]).map(|commit| {
        let is_dirty = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
        if is_dirty { format!("{commit}-dirty") } else { commit }
    });
    // Outside a git checkout there is none.
    println!("cargo::rustc-env=ONDECK_COMMIT={}", commit.unwrap_or_default());
}

/// The output of git; `None` if it fails.
fn git(arguments: &[&str]) -> Option<String> {
    // A status that refreshes the index would wait for another git.
    let output =
        Command::new("git").env("GIT_OPTIONAL_LOCKS", "0").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
