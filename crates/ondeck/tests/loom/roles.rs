//! The roles of waiting threads beyond poller and parked: near threads, pollers that lost their CPUs, threads
//! of a real-time class, locks that share a record.

use ondeck::parking;
use ondeck::platform::Platform;

use crate::condvar::{First, pair};
use crate::loom_platform::{Loom, Relaxes, Setting, asleep, join, pass_time, spawn};
use crate::mutex::{
    collision, fair_unlocks, free_after_last_section, the_owner_comes_again, three_by_one,
    two_by_two, two_waiters,
};
use crate::scenario::{
    ASYMMETRIC, NEAR, OVERDUE, POLLS, SLEEPS, SOON, STALE, Shared, explore, together,
};

#[test]
fn two_threads_near() {
    explore(NEAR, 3, two_by_two);
}

#[test]
fn three_threads_near() {
    explore(NEAR, 2, three_by_one);
}

#[test]
fn two_waiters_near() {
    explore(NEAR, 2, two_waiters);
}

#[test]
fn two_waiters_near_with_light_fences() {
    let setting = Setting { fences: ASYMMETRIC.fences, relaxes: Relaxes::ToLight, ..NEAR };
    explore(setting, 1, two_waiters);
}

#[test]
fn two_waiters_near_when_all_are_overdue() {
    explore(Setting { overdue: true, ..NEAR }, 2, two_waiters);
}

#[test]
fn the_owner_comes_again_beside_near_threads() {
    explore(NEAR, 1, the_owner_comes_again);
}

#[test]
fn fair_unlocks_to_near_threads() {
    explore(NEAR, 1, fair_unlocks);
}

#[test]
fn the_last_of_two_frees_the_mutex_near() {
    explore(NEAR, 4, || free_after_last_section(2));
}

#[test]
fn two_mutexes_in_one_bucket_near() {
    explore(Setting { buckets: 1, ..NEAR }, 1, collision);
}

#[test]
fn two_threads_whose_pollers_are_replaced() {
    explore(STALE, 3, two_by_two);
}

#[test]
fn three_threads_whose_pollers_are_replaced() {
    explore(STALE, 2, three_by_one);
}

#[test]
fn two_waiters_whose_pollers_are_replaced() {
    explore(STALE, 2, two_waiters);
}

#[test]
fn the_owner_comes_again_and_replaces_the_poller() {
    explore(STALE, 1, the_owner_comes_again);
}

#[test]
fn two_waiters_near_whose_pollers_are_replaced() {
    explore(Setting { near: true, ..STALE }, 1, two_waiters);
}

#[test]
fn two_waiters_with_light_fences_whose_pollers_are_replaced() {
    let setting = Setting { fences: ASYMMETRIC.fences, relaxes: Relaxes::ToLight, ..STALE };
    explore(setting, 1, two_waiters);
}

/// One thread waits until a deadline, another without one. If the first gives up or loses its place, the
/// other is not forgotten.
fn a_deadline_beside_a_waiter() {
    let shared = Shared::new();
    shared.lock();
    let hurried = spawn(move || {
        let owner = shared.try_lock_until(SOON);
        if owner {
            shared.count();
            shared.unlock();
        }
        u32::from(owner)
    });
    let patient = spawn(move || shared.lock_and_count());
    shared.count();
    shared.unlock();
    pass_time(1);
    let sections = join(hurried);
    join(patient);
    shared.end(2 + sections);
}

#[test]
fn a_deadline_near() {
    explore(NEAR, 2, a_deadline_beside_a_waiter);
}

#[test]
fn a_deadline_of_a_poller_that_is_replaced() {
    explore(STALE, 2, a_deadline_beside_a_waiter);
}

/// The end of a slice of sleep: if the poller or the thread in flight gets no CPU, a parked thread competes
/// by itself.
#[test]
fn slices_of_sleep_end() {
    /// Longer than the first slice.
    const SLICE: u64 = 50_000_000;
    for setting in [STALE, OVERDUE, SLEEPS] {
        explore(setting, 2, || {
            let shared = Shared::new();
            shared.lock();
            let waiters = [0; 2].map(|_| spawn(move || shared.lock_and_count()));
            shared.count();
            shared.unlock();
            pass_time(SLICE);
            waiters.into_iter().for_each(join);
            shared.end(3);
        });
    }
}

/// The first thread that is started is of a real-time class.
#[test]
fn an_urgent_thread_and_another() {
    explore(Setting { urgent: true, ..SLEEPS }, 2, two_waiters);
}

#[test]
fn an_urgent_thread_beside_a_poller() {
    explore(Setting { urgent: true, ..POLLS }, 2, two_waiters);
}

