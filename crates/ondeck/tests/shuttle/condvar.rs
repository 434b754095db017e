//! The condition variable: signals are neither lost nor stolen, and nothing is left behind.

use std::mem::ManuallyDrop;

use ondeck::condvar::RawCondvar;
use ondeck::platform::Timestamp;

use crate::scenario::{Shared, crew, explore, join, soon};
use crate::shuttle_platform::explore::keep;
use crate::shuttle_platform::{Shuttle, one_in};

/// A condition variable whose memory stays to the end of the execution; see [`Shared`].
struct Condition(ManuallyDrop<RawCondvar<Shuttle>>);

impl Condition {
    fn new() -> &'static Self {
        keep(Self(ManuallyDrop::new(RawCondvar::new())))
    }

    /// Waits. Returns whether it was notified.
    fn wait(&self, shared: &Shared, deadline: Option<Timestamp>) -> bool {
        // SAFETY: the scenarios call it when they own the mutex.
        unsafe { self.0.wait(shared.mutex(), deadline) }
    }

    fn wait_for_count(&self, shared: &Shared) {
        shared.lock();
        while shared.counted() == 0 {
            self.wait(shared, None);
        }
        shared.unlock();
    }

    fn end(&self) {
        assert!(!self.0.has_waiters(), "no thread waits any more");
    }

    /// # Safety
    ///
    /// No thread uses it any more. This function does not check that, but `Life` does.
    unsafe fn free(&self) {
        // SAFETY: as the caller promises; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.0).cast_mut()) };
    }
}

/// Counts and notifies, with the mutex locked or after the unlock. Returns how many were notified.
fn give(
    shared: &Shared,
    condition: &Condition,
    notify: impl Fn(&RawCondvar<Shuttle>) -> usize,
) -> usize {
    let inside = one_in(2);
    shared.lock();
    shared.count();
    if inside {
        let told = notify(&condition.0);
        shared.unlock();
        return told;
    }
    shared.unlock();
    notify(&condition.0)
}

/// Four threads take two permits each, and wait with and without deadlines; two threads give one at a time. A
/// waiter without a deadline is woken by a signal only.
#[test]
fn no_signal_is_lost_between_waits_with_deadlines() {
    explore(1_000, || {
        let (shared, condition) = (Shared::new(), Condition::new());
        let taker = move || {
            for _ in 0..2 {
                shared.lock();
                while shared.counted() == 0 {
                    condition.wait(shared, one_in(2).then(soon));
                }
                shared.uncount();
                shared.unlock();
            }
        };
        let giver = move || {
            for _ in 0..4 {
                give(shared, condition, RawCondvar::notify_one);
            }
        };
        let (takers, givers) = (crew(4, taker), crew(2, giver));
        join(takers);
        join(givers);
        condition.end();
        shared.end(0);
    });
}

/// Five threads wait once, some with a deadline, while two notify: as many waits return that they were
/// notified as the notifications returned.
#[test]
fn notified_waiters_know_it_and_no_others() {
    explore(1_200, || {
        let (shared, condition) = (Shared::new(), Condition::new());
        let waiters = crew(5, move || {
            shared.lock();
            let notified = condition.wait(shared, Some(soon()));
            shared.unlock();
            usize::from(notified)
        });
        let one = crew(1, move || {
            give(shared, condition, RawCondvar::notify_one)
                + give(shared, condition, RawCondvar::notify_one)
        });
        let all = crew(1, move || give(shared, condition, RawCondvar::notify_all));
        let told: usize = join(one).into_iter().chain(join(all)).sum();
        assert_eq!(join(waiters).into_iter().sum::<usize>(), told);
        condition.end();
        shared.end(3);
    });
}

/// One signal notifies waiters of three mutexes, while other threads want these mutexes, too.
#[test]
fn waiters_of_one_condvar_use_three_mutexes() {
    explore(1_000, || {
        let mutexes = [Shared::new(), Shared::new(), Shared::new()];
        let condition = Condition::new();
        let waiters: Vec<_> = mutexes
            .iter()
            .flat_map(|&shared| crew(2, move || condition.wait_for_count(shared)))
            .collect();
        for shared in mutexes {
            shared.lock_and_count();
        }
        condition.0.notify_all();
        join(waiters);
        condition.end();
        for shared in mutexes {
            shared.end(1);
        }
    });
}

/// Two pairs of a mutex and a condition variable, whose buckets may lie crosswise, with a waiter and
/// a notifier each: no two notifiers wait for each other's bucket.
#[test]
fn notifiers_do_not_wait_for_each_others_buckets() {
    explore(3_000, || {
        let pairs = [(Shared::new(), Condition::new()), (Shared::new(), Condition::new())];
        let waiters = pairs.map(|(shared, condition)| {
            shuttle::thread::spawn(move || condition.wait_for_count(shared))
        });
        let notifiers = pairs.map(|(shared, condition)| {
            shuttle::thread::spawn(move || {
                give(shared, condition, RawCondvar::notify_one);
            })
        });
        join(waiters);
        join(notifiers);
        for (shared, condition) in pairs {
            condition.end();
            shared.end(1);
        }
    });
}

/// The last of four waiters frees the mutex, and if `both` is set the condition variable, too: its notifier
/// does not touch again what is freed.
fn the_last_waiter_frees(both: bool) {
    explore(1_200, move || {
        let (shared, condition) = (Shared::new(), Condition::new());
        let waiter = move || {
            shared.lock();
            while shared.counted() == 0 {
                condition.wait(shared, None);
            }
            let last = shared.count() == 1 + 4;
            shared.unlock();
            if last {
                // SAFETY: all sections were before. That no thread uses either any more is what is checked:
                // a notifier that owns the mutex does not use either after its unlock, and a notifier
                // without the mutex uses the condition variable only.
                unsafe {
                    if both {
                        condition.free();
                    }
                    shared.free();
                }
            }
        };
        let waiters = crew(4, waiter);
        if both {
            shared.lock();
            shared.count();
            condition.0.notify_all();
            shared.unlock();
        } else {
            shared.lock_and_count();
            condition.0.notify_all();
        }
        join(waiters);
        if !both {
            condition.end();
        }
    });
}

#[test]
fn the_last_waiter_frees_both() {
    the_last_waiter_frees(true);
}

#[test]
fn the_last_waiter_frees_the_mutex() {
    the_last_waiter_frees(false);
}
