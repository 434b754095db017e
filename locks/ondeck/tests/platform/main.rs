//! The Linux platform: its guarantees to the locks, and its behaviour if the kernel refuses
//! something. Actions that a process performs only once, or cannot survive, are tested in child
//! processes (`support/again.rs`).

#[path = "../support/again.rs"]
mod again;
#[path = "../support/dekker.rs"]
mod dekker;
#[path = "../support/keys.rs"]
mod keys;
#[path = "../support/seccomp.rs"]
mod seccomp;
#[path = "../support/watchdog.rs"]
mod watchdog;

mod aborts;
mod cpus;
mod environment;
mod fences;
mod foreign_futex;
mod futex;
mod halfway;
mod machine;
mod prepare;
mod refusals;
mod registration;
mod sampling;

use ondeck::platform::{Fences, Linux};

/// Runs the calling test, which is `test`, in a separate process with these variables in its
/// environment, if the kernel grants membarrier.
fn alone_with_membarrier(environment: &[(&str, &str)], test: impl FnOnce()) {
    if again::is_child() || Linux::fences_are_asymmetric() {
        return again::alone_with(environment, test);
    }
    println!("skipped: needs membarrier");
}
