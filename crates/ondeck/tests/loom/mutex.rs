//! Lock, unlock and attempts.

use crate::loom_platform::Setting;
use crate::scenario::{
    ASYMMETRIC, HANDED, POLLS, ROTATES, SLEEPS, STALE, Shared, explore, together,
};

/// Two threads with two sections each.
fn two_by_two() {
    let shared = Shared::new();
    let twice = move || {
        shared.lock_and_count();
        shared.lock_and_count();
    };
    together(twice, [Box::new(twice) as _]);
    shared.end(4);
}

/// Three threads with one section each.
fn three_by_one() {
    let shared = Shared::new();
    let once = move || shared.lock_and_count();
    together(once, [Box::new(once) as _, Box::new(once) as _]);
    shared.end(3);
}

/// Two threads wait from the start: the first thread owns the mutex until both have been started, and has so many
/// sections.
fn two_waiters(sections: u32) {
    let shared = Shared::new();
    shared.lock();
    let once = move || shared.lock_and_count();
    let unlock = move || {
        shared.count();
        shared.unlock();
        for _ in 1..sections {
            shared.lock_and_count();
        }
    };
    together(unlock, [Box::new(once) as _, Box::new(once) as _]);
    shared.end(2 + sections);
}

/// Each scenario on each machine, with bounds for two and for three threads.
macro_rules! on_each_machine {
    ($($name:ident $setting:expr, $two:literal, $three:literal;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn two_threads() {
                explore($setting, $two, two_by_two);
            }

            #[test]
            fn three_threads() {
                explore($setting, $three, three_by_one);
            }

            #[test]
            fn two_waiters() {
                explore($setting, $three, || super::two_waiters(1));
            }

            #[test]
            fn two_waiters_and_the_owner_comes_again() {
                explore($setting, $three, || super::two_waiters(2));
            }

            #[test]
            fn two_mutexes_in_one_bucket() {
                explore(Setting { buckets: 1, ..$setting }, $three, collision);
            }

            #[test]
            fn the_last_of_two_frees_the_mutex() {
                explore($setting, $two, || free_after_last_section(2));
            }

            #[test]
            fn fair_unlocks_to_two_waiters() {
                explore($setting, $three, fair_unlocks);
            }
        }
    )*};
}

on_each_machine! {
    asleep SLEEPS, 5, 3;
    polling POLLS, 5, 3;
    handed_over HANDED, 5, 3;
    taking_turns ROTATES, 5, 3;
    replaced STALE, 5, 3;
    with_light_fences ASYMMETRIC, 4, 2;
}

/// Two mutexes in one bucket, each wanted by a thread while another owns both.
fn collision() {
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

/// Attempts exclude like acquisitions, and never wait.
fn attempts() {
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
fn free_after_last_section(threads: u32) {
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
fn the_last_of_three_frees_the_mutex() {
    explore(SLEEPS, 3, || free_after_last_section(3));
}

/// A fair unlock hands the lock to a parked thread, and a bump gets it back.
fn fair_unlocks() {
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
fn fair_and_again() {
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
