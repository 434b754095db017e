//! Runs the calling test once more in a child process: for what a process does only once, and for what ends
//! it.

use std::process::{Command, Output};
use std::thread;

/// Set in the child.
const CHILD: &str = "ONDECK_TEST_CHILD";

/// Whether this is the child.
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the calling test in a child process that `prepare` has configured.
pub fn again(prepare: impl FnOnce(&mut Command)) -> Output {
    let thread = thread::current();
    let test = thread.name().expect("the harness names its threads by the tests");
    let mut child = Command::new(std::env::current_exe().expect("this program has a path"));
    child.args([test, "--exact", "--nocapture"]).env(CHILD, "1");
    prepare(&mut child);
    let output = child.output().expect("the child starts");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("running 1 test"), "the child runs one test: {told}");
    output
}
