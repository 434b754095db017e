//! The threads' use of a condition variable in a model: shared by the tests that must pass and
//! those of broken ones that must fail.

use std::sync::Arc;

use loom::cell::UnsafeCell;
use ondeck_zoo::{RawCondvar, RawLock};

use crate::loom_platform::{self, Loom};

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
pub enum Notify {
    WithTheLock,
    AfterUnlock,
}

/// The number of permits that a giver gives at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Give {
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
pub fn permits<L: RawLock<Loom>>(
    takers: u32,
    each: u32,
    give: Give,
    when: Notify,
    preemptions: usize,
) {
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
