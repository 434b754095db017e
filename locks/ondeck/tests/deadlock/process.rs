//! Detection in the process: switched by the environment, in children of forks, inside an
//! allocator.

use std::os::unix::process::ExitStatusExt;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ondeck::deadlock::{self, Mode, ReportKind};
use ondeck::{Mutex, RwLock};

use crate::again::{again, is_child, passes};
use crate::copy::{Fork, fork};
use crate::told::{detected, leaked};

fn deadlock() {
    let (left, right) = (leaked(Mutex::new(())), leaked(Mutex::new(())));
    let met = leaked(Barrier::new(2));
    let lock_both = move |first: &'static Mutex<()>, second: &'static Mutex<()>| {
        let _first = first.lock();
        met.wait();
        let _second = second.lock();
    };
    let other = thread::Builder::new().name("other".into());
    let other = other.spawn(move || lock_both(left, right)).unwrap();
    lock_both(right, left);
    other.join().unwrap();
}

#[test]
fn a_deadlock_aborts_if_the_environment_asks_for_it() {
    if is_child() {
        return deadlock();
    }
    let output = again(|child| _ = child.env("ONDECK_DEADLOCK", "abort"));
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        told.matches("ondeck: deadlock: 2 threads wait for each other").count(),
        1,
        "{told}"
    );
    assert_eq!(told.matches("has Mutex").count(), 2 + 2, "also of the inversion: {told}");
    assert!(told.contains("(other)") && told.contains("deadlock/process.rs:"), "{told}");
}

#[test]
fn the_environment_can_ask_for_reports() {
    if is_child() {
        let lock = RwLock::new(());
        let _outer = lock.read();
        let _inner = lock.read();
        return;
    }
    for (value, reports) in [("report", 1), ("off", 0), ("", 0)] {
        let output = again(|child| _ = child.env("ONDECK_DEADLOCK", value));
        assert!(output.status.success(), "{output:?}");
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(told.matches("ondeck: a read within a read").count(), reports, "{told}");
    }
}

#[test]
fn it_is_off_if_nothing_asks_for_it() {
    if is_child() {
        assert!(!deadlock::is_on());
        assert!(deadlock::check().is_empty());
        return;
    }
    passes(|child| _ = child.env_remove("ONDECK_DEADLOCK"));
}

#[test]
fn a_value_that_means_nothing_ends_the_program_before_it_begins() {
    let program = std::env::current_exe().expect("this program has a path");
    let mut child = std::process::Command::new(program);
    let output = child.arg("--list").env("ONDECK_DEADLOCK", "yes").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(told, "ondeck: ONDECK_DEADLOCK=yes: not a mode; it is report, abort or off\n");
    assert!(output.stdout.is_empty());
}

/// A fork while other threads are in the table.
#[test]
fn a_child_of_a_fork_goes_on_without_the_other_threads() {
    let Some(told) = detected() else { return };
    deadlock::enable(Mode::Abort);
    let (own, others) = (Mutex::new(()), Mutex::new(()));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let is_held = Mutex::new(());
                while !is_over.load(Ordering::Relaxed) {
                    let _held = is_held.lock();
                    drop(others.lock());
                }
            });
        }
        for _ in 0..20 {
            let guard = own.lock();
            fork(Fork::Library, || {
                assert!(deadlock::is_on());
                drop(guard);
                drop(own.lock());
                drop(RwLock::new(()).write());
                assert!(deadlock::check().is_empty());
            });
        }
        is_over.store(true, Ordering::Relaxed);
    });
    told.none();
}

#[test]
fn a_child_of_a_fork_has_no_deadlock_of_its_parents_threads() {
    let Some(_told) = detected() else { return };
    let is_told = leaked(AtomicBool::new(false));
    deadlock::on_report(|report| {
        is_told.fetch_or(report.kind == ReportKind::Deadlock, Ordering::Relaxed);
    });
    // Some forks come after a deadlock has begun and before the parent has reported it.
    for _ in 0..4 {
        is_told.store(false, Ordering::Relaxed);
        thread::spawn(deadlock);
        while !is_told.load(Ordering::Relaxed) {
            fork(Fork::Library, || assert!(deadlock::check().is_empty()));
        }
    }
}
