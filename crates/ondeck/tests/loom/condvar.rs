//! The condition variable: signals are neither lost nor stolen, and nothing is left behind.

use std::mem::ManuallyDrop;

use ondeck::condvar::RawCondvar;
use ondeck::parking::Requeued;
use ondeck::platform::{Host, Platform, Timestamp};

use crate::loom_platform::{Loom, Setting, asleep, join, pass_time, spawn};
use crate::parking::{Lower, gates};
use crate::scenario::{ASYMMETRIC, HANDED, POLLS, SLEEPS, SOON, Shared, explore};

/// A condition variable whose memory stays; see [`Shared`].
pub struct Condition(pub ManuallyDrop<RawCondvar<Loom>>);

impl Condition {
    fn new() -> &'static Self {
        let condition: &Self = Box::leak(Box::new(Self(ManuallyDrop::new(RawCondvar::new()))));
        let _ = Loom::bucket(std::ptr::from_ref::<RawCondvar<Loom>>(&condition.0).addr());
        condition
    }

    /// Waits. Returns whether it was notified.
    pub fn wait(&self, shared: &Shared, deadline: Option<Timestamp>) -> bool {
        // SAFETY: the scenarios call it when they own the mutex.
        let notified = unsafe { self.0.wait(shared.mutex(), deadline) };
        // Loom reports a race if it came back without the mutex.
        let _ = shared.counted();
        notified
    }

    /// Waits until a thread has counted.
    pub fn wait_for_count(&self, shared: &Shared) {
        shared.lock();
        while shared.counted() == 0 {
            self.wait(shared, None);
        }
        shared.unlock();
    }

    /// Frees it at the end of the model.
    pub fn end(&self) {
        assert!(!self.0.has_waiters(), "no thread waits any more");
        // SAFETY: no thread uses it any more; that is what dropping it checks.
        unsafe { self.free() };
    }

    /// # Safety
    ///
    /// No thread uses it any more. This function does not check that, but the model does.
    pub unsafe fn free(&self) {
        // SAFETY: as the caller promises; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.0).cast_mut()) };
    }
}

/// Which of the two is made first, and so has the lower bucket.
#[derive(Clone, Copy)]
pub enum First {
    Mutex,
    Condvar,
}

/// A mutex and a condition variable, the lower bucket first.
pub fn pair(first: First) -> (&'static Shared, &'static Condition) {
    match first {
        First::Mutex => (Shared::new(), Condition::new()),
        First::Condvar => {
            let condition = Condition::new();
            (Shared::new(), condition)
        }
    }
}

/// One thread waits, the other notifies it while it owns the mutex.
fn notify_inside(first: First) {
    let (shared, condition) = pair(first);
    let waiter = spawn(move || condition.wait_for_count(shared));
    shared.lock();
    shared.count();
    condition.0.notify_one();
    shared.unlock();
    join(waiter);
    condition.end();
    shared.end(1);
}

/// One thread waits, the other notifies it after it has unlocked the mutex.
fn notify_outside(first: First) {
    let (shared, condition) = pair(first);
    let waiter = spawn(move || condition.wait_for_count(shared));
    shared.lock_and_count();
    condition.0.notify_one();
    join(waiter);
    condition.end();
    shared.end(1);
}

#[test]
fn notify_inside_mutex_first() {
    explore(SLEEPS, 5, || notify_inside(First::Mutex));
}

#[test]
fn notify_inside_condvar_first() {
    explore(POLLS, 4, || notify_inside(First::Condvar));
}

#[test]
fn notify_inside_one_bucket() {
    explore(Setting { buckets: 1, ..SLEEPS }, 4, || notify_inside(First::Mutex));
}

#[test]
fn notify_outside_mutex_first() {
    explore(SLEEPS, 4, || notify_outside(First::Mutex));
}

#[test]
fn notify_outside_condvar_first() {
    explore(SLEEPS, 4, || notify_outside(First::Condvar));
}

#[test]
fn notify_outside_polling() {
    explore(POLLS, 4, || notify_outside(First::Mutex));
}

#[test]
fn notify_outside_one_bucket() {
    explore(Setting { buckets: 1, ..POLLS }, 4, || notify_outside(First::Mutex));
}

#[test]
fn notify_outside_handed_over() {
    explore(HANDED, 4, || notify_outside(First::Mutex));
}

#[test]
fn notify_inside_with_light_fences() {
    explore(ASYMMETRIC, 4, || notify_inside(First::Mutex));
}

#[test]
fn notify_outside_with_light_fences() {
    explore(ASYMMETRIC, 3, || notify_outside(First::Mutex));
}

/// One thread waits, one notifies it, and a third wants the mutex, too.
fn notify_beside_another(inside: bool) {
    let (shared, condition) = pair(First::Mutex);
    let waiter = spawn(move || condition.wait_for_count(shared));
    let other = spawn(move || {
        shared.lock();
        shared.unlock();
    });
    shared.lock();
    shared.count();
    if inside {
        condition.0.notify_one();
        shared.unlock();
    } else {
        shared.unlock();
        condition.0.notify_one();
    }
    join(waiter);
    join(other);
    condition.end();
    shared.end(1);
}

