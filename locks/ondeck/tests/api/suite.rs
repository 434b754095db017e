//! Runs tests of this program again in a child process whose environment differs.

use std::process::Command;

/// Checks that the tests with these names or name prefixes pass in a child process that `prepare`
/// has configured.
pub fn passes(tests: &[&str], prepare: impl FnOnce(&mut Command)) {
    let mut child = Command::new(std::env::current_exe().expect("this program has a path"));
    child.args(tests);
    prepare(&mut child);
    let output = child.output().expect("the child starts, and filters are allowed");
    let told = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{told}{complained}", output.status);
    for name in tests {
        assert!(told.contains(&format!("\ntest {name}")), "no test of {name} has run: {told}");
    }
}
