//! A lock that is handed over on demand: a sleeper is overdue, and others are always faster.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::loom_platform::{Loom, Setting, asleep, join, spawn};
use crate::scenario::{ASYMMETRIC, OVERDUE, Shared, explore};

/// What a byte of attention says while a lock is to be handed over.
const HAND_OVER: u8 = 3;

fn attention(shared: &Shared) -> u8 {
    Loom::attention(shared.address()).load(Ordering::Relaxed)
}

/// One sleeps, and another comes just when the first thread releases the mutex.
fn one_sleeps_and_one_is_fast() {
    let shared = Shared::new();
    shared.lock();
    let sleeper = spawn(move || shared.lock_and_count());
    while asleep() < 1 {
        Loom::yield_now();
    }
    let fast = spawn(move || shared.lock_and_count());
    shared.count();
    shared.unlock();
    shared.lock_and_count();
    join(sleeper);
    join(fast);
    // Whoever was asked after the sleeper had gone has nobody to hand the lock to.
    shared.lock_and_count();
    assert_ne!(attention(shared), HAND_OVER, "what was asked for is done");
    shared.end(5);
}

#[test]
fn owners_hand_the_lock_over() {
    explore(OVERDUE, 2, one_sleeps_and_one_is_fast);
}

#[test]
fn owners_hand_the_lock_over_with_light_fences() {
    explore(Setting { overdue: true, ..ASYMMETRIC }, 1, one_sleeps_and_one_is_fast);
}

/// The demand is for one mutex; the owner of another of the same bucket releases that.
#[test]
fn of_another_lock_in_the_bucket() {
    explore(Setting { buckets: 1, ..OVERDUE }, 2, || {
        let (shared, other) = (Shared::new(), Shared::new());
        shared.lock();
        let sleeper = spawn(move || shared.lock_and_count());
        while asleep() < 1 {
            Loom::yield_now();
        }
        let fast = spawn(move || shared.lock_and_count());
        shared.count();
        shared.unlock();
        other.lock_and_count();
        join(sleeper);
        join(fast);
        shared.end(3);
        other.end(1);
    });
}
