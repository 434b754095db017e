//! The condition variable: signals are neither lost nor stolen, and the table is empty at the end.

use ondeck::condvar::RawCondvar;
use ondeck::platform::Timestamp;

use crate::guarded::Guarded;
use crate::loom_platform::{Loom, Setting, join, pass_time, spawn};
use crate::parking::{Lower, gates};
use crate::scenario::{
    ASYMMETRIC, LATE, ONE_BUCKET, POLLS, SLEEPS, SOON, Shared, explored, until_asleep,
};

pub type Condition = Guarded<RawCondvar<Loom>>;

impl Condition {
    pub fn new() -> &'static Self {
        Self::of(RawCondvar::new())
    }

    /// Waits. Returns whether it was notified.
    pub fn wait(&self, shared: &Shared, deadline: Option<Timestamp>) -> bool {
        // SAFETY: the scenarios call it when they own the mutex.
        let notified = unsafe { self.raw().wait(shared.raw(), deadline) };
        // Loom reports a race if it returned without the mutex.
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
        assert!(!self.raw().has_waiters(), "no thread waits any more");
        self.free();
    }
}

/// The one of the two that is created first, and therefore has the lower bucket.
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

/// The point at which a notifier notifies.
#[derive(Clone, Copy)]
pub enum Notify {
    /// While it owns the mutex.
    Inside,
    /// After it has unlocked the mutex.
    Outside,
}
use Notify::{Inside, Outside};

/// Runs a section that counts, and notifies. Returns the result of `notify`.
pub fn count_and<R>(shared: &Shared, place: Notify, notify: impl FnOnce() -> R) -> R {
    shared.lock();
    shared.count();
    match place {
        Inside => {
            let told = notify();
            shared.unlock();
            told
        }
        Outside => {
            shared.unlock();
            notify()
        }
    }
}

/// One thread waits, the other notifies it.
fn notify(place: Notify, first: First) {
    let (shared, condition) = pair(first);
    let waiter = spawn(move || condition.wait_for_count(shared));
    count_and(shared, place, || condition.raw().notify_one());
    join(waiter);
    condition.end();
    shared.end(1);
}

/// One thread waits, one notifies it, and a third also wants the mutex.
fn notify_beside_another(place: Notify) {
    let (shared, condition) = pair(First::Mutex);
    let waiter = spawn(move || condition.wait_for_count(shared));
    let other = spawn(move || {
        shared.lock();
        shared.unlock();
    });
    count_and(shared, place, || condition.raw().notify_one());
    join(waiter);
    join(other);
    condition.end();
    shared.end(1);
}

/// Two threads wait, a third notifies both.
fn notify_both(place: Notify, notify: fn(&RawCondvar<Loom>)) {
    let (shared, condition) = pair(First::Mutex);
    let waiters = [0; 2].map(|_| spawn(move || condition.wait_for_count(shared)));
    count_and(shared, place, || notify(condition.raw()));
    waiters.into_iter().for_each(join);
    condition.end();
    shared.end(1);
}

pub fn notify_all(condition: &RawCondvar<Loom>) {
    condition.notify_all();
}

pub fn notify_one_twice(condition: &RawCondvar<Loom>) {
    condition.notify_one();
    condition.notify_one();
}

/// `waiters` threads wait until a deadline that passes at any time, and another thread notifies one
/// of them: the number of waits that return as notified equals the result of the notification.
fn deadline_and_signal(waiters: usize, place: Notify) {
    let (shared, condition) = pair(First::Mutex);
    let waiter = move || {
        shared.lock();
        let notified = shared.counted() == 0 && condition.wait(shared, Some(SOON));
        shared.unlock();
        usize::from(notified)
    };
    let waiters: Vec<_> = (0..waiters).map(|_| spawn(waiter)).collect();
    let clock = spawn(|| pass_time(1));
    let told = count_and(shared, place, || condition.raw().notify_one());
    let notified: usize = waiters.into_iter().map(join).sum();
    join(clock);
    assert_eq!(notified, told, "the notified waiters know it, and no others");
    condition.end();
    shared.end(1);
}

