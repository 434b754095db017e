//! Broken locks under the model checker. If it does not notice them, its approval is worth nothing.

#[macro_use]
#[path = "support/noticed.rs"]
mod noticed;
#[path = "support/broken.rs"]
mod broken;
#[path = "../../../locks/ondeck/tests/support/loom_platform.rs"]
mod loom_platform;
#[path = "support/loom_scenario.rs"]
mod loom_scenario;

use broken::{
    ALWAYS_IN, NO_MARK, NO_WAKE, NOWHERE, RELAXED_LOCK, RELAXED_UNLOCK, TRACE, ThreeStates,
    WAITERS_FORGOTTEN,
};
use loom_platform::Loom;
use loom_scenario::{attempt, exclusion};

/// Two threads with two sections each.
fn two<const BROKEN: u8>() {
    exclusion::<ThreeStates<Loom, BROKEN>>(2, 2, 3);
}

#[test]
fn the_lock_without_a_mistake_passes() {
    two::<NOWHERE>();
    exclusion::<ThreeStates<Loom, NOWHERE>>(3, 1, 3);
    attempt::<ThreeStates<Loom, NOWHERE>>(3);
}

noticed! {
    fn a_relaxed_release_is_noticed, "Causality violation" => two::<RELAXED_UNLOCK>();
    fn a_relaxed_acquisition_is_noticed, "Causality violation" => two::<RELAXED_LOCK>();
    fn an_unlock_that_does_not_wake_is_noticed, "deadlock" => two::<NO_WAKE>();
    fn a_waiter_that_does_not_mark_is_noticed, "deadlock" => two::<NO_MARK>();
    /// Needs two sleeping threads and an owner: two threads do not suffice.
    fn a_woken_waiter_that_forgets_the_others_is_noticed, "deadlock" => {
        two::<WAITERS_FORGOTTEN>();
        exclusion::<ThreeStates<Loom, WAITERS_FORGOTTEN>>(3, 1, 3);
    };
    fn a_mark_that_stays_is_noticed, "a mark was left behind" =>
        exclusion::<ThreeStates<Loom, TRACE>>(2, 1, 2);
    fn an_attempt_that_always_succeeds_is_noticed, "Causality violation" =>
        attempt::<ThreeStates<Loom, ALWAYS_IN>>(3);
}
