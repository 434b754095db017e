//! The condition variables of the portable locks under the loom model checker.
//!
//! Bounds: one waiter with every lock, and at most four involuntary switches in an execution, two
//! with this project's own; two waiters with one lock, at most three switches. Two woken
//! waiters that both poll for the lock exceed what loom can explore: see `three_threads_bound` in
//! `loom.rs`.

#[path = "../../../locks/ondeck/tests/support/loom_platform.rs"]
mod loom_platform;

use std::sync::Arc;

use loom::cell::UnsafeCell;
use loom_platform::{Loom, deeper};
use ondeck_zoo::{Origin, RawCondvar, RawLock, Visitor, locks};

/// A number of permits, and the condition variable of the threads that want one.
struct Permits<L: RawLock<Loom>> {
    lock: L,
    free: UnsafeCell<u32>,
    given: L::Condvar,
}

// SAFETY: `free` is only touched under the lock; loom checks that.
unsafe impl<L: RawLock<Loom>> Sync for Permits<L> {}

/// When a giver notifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notify {
    WithTheLock,
    AfterUnlock,
}

/// The number of permits that a giver gives at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Give {
    /// One permit, with notify_one.
    EachAlone,
    /// All permits, with notify_all.
    AllAtOnce,
}

impl<L: RawLock<Loom>> Permits<L> {
    fn new() -> Arc<Self> {
        Arc::new(Self { lock: L::new(), free: UnsafeCell::new(0), given: L::Condvar::new() })
    }

    /// Waits for a permit and takes it.
    fn take(&self) {
        let context = L::Context::default();
        // SAFETY: the context stays here and serves one acquisition at a time.
        unsafe { self.lock.lock(&context) };
        // SAFETY: the lock is held, acquired above or by the last wait.
        while self.free.with(|free| unsafe { *free }) == 0 {
            // SAFETY: the lock is held with this context, and the condition variable has no other.
            unsafe { self.given.wait(&self.lock, &context) };
        }
        // SAFETY: the lock is held.
        self.free.with_mut(|free| unsafe { *free -= 1 });
        // SAFETY: the lock is held with this context.
        unsafe { self.lock.unlock(&context) };
    }

    fn give(&self, permits: u32, when: Notify, notify: impl FnOnce(&L::Condvar)) {
        let context = L::Context::default();
        // SAFETY: the context stays here and serves this acquisition alone.
        unsafe { self.lock.lock(&context) };
        // SAFETY: the lock is held.
        self.free.with_mut(|free| unsafe { *free += permits });
        if when == Notify::WithTheLock {
            notify(&self.given);
            // SAFETY: the lock is held with this context.
            unsafe { self.lock.unlock(&context) };
        } else {
            // SAFETY: as above.
            unsafe { self.lock.unlock(&context) };
            notify(&self.given);
        }
    }
}

/// `takers` threads wait for `each` permits one after the other; this thread gives them. Fails if a
/// signal is lost, if the giver's writes are not seen, or if a mark is left in the lock.
fn permits<L: RawLock<Loom>>(takers: u32, each: u32, give: Give, when: Notify, preemptions: usize) {
    let what = format!("{}, {takers} × {each}, {give:?}, {when:?}", L::INFO.name);
    loom_platform::model(&what, preemptions, move || {
        let permits = Permits::<L>::new();
        let threads: Vec<_> = (0..takers)
            .map(|_| {
                let permits = Arc::clone(&permits);
                loom_platform::spawn(move || (0..each).for_each(|_| permits.take()))
            })
            .collect();
        match give {
            Give::AllAtOnce => permits.give(takers * each, when, L::Condvar::notify_all),
            Give::EachAlone => {
                for _ in 0..takers * each {
                    permits.give(1, when, L::Condvar::notify_one);
                }
            }
        }
        for thread in threads {
            thread.join().expect("the other thread ends");
        }
        let mut permits = Arc::into_inner(permits).expect("all threads have ended");
        // SAFETY: no other thread is left.
        assert_eq!(permits.free.with(|free| unsafe { *free }), 0);
        assert!(permits.lock.is_idle(), "a mark was left behind");
    });
}

const WHEN: [Notify; 2] = [Notify::WithTheLock, Notify::AfterUnlock];

#[test]
fn one_waiter_loses_no_signal() {
    struct Check;
    impl Visitor<Loom> for Check {
        fn visit<L: RawLock<Loom>>(&mut self) {
            // This project's own takes more steps than loom can explore so deeply. Its own tests go
            // deeper where it matters.
            let switches = deeper(if L::INFO.origin == Origin::Own { 2 } else { 4 });
            for when in WHEN {
                permits::<L>(1, 2, Give::EachAlone, when, switches);
                permits::<L>(1, 1, Give::AllAtOnce, when, switches);
            }
        }
    }
    locks::for_each_hosted::<Loom>(&mut Check);
}

#[test]
fn two_waiters_lose_no_signal() {
    for when in WHEN {
        permits::<locks::ThreeStateFutex<Loom>>(2, 1, Give::EachAlone, when, deeper(3));
        permits::<locks::ThreeStateFutex<Loom>>(2, 1, Give::AllAtOnce, when, deeper(3));
    }
}
