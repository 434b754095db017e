//! Machines that keep one pairing of fences: each way to relax unlocks, and none.

use std::cell::Cell;
use std::rc::Rc;

use ondeck::platform::Platform;

use crate::condvar::{First, pair};
use crate::loom_platform::{
    Fences, Loom, Relaxes, Setting, asleep, join, pass_time, refuse, set, spawn,
};
use crate::mutex::{after_a_quiet_time, two_by_two, two_waiters};
use crate::scenario::{ASYMMETRIC, POLLS, SLEEPS, SOON, Shared, explore};

/// The machine whose kernel refuses membarrier: every unlock has a full fence.
const REFUSED: Setting = Setting { fences: Fences::Refused, ..SLEEPS };
/// The machine whose kernel refuses it from some moment on.
const REFUSED_LATER: Setting = Setting { fences: Fences::RefusedLater, ..SLEEPS };
/// The machine where records stay with their locks, so that `FENCED` and `LIGHT` take turns.
const TO_LIGHT: Setting = Setting { relaxes: Relaxes::ToLight, ..ASYMMETRIC };
/// The machine where nothing is relaxed once a thread has parked: `FENCED` although there are light fences.
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
fn unlocks_that_look_without_a_fence() {
    explore(TO_LIGHT, 3, two_by_two);
}

#[test]
fn unlocks_that_look_without_a_fence_after_a_quiet_time() {
    explore(TO_LIGHT, 4, after_a_quiet_time);
}

#[test]
fn unlocks_that_look_without_a_fence_for_two() {
    explore(TO_LIGHT, 1, two_waiters);
}

#[test]
fn heavy_fences_were_too_many() {
    explore(NEVER, 3, two_by_two);
}

/// A mutex for which a thread has parked, and none has parked for a while since. Where that is allowed, its
/// unlocks have no fences.
fn parked_once() -> &'static Shared {
    let shared = Shared::new();
    // The first unlock of a bucket looks at all records; from then on it is known which locks need a look.
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

/// An owner unlocks without a fence, while one thread parks with a heavy fence and leaves again. Then another
/// thread parks, for which a full fence is enough: the owner's store was made visible to that one, too.
#[test]
fn a_heavy_fence_is_over_before_the_unlock() {
    explore(TO_LIGHT, 2, || {
        let shared = parked_once();
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

/// Heavy fences are refused while an unlock without a fence of its own is under way. A thread that this
/// unlock misses looks again by itself.
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
        let shared = parked_once();
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

/// A thread polls and gives up, with a heavy fence, in a record at which unlocks do not look so far. Then
/// it parks. The owner unlocks without a fence.
#[test]
fn a_thread_gives_up_and_then_parks() {
    explore(Setting { polls: true, ..ASYMMETRIC }, 3, || {
        let shared = Shared::new();
        shared.lock_and_count();
        shared.lock();
        pass_time(1);
        let other = spawn(move || {
            let owner = shared.try_lock_until(SOON);
            if owner {
                shared.count();
                shared.unlock();
            }
            shared.lock_and_count();
            u32::from(owner)
        });
        shared.count();
        shared.unlock();
        let sections = join(other);
        shared.end(3 + sections);
    });
}

/// A waiter of a condition variable pins the mutex's record, with a heavy fence, and takes the pin back.
/// Then it parks for the mutex. The owner, which has read before its store that it needs no fence, unlocks.
#[test]
fn a_thread_pins_and_then_parks() {
    explore(TO_LIGHT, 3, || {
        let (shared, condition) = pair(First::Mutex);
        let waits = move || {
            shared.lock();
            shared.count();
            assert!(!condition.wait(shared, Some(SOON)), "no thread notifies");
            shared.unlock();
        };
        pass_time(1);
        waits();
        let other = spawn(waits);
        shared.lock_and_count();
        join(other);
        condition.end();
        shared.end(3);
    });
}

/// A thread parks after unlocks have lost their fences, and they do not get them back: there were many
/// unlocks since a thread parked.
#[test]
fn a_thread_parks_where_unlocks_have_no_fences() {
    explore(TO_LIGHT, 2, || {
        let shared = parked_once();
        shared.lock();
        let other = spawn(move || shared.lock_and_count());
        shared.count();
        shared.unlock();
        join(other);
        shared.end(4);
    });
}

/// An unlock lets later ones do without fences just when a thread parks with a full fence. The next unlock
/// sees that thread.
#[test]
fn unlocks_lose_their_fences_while_a_thread_parks() {
    explore(TO_LIGHT, 3, || {
        // So far unlocks have fences.
        set(NEVER);
        let shared = parked_once();
        set(TO_LIGHT);
        shared.lock();
        let parks = spawn(move || shared.lock_and_count());
        let next = spawn(move || {
            let owner = shared.try_lock();
            if owner {
                shared.count();
                shared.unlock();
            }
            u32::from(owner)
        });
        shared.unlock();
        join(parks);
        let sections = join(next);
        shared.end(3 + sections);
    });
}

/// A bucket's first unlocks look at all records. While a thread is parked for one lock, an unlock of
/// another lock finds that the bucket's unlocks may do less. The owner of the first lock then sees the
/// parked thread.
#[test]
fn an_unlock_learns_that_it_needs_no_fence_while_a_thread_sleeps() {
    explore(Setting { buckets: 1, ..ASYMMETRIC }, 3, || {
        let (shared, other) = (Shared::new(), Shared::new());
        shared.lock();
        let waiter = spawn(move || shared.lock_and_count());
        let beside = spawn(move || other.lock_and_count());
        shared.count();
        shared.unlock();
        join(waiter);
        join(beside);
        shared.end(2);
        other.end(1);
    });
}