fn deadline_beside_a_waiter() {
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
    shared.section();
    condition.raw().notify_all();
    join(hurried);
    join(patient);
    condition.end();
    shared.end(1);
}

fn requeue_of_the_same_buckets() {
    let (shared, condition) = pair(First::Mutex);
    let (from, to) = gates(Lower::From);
    let waiter = spawn(move || condition.wait_for_count(shared));
    let other = spawn(move || from.requeue(to, 0, 1));
    shared.section();
    condition.raw().notify_one();
    join(waiter);
    assert_eq!(join(other), (0, 0));
    condition.end();
    shared.end(1);
}

/// Two waiters of one condition variable have a mutex each. One signal notifies both, after the
/// given number of threads sleep.
fn two_mutexes_when(parked: usize) {
    let (a, condition) = pair(First::Mutex);
    let b = Shared::new();
    let waiters = [a, b].map(|shared| spawn(move || condition.wait_for_count(shared)));
    until_asleep(parked);
    a.section();
    b.section();
    condition.raw().notify_all();
    waiters.into_iter().for_each(join);
    condition.end();
    a.end(1);
    b.end(1);
}

const POLLS_IN_ONE_BUCKET: Setting = Setting { buckets: 1, ..POLLS };

explored! {
    fn notify_inside_mutex_first on SLEEPS, 5 => || notify(Inside, First::Mutex);
    fn notify_inside_condvar_first on POLLS, 4 => || notify(Inside, First::Condvar);
    fn notify_inside_one_bucket on ONE_BUCKET, 4 => || notify(Inside, First::Mutex);
    fn notify_inside_with_light_fences on ASYMMETRIC, 4 => || notify(Inside, First::Mutex);
    fn notify_outside_mutex_first on SLEEPS, 4 => || notify(Outside, First::Mutex);
    fn notify_outside_condvar_first on SLEEPS, 4 => || notify(Outside, First::Condvar);
    fn notify_outside_polling on POLLS, 4 => || notify(Outside, First::Mutex);
    fn notify_outside_one_bucket on POLLS_IN_ONE_BUCKET, 4 => || notify(Outside, First::Mutex);
    fn notify_outside_late on LATE, 4 => || notify(Outside, First::Mutex);
    fn notify_outside_with_light_fences on ASYMMETRIC, 3 => || notify(Outside, First::Mutex);
    fn notify_inside_beside_another on POLLS, 3 => || notify_beside_another(Inside);
    fn notify_outside_beside_another on SLEEPS, 3 => || notify_beside_another(Outside);
    fn notify_all_inside on SLEEPS, 3 => || notify_both(Inside, notify_all);
    fn notify_all_outside on SLEEPS, 3 => || notify_both(Outside, notify_all);
    fn notify_all_outside_one_bucket on ONE_BUCKET, 2 => || notify_both(Outside, notify_all);
    /// The second signal finds that one waiter has left, and the other has not.
    fn one_signal_each on SLEEPS, 2 => || notify_both(Inside, notify_one_twice);
    fn deadline_and_signal_inside on SLEEPS, 4 => || deadline_and_signal(1, Inside);
    fn deadline_and_signal_outside on SLEEPS, 3 => || deadline_and_signal(1, Outside);
    fn deadline_and_signal_outside_one_bucket on POLLS_IN_ONE_BUCKET, 3 => || deadline_and_signal(1, Outside);
    fn two_deadlines_and_one_signal on SLEEPS, 1 => || deadline_and_signal(2, Outside);
    /// One thread waits until a deadline, another without one. If the first gives up, the other
    /// loses nothing.
    fn a_deadline_beside_a_waiter on SLEEPS, 2 => deadline_beside_a_waiter;
    /// A notifier has locked the higher bucket and wants the lower; another thread wants both in
    /// their order.
    fn a_requeue_wants_the_same_buckets on SLEEPS, 2 => requeue_of_the_same_buckets;
    fn two_mutexes on SLEEPS, 1 => || two_mutexes_when(0);
    fn two_mutexes_asleep on SLEEPS, 1 => || two_mutexes_when(2);
}
