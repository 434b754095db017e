//! Lock, unlock and attempts.

use crate::loom_platform::Setting;
use crate::scenario::{ASYMMETRIC, HANDED, POLLS, SLEEPS, Shared, explore, together};

/// Two threads with two sections each.
pub fn two_by_two() {
    let shared = Shared::new();
    let twice = move || {
        shared.lock_and_count();
        shared.lock_and_count();
    };
    together(twice, [Box::new(twice) as _]);
    shared.end(4);
}

/// Three threads with one section each.
pub fn three_by_one() {
    let shared = Shared::new();
    let once = move || shared.lock_and_count();
    together(once, [Box::new(once) as _, Box::new(once) as _]);
    shared.end(3);
}

/// Two threads wait from the start: the first thread owns the mutex until both have been started.
pub fn two_waiters() {
    let shared = Shared::new();
    shared.lock();
    let once = move || shared.lock_and_count();
    let unlock = move || {
        shared.count();
        shared.unlock();
    };
    together(unlock, [Box::new(once) as _, Box::new(once) as _]);
    shared.end(3);
}

#[test]
fn two_threads_that_sleep() {
    explore(SLEEPS, 4, two_by_two);
}

#[test]
fn two_threads_that_poll() {
    explore(POLLS, 3, two_by_two);
}

#[test]
fn two_threads_that_are_handed_the_lock() {
    explore(HANDED, 4, two_by_two);
}

#[test]
fn three_threads_that_sleep() {
    explore(SLEEPS, 2, three_by_one);
}

#[test]
fn three_threads_that_poll() {
    explore(POLLS, 2, three_by_one);
}

#[test]
fn three_threads_that_are_handed_the_lock() {
    explore(HANDED, 2, three_by_one);
}

#[test]
fn two_waiters_that_sleep() {
    explore(SLEEPS, 2, two_waiters);
}

#[test]
fn two_waiters_that_poll() {
    explore(POLLS, 2, two_waiters);
}

#[test]
fn two_waiters_that_are_handed_the_lock() {
    explore(HANDED, 2, two_waiters);
}

/// Two threads are parked. The owner unlocks and locks again before the thread that it has woken has the
/// lock. Its second unlock does not wake the other thread, too.
pub fn the_owner_comes_again() {
    let shared = Shared::new();
    shared.lock();
    let once = move || shared.lock_and_count();
    let again = move || {
        shared.count();
        shared.unlock();
        shared.lock_and_count();
    };
    together(again, [Box::new(once) as _, Box::new(once) as _]);
    shared.end(4);
}

#[test]
fn one_of_two_parked_threads_is_awake() {
    explore(SLEEPS, 2, the_owner_comes_again);
}

#[test]
fn an_overdue_thread_that_has_competed_is_handed_the_lock() {
    explore(HANDED, 2, the_owner_comes_again);
}

/// A first unlock finds no parked thread, so that the next ones skip their looks. Then two threads contend.
pub fn after_a_quiet_time() {
    let shared = Shared::new();
    shared.lock_and_count();
    let once = move || shared.lock_and_count();
    together(once, [Box::new(once) as _]);
    shared.end(3);
}

#[test]
fn light_fences_are_enough() {
    explore(ASYMMETRIC, 5, after_a_quiet_time);
}

#[test]
fn light_fences_are_enough_for_threads_that_poll() {
    explore(Setting { polls: true, ..ASYMMETRIC }, 5, after_a_quiet_time);
}

#[test]
fn light_fences_are_enough_when_they_change() {
    explore(ASYMMETRIC, 3, two_by_two);
}

/// Two mutexes in one bucket, each wanted by a thread while another owns both.
pub fn collision() {
    let (a, b) = (Shared::new(), Shared::new());
    let both = move || {
        a.lock();
        b.lock();
        a.count();
        b.count();
        a.unlock();
        b.unlock();
    };
    together(
        both,
        [Box::new(move || a.lock_and_count()) as _, Box::new(move || b.lock_and_count()) as _],
    );
    a.end(2);
    b.end(2);
}

#[test]
fn two_mutexes_in_one_bucket_that_sleep() {
    explore(Setting { buckets: 1, ..SLEEPS }, 2, collision);
}

#[test]
fn two_mutexes_in_one_bucket_that_poll() {
    explore(Setting { buckets: 1, ..POLLS }, 1, collision);
}

/// Attempts exclude like acquisitions, and never wait.
pub fn attempts() {
    let shared = Shared::new();
    let attempt = move || {
        if !shared.try_lock() {
            return 0;
        }
        shared.count();
        shared.unlock();
        1
    };
    let other = crate::loom_platform::spawn(move || shared.lock_and_count());
    let succeeded = attempt() + attempt();
    crate::loom_platform::join(other);
    shared.end(succeeded + 1);
}

#[test]
fn attempts_exclude() {
    explore(SLEEPS, 5, attempts);
}

/// The thread with the last section frees the mutex as soon as its own unlock is over, whatever the other
/// threads still do in theirs.
pub fn free_after_last_section(threads: u32) {
    let shared = Shared::new();
    let user = move || {
        shared.lock();
        let last = shared.count() == threads;
        shared.unlock();
        if last {
            // SAFETY: the others have had their sections. That they do not use the mutex after the store
            // that unlocks it is what is checked.
            unsafe { shared.free() };
        }
    };
    together(user, (1..threads).map(|_| Box::new(user) as _));
}

#[test]
fn the_last_of_two_frees_the_mutex_asleep() {
    explore(SLEEPS, 5, || free_after_last_section(2));
}

#[test]
fn the_last_of_two_frees_the_mutex_polling() {
    explore(POLLS, 4, || free_after_last_section(2));
}

#[test]
fn the_last_of_two_frees_the_mutex_handed_over() {
    explore(HANDED, 5, || free_after_last_section(2));
}

/// The same, after the unlocks of the bucket have stopped looking.
#[test]
fn the_last_of_two_frees_the_mutex_after_a_quiet_time() {
    explore(Setting { buckets: 1, ..SLEEPS }, 4, || {
        Shared::new().lock_and_count();
        free_after_last_section(2);
    });
}

#[test]
fn the_last_of_three_frees_the_mutex() {
    explore(SLEEPS, 2, || free_after_last_section(3));
}

/// A fair unlock hands the lock to a parked thread, and a bump gets it back.
pub fn fair_unlocks() {
    let shared = Shared::new();
    let fair = move || {
        shared.lock();
        shared.count();
        // SAFETY: this thread owns the mutex.
        unsafe { shared.mutex().bump() };
        shared.count();
        // SAFETY: as above.
        unsafe { shared.mutex().unlock_fair() };
    };
    let once = move || shared.lock_and_count();
    together(fair, [Box::new(once) as _, Box::new(once) as _]);
    shared.end(4);
}

/// A lock that was handed to a parked thread is not free for the next thread that arrives.
pub fn fair_and_again() {
    let shared = Shared::new();
    shared.lock();
    let again = move || {
        shared.count();
        // SAFETY: this thread owns the mutex.
        unsafe { shared.mutex().unlock_fair() };
        shared.lock_and_count();
    };
    together(again, [Box::new(move || shared.lock_and_count()) as _]);
    shared.end(3);
}

#[test]
fn a_fair_unlock_and_the_owner_comes_again() {
    explore(SLEEPS, 4, fair_and_again);
}

#[test]
fn fair_unlocks_to_parked_threads() {
    explore(SLEEPS, 2, fair_unlocks);
}

#[test]
fn fair_unlocks_to_threads_that_poll() {
    explore(POLLS, 2, fair_unlocks);
}
