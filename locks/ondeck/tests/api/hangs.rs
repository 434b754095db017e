//! A test whose thread waits for a thread that has panicked ends, and prints the reason.

use std::time::Duration;

use ondeck::Mutex;

use crate::again::{again, is_child};
use crate::watchdog::scope_within;

/// The message of the panic.
const WHY: &str = "the test's own panic";

/// Locks, like a thread that waits forever.
#[inline(never)]
fn waits_for_ever(mutex: &Mutex<()>) {
    drop(mutex.lock());
}

/// A test that waits for a thread that panics with the lock.
fn hang(limit: Duration, panics: impl FnOnce() + Send, body: impl FnOnce()) {
    let mutex = Mutex::new(());
    std::mem::forget(mutex.lock());
    scope_within(limit, |scope| {
        scope.spawn(|| waits_for_ever(&mutex));
        scope.spawn(panics);
        body();
    });
}

/// The child ends with the panic's message, and with the stack of the waiting thread.
fn is_said(test: impl FnOnce()) {
    if is_child() {
        return test();
    }
    let output = again(|_| ());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(said.contains("hung: a scope of hangs::"), "{said}");
    assert!(said.contains("a panic before that: ") && said.contains(WHY), "{said}");
    assert!(said.contains("waits_for_ever"), "{said}");
}

#[test]
fn a_panic_in_a_scope_ends_the_process_and_names_the_thread_that_waits() {
    is_said(|| hang(Duration::from_secs(16), || (), || panic!("{WHY}")));
}

#[test]
fn a_panic_of_a_thread_does_too() {
    is_said(|| hang(Duration::from_secs(2), || panic!("{WHY}"), || ()));
}
