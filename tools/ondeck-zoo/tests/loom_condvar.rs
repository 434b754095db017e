//! The condition variables of the portable locks under the loom model checker.
//!
//! Bounds: one waiter with every lock, and at most four involuntary switches in an execution, two
//! with this project's own; two waiters with some locks, with the numbers of switches below. Two
//! woken waiters that both poll for the lock exceed what loom can explore: see
//! `three_threads_bound` in `loom.rs`.

#[path = "support/loom_condvars.rs"]
mod loom_condvars;
#[path = "../../../locks/ondeck/tests/support/loom_platform.rs"]
mod loom_platform;

use loom_condvars::{Give, Notify, permits};
use loom_platform::{Loom, deeper};
use ondeck_zoo::{Origin, RawLock, Visitor, locks};

const WHEN: [Notify; 2] = [Notify::WithTheLock, Notify::AfterUnlock];

#[test]
fn one_waiter_loses_no_signal() {
    struct Check;
    impl Visitor<Loom> for Check {
        fn visit<L: RawLock<Loom>>(&mut self) {
            // This project's own takes more steps than loom can explore so deeply. Its own tests go
            // deeper where it matters.
            let switches = deeper(if L::INFO.origin == Origin::Own { 2 } else { 4 });
            for when in WHEN {
                permits::<L>(1, 2, Give::EachAlone, when, switches);
                permits::<L>(1, 1, Give::AllAtOnce, when, switches);
            }
        }
    }
    locks::for_each_hosted::<Loom>(&mut Check);
}

/// The most switches for one permit at a time, and for both at once.
fn two_waiters<L: RawLock<Loom>>(each_alone: usize, all_at_once: usize) {
    for when in WHEN {
        permits::<L>(2, 1, Give::EachAlone, when, deeper(each_alone));
        permits::<L>(2, 1, Give::AllAtOnce, when, deeper(all_at_once));
    }
}

#[test]
fn two_waiters_lose_no_signal_of_the_generic_condvar() {
    two_waiters::<locks::ThreeStateFutex<Loom>>(3, 3);
}

#[test]
fn two_waiters_lose_no_signal_of_the_one_that_moves_them() {
    two_waiters::<locks::LocklessThreeState<Loom>>(3, 3);
    two_waiters::<locks::LocklessFourState<Loom>>(2, 3);
}
