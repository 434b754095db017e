//! Runs the tests of the interfaces in processes in which membarrier(2) is refused, by a filter on
//! system calls or by the environment; in which the kernel cannot wipe the table in a forked child;
//! and in which no thread polls. In `platform/halfway.rs` membarrier is refused after it was
//! granted.

use ondeck::platform::{Fences, Linux};

use crate::seccomp::Filter;
use crate::suite::passes;

/// Set in a child, to the call that is refused in it.
const REFUSED: &str = "ONDECK_TEST_REFUSED";

/// The modules whose tests run again, and the one test of this module that depends on the refusal.
const TESTS: [&str; 7] = [
    "condvar::",
    "fork::",
    "lifetime::",
    "mutex::",
    "parking::",
    "rwlock::",
    "no_membarrier::the_fences_are_as_the_refusal_says",
];

/// The tests pass in a child.
fn run_again(refused: &str, filter: Option<Filter>, environment: &[(&str, &str)]) {
    passes(&TESTS, |child| {
        child.env(REFUSED, refused).env("ONDECK_TEST_ROUNDS", "500").envs(environment.to_vec());
        if let Some(filter) = filter {
            filter.install_in(child);
        }
    });
}

#[test]
fn the_fences_are_as_the_refusal_says() {
    match std::env::var(REFUSED).as_deref() {
        Ok("membarrier") => assert!(!Linux::fences_are_asymmetric()),
        // The kind of fences depends on this machine.
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