#[test]
fn notify_inside_beside_another() {
    explore(POLLS, 3, || notify_beside_another(true));
}

#[test]
fn notify_outside_beside_another() {
    explore(SLEEPS, 3, || notify_beside_another(false));
}

/// Two threads wait, a third notifies both.
fn notify_all(inside: bool) {
    let (shared, condition) = pair(First::Mutex);
    let waiters = [0; 2].map(|_| spawn(move || condition.wait_for_count(shared)));
    shared.lock();
    shared.count();
    if inside {
        condition.0.notify_all();
        shared.unlock();
    } else {
        shared.unlock();
        condition.0.notify_all();
    }
    waiters.into_iter().for_each(join);
    condition.end();
    shared.end(1);
}

#[test]
fn notify_all_inside() {
    explore(SLEEPS, 3, || notify_all(true));
}

#[test]
fn notify_all_outside() {
    explore(SLEEPS, 3, || notify_all(false));
}

#[test]
fn notify_all_outside_one_bucket() {
    explore(Setting { buckets: 1, ..SLEEPS }, 2, || notify_all(false));
}

/// Two threads wait, and each is notified by a signal of its own: the second signal finds one waiter gone
/// and the other still there.
#[test]
fn one_signal_each() {
    explore(SLEEPS, 2, || {
        let (shared, condition) = pair(First::Mutex);
        let waiters = [0; 2].map(|_| spawn(move || condition.wait_for_count(shared)));
        shared.lock();
        shared.count();
        condition.0.notify_one();
        condition.0.notify_one();
        shared.unlock();
        waiters.into_iter().for_each(join);
        condition.end();
        shared.end(1);
    });
}

/// `waiters` threads wait until a deadline that passes at any time, and another thread notifies one of them: as
/// many waits return that they were notified as the notification returned.
fn deadline_and_signal(waiters: usize, inside: bool) {
    let (shared, condition) = pair(First::Mutex);
    let waiter = move || {
        shared.lock();
        let notified = shared.counted() == 0 && condition.wait(shared, Some(SOON));
        shared.unlock();
        usize::from(notified)
    };
    let waiters: Vec<_> = (0..waiters).map(|_| spawn(waiter)).collect();
    let clock = spawn(|| pass_time(1));
    shared.lock();
    shared.count();
    let told = if inside {
        let told = condition.0.notify_one();
        shared.unlock();
        told
    } else {
        shared.unlock();
        condition.0.notify_one()
    };
    let notified: usize = waiters.into_iter().map(join).sum();
    join(clock);
    assert_eq!(notified, told, "the notified waiters know it, and no others");
    condition.end();
    shared.end(1);
}

#[test]
fn deadline_and_signal_inside() {
    explore(SLEEPS, 4, || deadline_and_signal(1, true));
}

#[test]
fn deadline_and_signal_outside() {
    explore(SLEEPS, 3, || deadline_and_signal(1, false));
}

#[test]
fn deadline_and_signal_outside_one_bucket() {
    explore(Setting { buckets: 1, ..POLLS }, 3, || deadline_and_signal(1, false));
}

#[test]
fn two_deadlines_and_one_signal() {
    explore(SLEEPS, 1, || deadline_and_signal(2, false));
}

/// One thread waits until a deadline, another without one. If the first gives up, the other loses nothing.
#[test]
fn a_deadline_beside_a_waiter() {
    explore(SLEEPS, 2, || {
        let (shared, condition) = pair(First::Mutex);
        let hurried = spawn(move || {
            shared.lock();
            if shared.counted() == 0 {
                condition.wait(shared, Some(SOON));
            }
            shared.unlock();
        });
        let patient = spawn(move || condition.wait_for_count(shared));
        pass_time(1);
        shared.lock_and_count();
        condition.0.notify_all();
        join(hurried);
        join(patient);
        condition.end();
        shared.end(1);
    });
}

/// A notifier has locked the higher bucket and wants the lower; another thread wants both in their order.
#[test]
fn a_requeue_wants_the_same_buckets() {
    explore(SLEEPS, 2, || {
        let (shared, condition) = pair(First::Mutex);
        let (from, to) = gates(Lower::From);
        let waiter = spawn(move || condition.wait_for_count(shared));
        let other = spawn(move || from.requeue(to, 0, 1));
        shared.lock_and_count();
        condition.0.notify_one();
        join(waiter);
        assert_eq!(join(other), Requeued::default());
        condition.end();
        shared.end(1);
    });
}

/// Two waiters of one condition variable have a mutex each. One signal notifies both, once so many sleep.
fn two_mutexes_when(parked: usize) {
    explore(SLEEPS, 1, move || {
        let (a, condition) = pair(First::Mutex);
        let b = Shared::new();
        let waiters = [a, b].map(|shared| spawn(move || condition.wait_for_count(shared)));
        while asleep() < parked {
            Loom::yield_now();
        }
        a.lock_and_count();
        b.lock_and_count();
        condition.0.notify_all();
        waiters.into_iter().for_each(join);
        condition.end();
        a.end(1);
        b.end(1);
    });
}

#[test]
fn two_mutexes() {
    two_mutexes_when(0);
}

#[test]
fn two_mutexes_asleep() {
    two_mutexes_when(2);
}
