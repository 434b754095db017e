//! Waits at a condition variable with locks whose queues know nothing of it.

use ondeck::fair::RawFairMutex;
use ondeck::platform::Timestamp;

use crate::condvar::{Condition, First, pair};
use crate::guarded::{Exclusive, Guarded};
use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::rwlock_scenario::Lock;
use crate::rwlock_visible::VISIBLE;
use crate::scenario::{POLLS, SLEEPS, SOON, explored};

type Fair = Guarded<RawFairMutex<Loom>>;

fn fair() -> (&'static Fair, &'static Condition) {
    let condition = Condition::new();
    (Fair::of(RawFairMutex::new()), condition)
}

/// Waits, until the deadline, for a thread to have counted. Returns whether it was notified last.
fn wait_for_count(fair: &Fair, condition: &Condition, deadline: Option<Timestamp>) -> bool {
    let mut notified = true;
    fair.raw().lock();
    while notified && fair.counted() == 0 {
        notified = condition.raw().wait_with(deadline, |sleep| {
            // SAFETY: locked above, or at the end of the previous wait.
            unsafe { Exclusive::unlock(fair.raw(), ()) };
            let notified = sleep();
            fair.raw().lock();
            notified
        });
    }
    let _ = fair.end_section(());
    notified
}

fn notified() {
    let (fair, condition) = fair();
    let waiter = spawn(|| wait_for_count(fair, condition, None));
    fair.section();
    condition.raw().notify_one();
    join(waiter);
    condition.end();
    fair.end(2);
}

fn deadline_and_signal() {
    let (fair, condition) = fair();
    let clock = spawn(|| pass_time(1));
    let waiter = spawn(|| wait_for_count(fair, condition, Some(SOON)));
    fair.section();
    condition.raw().notify_one();
    join(waiter);
    join(clock);
    condition.end();
    fair.end(2);
}

/// A thread is linked, and does not sleep. If the one notification was its own, another waiter has
/// it.
fn no_sleep_beside_a_waiter() {
    let (fair, condition) = fair();
    let waiter = spawn(|| wait_for_count(fair, condition, None));
    let other = spawn(|| condition.raw().wait_with(None, |_| ()));
    fair.section();
    condition.raw().notify_one();
    join(waiter);
    join(other);
    condition.end();
    fair.end(2);
}

/// A thread waits with a read lock, visible or counted, for a writer.
fn read_and_write(lock: &'static Lock) {
    let condition = Condition::new();
    let reader = spawn(|| {
        let mut held = lock.raw().lock_shared();
        while lock.counted() == 0 {
            held = condition.raw().wait_with(None, |sleep| {
                lock.unlock_shared(held);
                sleep();
                lock.raw().lock_shared()
            });
        }
        lock.unlock_shared(held);
    });
    lock.write();
    condition.raw().notify_one();
    join(reader);
    condition.end();
    lock.end(1);
}

/// One notification of all reaches a waiter with a mutex and one with a fair mutex.
fn beside_a_mutex() {
    let (shared, condition) = pair(First::Mutex);
    let fair = Fair::of(RawFairMutex::new());
    let with_a_fair_one = spawn(|| wait_for_count(fair, condition, None));
    let waiter = spawn(|| condition.wait_for_count(shared));
    fair.section();
    shared.section();
    condition.raw().notify_all();
    join(with_a_fair_one);
    join(waiter);
    condition.end();
    shared.end(1);
    fair.end(2);
}

explored! {
    fn a_waiter_with_a_fair_mutex_is_notified on SLEEPS, 4 => notified;
    fn a_waiter_with_a_fair_mutex_is_notified_polling on POLLS, 3 => notified;
    fn a_deadline_with_a_fair_mutex_passes_at_any_time on SLEEPS, 3 => deadline_and_signal;
    fn a_thread_that_does_not_sleep_leaves_its_notification_to_another on SLEEPS, 2 =>
        no_sleep_beside_a_waiter;
    fn a_reader_waits_for_a_writer on SLEEPS, 3 => || read_and_write(Lock::new());
    fn a_visible_reader_waits_for_a_writer on VISIBLE, 2 => || read_and_write(Lock::biased_if_possible());
    fn waiters_with_different_locks on SLEEPS, 1 => beside_a_mutex;
}
