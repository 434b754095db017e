//! Runs the calling test again in a child process, to test actions that a process performs only
//! once or that end it.

#![allow(dead_code, reason = "not every test that includes this file needs all of it")]

use std::process::{Command, Output};
use std::thread;

/// Set in the child.
const CHILD: &str = "ONDECK_TEST_CHILD";

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
    let output = child.output().expect("the child starts, and filters are allowed");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("running 1 test"), "the child runs one test: {told}");
    output
}

/// Checks that the calling test passes in a child process that `prepare` has configured. Returns
/// the child's output.
pub fn passes(prepare: impl FnOnce(&mut Command)) -> String {
    let output = again(prepare);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{told}{complained}", output.status);
    told
}

/// Runs the calling test, which is `test`, in a separate process.
pub fn alone(test: impl FnOnce()) {
    alone_with(&[], test);
}

/// As [`alone`], with these variables in the environment of that process.
pub fn alone_with(environment: &[(&str, &str)], test: impl FnOnce()) {
    if is_child() {
        return test();
    }
    passes(|child| _ = child.envs(environment.to_vec()));
}