/// The real-time thread is woken first, though unlocks prefer the newest and it arrived before the other.
#[test]
fn an_urgent_thread_is_woken_first() {
    explore(Setting { urgent: true, ..SLEEPS }, 2, || {
        let shared = Shared::new();
        shared.lock();
        let start = || {
            spawn(move || {
                shared.lock();
                let turn = shared.count();
                shared.unlock();
                turn
            })
        };
        let urgent = start();
        while asleep() < 1 {
            Loom::yield_now();
        }
        let other = start();
        while asleep() < 2 {
            Loom::yield_now();
        }
        shared.unlock();
        let (urgent, other) = (join(urgent), join(other));
        assert!(urgent < other);
        shared.end(2);
    });
}

/// Three locks in a bucket that has records for two.
fn three_locks() {
    let locks = [Shared::new(), Shared::new(), Shared::new()];
    for shared in locks {
        shared.lock();
    }
    let others = locks.map(|shared| Box::new(move || shared.lock_and_count()) as Box<dyn FnOnce()>);
    let unlocks = move || {
        for shared in locks {
            shared.count();
            shared.unlock();
        }
    };
    together(unlocks, others);
    for shared in locks {
        shared.end(2);
    }
}

#[test]
fn three_locks_in_one_bucket_that_sleep() {
    explore(Setting { buckets: 1, ..SLEEPS }, 1, three_locks);
}

#[test]
fn three_locks_in_one_bucket_that_poll() {
    explore(Setting { buckets: 1, ..POLLS }, 1, three_locks);
}

#[test]
fn three_locks_in_one_bucket_with_light_fences() {
    explore(Setting { buckets: 1, ..ASYMMETRIC }, 1, three_locks);
}

#[test]
fn three_locks_in_one_bucket_that_are_overdue() {
    explore(Setting { buckets: 1, ..OVERDUE }, 1, three_locks);
}

/// An unpark and a move of several threads are one step: of two threads that are woken or moved together,
/// none is replaced by a thread that parks meanwhile.
fn while_a_thread_parks(requeues: bool) {
    let key = Box::leak(Box::new(0_u64));
    let from = std::ptr::from_mut(key).addr();
    let to = from + 1;
    for key in [from, to] {
        let _ = <Loom as ondeck::platform::Host>::bucket(key);
    }
    // SAFETY: no other lock uses the keys.
    let park = move || unsafe { parking::park::<Loom>(from, || true, || (), None) };
    let unpark = |key, most| {
        let mut rest = false;
        // SAFETY: as above.
        let told = unsafe { parking::unpark::<Loom>(key, most, |_, more| rest = more) };
        (told, rest)
    };
    let first = spawn(park);
    while asleep() < 1 {
        Loom::yield_now();
    }
    let second = spawn(park);
    let all = if requeues {
        // SAFETY: as above.
        let done = unsafe { parking::requeue::<Loom>(from, to, || true, 1, usize::MAX) };
        assert_eq!(done.woken, 1, "the first is woken");
        let (told, rest) = unpark(to, usize::MAX);
        assert_eq!((told, rest), (done.moved, false));
        done.woken + done.moved
    } else {
        let (told, rest) = unpark(from, usize::MAX);
        assert!(!rest);
        told
    };
    assert_eq!(join(first), parking::Parked::Woken);
    // The second thread is parked, or will be, unless it was among them.
    let mut late = all;
    while late < 2 {
        late += unpark(from, 1).0;
        Loom::yield_now();
    }
    assert_eq!(join(second), parking::Parked::Woken);
}

#[test]
fn a_thread_parks_while_others_are_unparked() {
    explore(SLEEPS, 3, || while_a_thread_parks(false));
}

#[test]
fn a_thread_parks_while_others_are_moved() {
    explore(SLEEPS, 3, || while_a_thread_parks(true));
}

/// A thread arrives at a lock whose record goes to another lock: it does not become the poller of that one.
#[test]
fn a_record_goes_to_another_lock_while_a_thread_arrives() {
    let setting = Setting { buckets: 1, relaxes: Relaxes::Never, ..POLLS };
    explore(setting, 2, || {
        let (shared, condition) = pair(First::Mutex);
        let (beside, next) = (Shared::new(), Shared::new());
        // A waiter that times out claims a record for its mutex, which no thread needs after that.
        let claim = |shared: &'static Shared| {
            shared.lock();
            condition.wait(shared, Some(SOON));
            shared.unlock();
        };
        pass_time(1);
        claim(shared);
        claim(beside);
        shared.lock();
        let arrives = spawn(move || shared.lock_and_count());
        claim(next);
        shared.unlock();
        join(arrives);
        condition.end();
        shared.end(1);
        beside.end(0);
        next.end(0);
    });
}
