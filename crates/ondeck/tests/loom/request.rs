//! The request of a heir, and an unlock that reads it behind its store: Dekker's pattern, with each pair of fences.

use crate::condvar::{First, pair};
use crate::loom_platform::{Fences, Setting, join, refuse, spawn};
use crate::scenario::{ASYMMETRIC, SLEEPS, Shared, explore, together};

/// The machine whose kernel refuses membarrier from some moment on.
const REFUSED_LATER: Setting = Setting { fences: Fences::RefusedLater, ..SLEEPS };

/// The owner unlocks while a heir asks.
fn asks() {
    let shared = Shared::new();
    shared.lock();
    let heir = move || shared.lock_and_count();
    let unlock = move || {
        shared.count();
        shared.unlock();
    };
    together(unlock, [Box::new(heir) as _]);
    shared.end(2);
}

/// With all the orders of a load and a write that loom forgets: see `support/loom_readers.rs`.
#[test]
fn an_unlock_sees_the_request_or_the_heir_sees_the_unlock() {
    for fences in [Fences::Full, Fences::Asymmetric] {
        explore(Setting { fences, remembers: true, ..SLEEPS }, 3, asks);
    }
}

#[test]
fn a_heavy_fence_is_enough() {
    explore(ASYMMETRIC, 6, asks);
}

/// Two threads ask, one after the other.
#[test]
fn a_heavy_fence_is_enough_for_two() {
    explore(ASYMMETRIC, 3, || {
        let shared = Shared::new();
        let once = move || shared.lock_and_count();
        together(once, [Box::new(once) as _, Box::new(once) as _]);
        shared.end(3);
    });
}

/// Heavy fences are refused while an unlock without a fence of its own is under way. A heir that this unlock misses looks
/// again by itself.
#[test]
fn heavy_fences_are_refused_in_the_middle() {
    explore(REFUSED_LATER, 4, || {
        let shared = Shared::new();
        shared.lock();
        let other = spawn(move || {
            refuse();
            shared.lock_and_count();
        });
        shared.count();
        shared.unlock();
        join(other);
        shared.end(2);
    });
}

/// A waiter is moved to the mutex while its owner unlocks.
#[test]
fn an_unlock_beside_a_notification() {
    explore(ASYMMETRIC, 3, || {
        let (shared, condition) = pair(First::Mutex);
        let waiter = spawn(move || condition.wait_for_count(shared));
        let owner = spawn(move || shared.lock_and_count());
        shared.lock_and_count();
        condition.0.notify_one();
        join(owner);
        join(waiter);
        condition.end();
        shared.end(2);
    });
}
