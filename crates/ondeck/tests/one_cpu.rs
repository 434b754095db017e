//! The suite in a process that may run on one CPU only, where polling would only keep the owner from
//! running.

#![allow(clippy::duplicate_mod, reason = "each of these files is a test of its own, too")]

#[path = "bucket_lock.rs"]
mod bucket_lock;
#[path = "condvar.rs"]
mod condvar;
#[path = "mutex.rs"]
mod mutex;
#[path = "parking.rs"]
mod parking;

use std::os::unix::process::CommandExt;
use std::process::Command;

use ondeck::platform::{Linux, Platform};
use ondeck::spin::Polling;

/// Set in the child.
const ONE_CPU: &str = "ONDECK_TEST_ONE_CPU";

#[test]
fn nobody_polls_where_there_is_one_cpu() {
    if std::env::var_os(ONE_CPU).is_some() {
        assert_eq!(Linux::cpus(), 1);
        // Whatever was wanted.
        Polling::default().install();
        let polling = Polling::current();
        assert_eq!((polling.budget, polling.watch), (0, 0));
    }
}

#[test]
fn the_suite_passes_on_one_cpu() {
    let cpu = Linux::affinity()[0];
    let mut child = Command::new(std::env::current_exe().expect("this program has a path"));
    child.args(["--skip", "the_suite_passes"]).env(ONE_CPU, "1");
    // SAFETY: one system call between fork and exec, and nothing is allocated.
    unsafe {
        child.pre_exec(move || {
            Linux::set_affinity(&[cpu]).map_err(|_| std::io::ErrorKind::Other.into())
        });
    }
    let output = child.output().expect("the child starts");
    assert!(
        output.status.success(),
        "{}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
