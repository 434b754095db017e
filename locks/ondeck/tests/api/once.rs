//! The once as programs use it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ondeck::once::OnceState;
use ondeck::{LazyLock, Once, OnceLock};

use crate::line::until_waiting;
use crate::rest::until_at_rest;
use crate::until::until;

use super::watchdog;

const SHORT: Duration = Duration::from_millis(5);

/// Runs a closure that panics.
fn poison(once: &Once) {
    let panics = catch_unwind(|| once.call_once(|| panic!("on purpose")));
    assert!(panics.is_err());
}

#[test]
fn it_is_one_byte_and_constant() {
    static ONCE: Once = Once::new();
    assert!(
        size_of_val(&ONCE) == 1 || cfg!(any(feature = "deadlock_detection", feature = "stats"))
    );
    assert_eq!(ONCE.state(), OnceState::New);
    ONCE.call_once(|| assert_eq!(ONCE.state(), OnceState::InProgress));
    assert!(ONCE.state().done() && ONCE.is_completed());
    ONCE.call_once(|| unreachable!());
    ONCE.call_once_force(|_| unreachable!());
}

#[test]
fn a_panic_poisons_until_a_forced_closure_ends() {
    let once = Once::new();
    poison(&once);
    assert!(once.state().poisoned() && once.state().is_poisoned());
    let refused = catch_unwind(|| once.call_once(|| unreachable!()));
    assert!(refused.is_err(), "a poisoned once panics");
    let waits = catch_unwind(|| once.wait());
    assert!(waits.is_err(), "so does a wait");
    let again = catch_unwind(|| {
        once.call_once_force(|state| {
            assert!(state.poisoned());
            panic!("again");
        });
    });
    assert!(again.is_err() && once.state().poisoned());
    once.call_once_force(|state| assert_eq!(state, OnceState::Poisoned));
    assert!(once.is_completed());
    once.wait();
}

#[test]
fn a_forced_closure_is_told_that_it_is_the_first() {
    let once = Once::new();
    once.call_once_force(|state| assert_eq!(state, OnceState::New));
    assert!(once.is_completed());
}

/// A thread that waits while a closure panics gets the error.
#[test]
fn a_waiter_of_a_closure_that_panics_panics() {
    let (once, go) = (Once::new(), AtomicBool::new(false));
    watchdog::scope(|scope| {
        let runs = scope.spawn(|| {
            once.call_once(|| {
                until(|| go.load(Ordering::Relaxed));
                panic!("on purpose");
            });
        });
        until(|| once.state() == OnceState::InProgress);
        let caller = scope.spawn(|| once.call_once(|| unreachable!()));
        let waiter = scope.spawn(|| once.wait());
        let patient = scope.spawn(|| once.wait_force());
        until_waiting(&raw const once, 3);
        go.store(true, Ordering::Relaxed);
        assert!(runs.join().is_err());
        assert!(caller.join().is_err() && waiter.join().is_err());
        until_waiting(&raw const once, 1);
        once.call_once_force(|_| ());
        patient.join().expect("it waits on");
    });
    until_at_rest(&raw const once);
}

#[test]
#[cfg(debug_assertions)]
fn a_closure_that_calls_its_own_once_is_told() {
    let once = Once::new();
    let caught = catch_unwind(AssertUnwindSafe(|| once.call_once(|| once.call_once(|| ()))));
    let message = *caught.expect_err("a deadlock").downcast::<String>().expect("a message");
    // A lock is named by the address of its state, which a word for its name may come before.
    let begin = (&raw const once).addr();
    let names = |address| message.contains(&format!("{address:#x}"));
    assert!(message.contains("deadlock") && (begin..begin + size_of::<Once>()).any(names));
    assert!(once.state().poisoned());
    // Another thread's once at the same address is not a recursion.
    once.call_once_force(|_| ());
    let waits = catch_unwind(AssertUnwindSafe(|| {
        let other = Once::new();
        other.call_once(|| other.wait());
    }));
    assert!(waits.is_err());
}

#[test]
fn a_closure_waits_for_its_own_once_until_a_deadline() {
    let once = Once::new();
    once.call_once(|| assert!(!once.wait_for(SHORT)));
    assert!(once.is_completed());
}

#[test]
fn one_once_may_use_another() {
    let (outer, inner) = (Once::new(), Once::new());
    outer.call_once(|| inner.call_once(|| ()));
    assert!(outer.is_completed() && inner.is_completed());
}

#[test]
fn the_value_types_are_those_of_the_standard_library() {
    static LAZY: LazyLock<Arc<u32>> = LazyLock::new(|| Arc::new(3));
    static LOCK: OnceLock<u32> = OnceLock::new();
    let same: &std::sync::OnceLock<u32> = &LOCK;
    assert_eq!((**LAZY, *same.get_or_init(|| 4)), (3, 4));
}

#[test]
fn one_that_is_made_done_runs_no_closure() {
    static ONCE: Once = Once::new_completed();
    ONCE.call_once(|| unreachable!());
    ONCE.wait();
    assert_eq!(ONCE.state(), OnceState::Done);
}

/// As the functions for C call them.
#[test]
fn an_initialization_that_is_given_up_begins_again() {
    let once = Once::new();
    for done in [false, true] {
        assert!(once.begin());
        // SAFETY: it has begun.
        unsafe { once.end(done) };
        assert_eq!((once.is_completed(), once.state().poisoned()), (done, !done));
    }
    assert!(!once.begin());
}
