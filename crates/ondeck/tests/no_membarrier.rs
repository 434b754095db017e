//! The suite in processes in which membarrier(2) is refused, by a filter on system calls or by the
//! environment, and in which the kernel cannot wipe the table in a forked child. `halfway.rs` has processes
//! that are refused membarrier after it was granted, `stress.rs` has crowds under each refusal.
//!
//! The other test files are modules of this one. It runs them again in a child process, in which the refusal
//! is in force.

#![allow(clippy::duplicate_mod, reason = "each of these files is a test of its own, too")]

#[path = "condvar.rs"]
mod condvar;
#[path = "fork.rs"]
mod fork;
#[path = "lifetime.rs"]
mod lifetime;
#[path = "mutex.rs"]
mod mutex;
#[path = "parking.rs"]
mod parking;
#[path = "support/seccomp.rs"]
mod seccomp;

use std::process::Command;

use ondeck::platform::{Host, Linux};
use seccomp::Filter;

/// Set in a child: what is refused in it.
const REFUSED: &str = "ONDECK_TEST_REFUSED";

/// Runs every other test of this file in a child.
fn run_again(refused: &str, filter: Option<Filter>, environment: &[(&str, &str)]) {
    let mut child = Command::new(std::env::current_exe().expect("this program has a path"));
    child
        .args(["--skip", "the_suite_passes"])
        .env(REFUSED, refused)
        .env("ONDECK_TEST_ROUNDS", "500")
        .envs(environment.to_vec());
    if let Some(filter) = filter {
        filter.install_in(&mut child);
    }
    let output = child.output().expect("the child starts, and filters are allowed");
    assert!(
        output.status.success(),
        "{refused}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_fences_are_as_the_refusal_says() {
    match std::env::var(REFUSED).as_deref() {
        Ok("membarrier") => assert!(!Linux::fences_are_asymmetric()),
        // What the fences are depends on this machine.
        _ => _ = Linux::fences_are_asymmetric(),
    }
}

#[test]
fn the_suite_passes_where_a_filter_refuses_membarrier() {
    run_again("membarrier", Some(Filter::no_membarrier(libc::EPERM)), &[]);
}

#[test]
fn the_suite_passes_where_the_kernel_has_no_membarrier() {
    run_again("membarrier", Some(Filter::no_membarrier(libc::ENOSYS)), &[]);
}

#[test]
fn the_suite_passes_where_the_environment_refuses_membarrier() {
    run_again("membarrier", None, &[("ONDECK_NO_MEMBARRIER", "1")]);
}

#[test]
fn the_suite_passes_where_the_table_cannot_be_wiped_by_the_kernel() {
    let skip_bare_call = [("ONDECK_TEST_LIBRARY_FORK", "1")];
    run_again("wiping", Some(Filter::no_wiping()), &skip_bare_call);
}

#[test]
fn the_suite_passes_where_no_thread_polls() {
    run_again("polling", None, &[("ONDECK_SPIN", "0,0,0,0,0,0")]);
}
