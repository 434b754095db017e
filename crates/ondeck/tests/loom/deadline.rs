//! Deadlines: they pass while a waiter is awake, asleep, woken, or handed the lock.

use std::cell::Cell;
use std::rc::Rc;

use ondeck::platform::Platform;

use crate::loom_platform::{Loom, Setting, asleep, join, pass_time, spawn};
use crate::scenario::{ASYMMETRIC, HANDED, POLLS, SLEEPS, SOON, Shared, explore};

/// Waits until the deadline. Returns whether it had a section.
fn count_until(shared: &Shared) -> u32 {
    if !shared.try_lock_until(SOON) {
        return 0;
    }
    shared.count();
    shared.unlock();
    1
}

/// When the deadline passes: before the owner unlocks the mutex, after that, or at any time, by a thread of
/// its own.
#[derive(Clone, Copy)]
enum Passes {
    Before,
    After,
    Anytime,
}

/// There is one waiter with a deadline for each `true`, and one without for each `false`. The first thread
/// owns the mutex when they arrive.
fn scenario(passes: Passes, waiters: &'static [bool]) {
    let shared = Shared::new();
    shared.lock();
    let clock = matches!(passes, Passes::Anytime).then(|| spawn(|| pass_time(1)));
    let start = |&deadline: &bool| {
        spawn(move || {
            if deadline {
                count_until(shared)
            } else {
                shared.lock_and_count();
                1
            }
        })
    };
    let waiters: Vec<_> = waiters.iter().map(start).collect();
    if matches!(passes, Passes::Before) {
        pass_time(1);
    }
    shared.count();
    shared.unlock();
    if matches!(passes, Passes::After) {
        pass_time(1);
    }
    let sections: u32 = waiters.into_iter().map(join).sum();
    if let Some(clock) = clock {
        join(clock);
    }
    shared.end(1 + sections);
}

#[test]
fn passes_at_any_time_asleep() {
    explore(SLEEPS, 5, || scenario(Passes::Anytime, &[true]));
}

#[test]
fn passes_at_any_time_polling() {
    explore(POLLS, 4, || scenario(Passes::Anytime, &[true]));
}

#[test]
fn passes_at_any_time_handed_over() {
    explore(HANDED, 5, || scenario(Passes::Anytime, &[true]));
}

/// Another thread waits, too. What the thread that gives up owed to it is done.
#[test]
fn before_the_unlock_another_waits() {
    explore(SLEEPS, 3, || scenario(Passes::Before, &[true, false]));
}

#[test]
fn before_the_unlock_another_waits_polling() {
    explore(POLLS, 3, || scenario(Passes::Before, &[true, false]));
}

#[test]
fn after_the_unlock_another_waits() {
    explore(SLEEPS, 3, || scenario(Passes::After, &[true, false]));
}

#[test]
fn after_the_unlock_another_waits_polling() {
    explore(POLLS, 3, || scenario(Passes::After, &[true, false]));
}

#[test]
fn another_waits_with_light_fences() {
    let setting = Setting { polls: true, ..ASYMMETRIC };
    explore(setting, 3, || scenario(Passes::After, &[true, false]));
}

#[test]
fn two_deadlines_at_once() {
    explore(HANDED, 3, || scenario(Passes::Before, &[true, true]));
}

/// A woken waiter finds the mutex locked again when its deadline passes. The mutex stays locked until the
/// wait is over, which therefore ends without it.
#[test]
fn ends_while_the_mutex_is_owned() {
    explore(POLLS, 6, || {
        let shared = Shared::new();
        shared.lock();
        let waiter = spawn(move || count_until(shared));
        pass_time(1);
        assert_eq!(join(waiter), 0);
        shared.count();
        shared.unlock();
        shared.end(1);
    });
}

/// A woken thread finds the mutex locked again, and its deadline has passed. Another thread is parked.
#[test]
fn a_woken_thread_gives_up_beside_the_owner() {
    explore(SLEEPS, 2, || {
        let shared = Shared::new();
        let gone = Rc::new(Cell::new(false));
        shared.lock();
        let patient = spawn(move || shared.lock_and_count());
        while asleep() < 1 {
            Loom::yield_now();
        }
        let hurried = spawn({
            let gone = Rc::clone(&gone);
            move || {
                let sections = count_until(shared);
                gone.set(true);
                sections
            }
        });
        while asleep() < 2 {
            Loom::yield_now();
        }
        shared.unlock();
        let again = shared.try_lock();
        pass_time(1);
        while !gone.get() {
            Loom::yield_now();
        }
        if again {
            shared.count();
            shared.unlock();
        }
        let sections = join(hurried);
        join(patient);
        shared.end(1 + u32::from(again) + sections);
    });
}

#[test]
fn passes_at_any_time_beside_another() {
    explore(SLEEPS, 2, || scenario(Passes::Anytime, &[true, false]));
}
