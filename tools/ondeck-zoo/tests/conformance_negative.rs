//! Broken locks against the conformance suite: each fails the property that it breaks, for the
//! intended reason.

#[path = "support/broken.rs"]
mod broken;
#[path = "support/conformance.rs"]
mod conformance;

use std::time::{Duration, Instant};

use broken::{
    ALWAYS_IN, IN_UNSAID, KEPT, NEVER_IN, NO_WAKE, NOWHERE, OPEN, TRACE, ThreeStates,
    WAITERS_FORGOTTEN,
};
use conformance::{Property, check};
use ondeck::platform::Native;

const HANG_AFTER: Duration = Duration::from_secs(2);

/// The lock fails `property`, and the report contains `what`.
#[track_caller]
fn fails<const BROKEN: u8>(property: Property, what: &str) {
    let told =
        check::<ThreeStates<Native, BROKEN>>(property, HANG_AFTER).expect_err("it is broken");
    assert!(told.starts_with(&format!("broken fails {property:?} with ")), "{told}");
    assert!(told.contains(what), "{told}");
}

#[test]
fn a_good_lock_fails_nothing() {
    for property in Property::ALL {
        check::<ThreeStates<Native, NOWHERE>>(property, HANG_AFTER).expect("it is not broken");
    }
}

#[test]
fn a_lock_that_does_nothing_fails_exclusion() {
    fails::<OPEN>(Property::Exclusion, "two threads were in at once");
}

#[test]
fn an_attempt_that_always_succeeds_fails_exclusion() {
    fails::<ALWAYS_IN>(Property::Exclusion, "two threads were in at once");
}

#[test]
fn lost_wakes_are_reported_as_a_hang() {
    fails::<NO_WAKE>(Property::Exclusion, "no progress");
    fails::<WAITERS_FORGOTTEN>(Property::Exclusion, "no progress");
}

#[test]
fn a_trace_that_stays_fails_exclusion() {
    fails::<TRACE>(Property::Exclusion, "not at rest after use");
}

#[test]
fn attempts_that_always_or_never_succeed_or_take_it_unsaid_fail_try_lock() {
    fails::<ALWAYS_IN>(Property::TryLock, "while it was held: attempt true");
    fails::<NEVER_IN>(Property::TryLock, "100 attempts at a free lock");
    fails::<IN_UNSAID>(Property::TryLock, "100 attempts at a free lock");
}

#[test]
fn a_hang_is_reported_after_the_patience_and_not_before() {
    let start = Instant::now();
    fails::<KEPT>(Property::Exclusion, "no progress");
    assert!(start.elapsed() >= HANG_AFTER);
}
