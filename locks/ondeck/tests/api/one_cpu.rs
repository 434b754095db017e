//! Processes that may run on one CPU only, where a thread that polls would keep the owner from
//! running.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ondeck::platform::{Host, Linux, Platform};
use ondeck::spin::Polling;
use ondeck::{Condvar, Mutex};

use crate::again::{again, is_child};
use crate::seccomp::refuse_waits;
use crate::suite;
use crate::until::until;

/// Four seconds, longer than [`give_time`] takes: a thread that polled for that long would find the
/// lock unlocked.
const LONG: u32 = u32::MAX - 1;

/// Waits for three seconds, yielding the CPU to the other thread hundreds of times. The process
/// ends as soon as that thread tries to sleep, normally almost at once.
fn give_time() {
    (0..300).for_each(|_| thread::sleep(Duration::from_millis(10)));
}

static MUTEX: Mutex<u32> = Mutex::new(0);
static CHANGED: Condvar = Condvar::new();

/// Binds a child to one CPU from its start.
fn bind(child: &mut Command) {
    let cpu = Linux::affinity()[0];
    // SAFETY: one system call between fork and exec, and nothing is allocated.
    unsafe {
        child.pre_exec(move || {
            Linux::set_affinity(&[cpu]).map_err(|_| std::io::ErrorKind::Other.into())
        });
    }
}

/// Runs in a separate process. `wait` has to sleep, which the kernel refuses; that ends the
/// process. At the same time the calling thread performs the action that would end a wait without a
/// sleep.
fn sleeps(wait: fn(), end: fn()) {
    if !is_child() {
        let output = again(bind);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{told}");
        assert!(told.contains("ondeck: futex wait failed"), "{told}");
        return;
    }
    assert_eq!(Linux::cpus(), 1);
    // The result of the wait does not matter.
    let mut polling = Polling::default();
    (polling.budget, polling.watch) = (LONG, LONG);
    polling.install();
    let waiter = thread::spawn(move || {
        refuse_waits();
        wait();
    });
    end();
    waiter.join().expect("no panic");
}

#[test]
fn no_thread_polls_a_lock_where_there_is_one_cpu() {
    /// Whether the other thread's attempt will find the lock held.
    static HELD: AtomicBool = AtomicBool::new(false);
    sleeps(
        || {
            until(|| HELD.load(Ordering::Relaxed));
            *MUTEX.lock() += 1;
        },
        || {
            let guard = MUTEX.lock();
            HELD.store(true, Ordering::Relaxed);
            until(|| !Linux::bucket((&raw const MUTEX).addr()).is_at_rest());
            give_time();
            drop(guard);
        },
    );
}

#[test]
fn no_thread_watches_for_a_notification_where_there_is_one_cpu() {
    sleeps(
        || CHANGED.wait_while(&mut MUTEX.lock(), |count| *count == 0),
        || {
            until(|| !Linux::bucket((&raw const CHANGED).addr()).is_at_rest());
            give_time();
            *MUTEX.lock() = 1;
            CHANGED.notify_one();
        },
    );
}

#[test]
fn the_suite_passes_on_one_cpu() {
    suite::passes(&["condvar::", "mutex::", "parking::"], bind);
}
