//! The pairings of fences that a machine stays in: each way to relax, and none.

use std::cell::Cell;
use std::rc::Rc;

use ondeck::platform::Platform;

use crate::loom_platform::{
    Fences, Loom, Relaxes, Setting, asleep, join, pass_time, refuse, spawn,
};
use crate::mutex::{after_a_quiet_time, two_by_two, two_waiters};
use crate::scenario::{ASYMMETRIC, POLLS, SLEEPS, SOON, Shared, explore};

/// The machine whose kernel refuses membarrier: every unlock has a full fence.
const REFUSED: Setting = Setting { fences: Fences::Refused, ..SLEEPS };
/// The one whose kernel refuses it from some moment on.
const REFUSED_LATER: Setting = Setting { fences: Fences::RefusedLater, ..SLEEPS };
/// Where records stay their locks', so that `FENCED` and `LIGHT` take turns.
const TO_LIGHT: Setting = Setting { relaxes: Relaxes::ToLight, ..ASYMMETRIC };
/// Where nothing is relaxed once a thread has parked: `FENCED` with light fences about.
const NEVER: Setting = Setting { relaxes: Relaxes::Never, ..ASYMMETRIC };

#[test]
fn without_membarrier_two_threads_sleep() {
    explore(REFUSED, 3, two_by_two);
}

#[test]
fn without_membarrier_two_threads_poll() {
    explore(Setting { fences: Fences::Refused, ..POLLS }, 3, two_by_two);
}

#[test]
fn without_membarrier_two_waiters_sleep() {
    explore(REFUSED, 2, two_waiters);
}

#[test]
fn releases_that_look_without_a_fence() {
    explore(TO_LIGHT, 3, two_by_two);
}

#[test]
fn releases_that_look_without_a_fence_after_a_quiet_time() {
    explore(TO_LIGHT, 4, after_a_quiet_time);
}

#[test]
fn releases_that_look_without_a_fence_for_two() {
    explore(TO_LIGHT, 1, two_waiters);
}

#[test]
fn heavy_fences_were_too_many() {
    explore(NEVER, 3, two_by_two);
}

/// A mutex whose unlocks have no fences, because threads have parked for it and then for a while did not.
fn relaxed() -> &'static Shared {
    let shared = Shared::new();
    // The first unlock of a bucket looks at all; from then on it is known who needs one.
    shared.lock_and_count();
    shared.lock();
    let first = spawn(move || shared.lock_and_count());
    while asleep() < 1 {
        Loom::yield_now();
    }
    shared.unlock();
    join(first);
    shared
}

/// An owner unlocks that has no fence, while one thread parks with a heavy fence and goes again, and then
/// another parks, for which a full one is enough: the owner's store was made visible to that one, too.
#[test]
fn a_heavy_fence_is_over_before_the_unlock() {
    explore(TO_LIGHT, 2, || {
        let shared = relaxed();
        shared.lock();
        let gone = Rc::new(Cell::new(false));
        let hurried = spawn({
            let gone = Rc::clone(&gone);
            move || {
                let owner = shared.try_lock_until(SOON);
                if owner {
                    shared.unlock();
                }
                gone.set(true);
            }
        });
        let patient = spawn(move || {
            while asleep() < 1 && !gone.get() {
                Loom::yield_now();
            }
            pass_time(1);
            while !gone.get() {
                Loom::yield_now();
            }
            shared.lock_and_count();
        });
        shared.unlock();
        join(hurried);
        join(patient);
        shared.end(3);
    });
}

/// Heavy fences are refused while an unlock without a fence of its own is under way: the thread that it
/// misses looks again.
#[test]
fn heavy_fences_are_refused_in_the_middle() {
    explore(REFUSED_LATER, 3, || {
        let shared = Shared::new();
        shared.lock_and_count();
        shared.lock();
        let other = spawn(move || {
            refuse();
            shared.lock_and_count();
        });
        shared.count();
        shared.unlock();
        join(other);
        shared.end(3);
    });
}

#[test]
fn heavy_fences_are_refused_once_one_was_made() {
    explore(Setting { relaxes: Relaxes::ToLight, ..REFUSED_LATER }, 2, || {
        let shared = relaxed();
        shared.lock();
        let other = spawn(move || {
            refuse();
            shared.lock_and_count();
        });
        shared.count();
        shared.unlock();
        join(other);
        shared.end(4);
    });
}
