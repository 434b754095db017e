//! usync's mutex.
//!
//! Source: the crate `usync` 0.2.1, `rwlock.rs`, the writer's half.
//!
//! Teaches: a `bts` takes the lock bit whatever the other bits do, so an acquisition never fails
//! for a change in the queue; the queue is a list of the waiters' stack nodes under that word.
//!
//! ```text
//! word: pointer to the newest waiter's node | queue locked (8) | queued (4) | reading (2) | locked (1)
//! ```
//!
//! After release: it touches the word. A `fetch_sub` releases, and if somebody is queued the word is
//! loaded again, and changed to lock the queue. Another thread may have acquired, emptied the queue,
//! and so let the last waiter free the mutex in between.
//!
//! That is x86. Elsewhere one compare-exchange releases the lock and locks the queue, so that the
//! sleepers, the last user among them, stay until the releaser is done with the word.

use ondeck::platform::Linux;
use usync::RawMutex;
use usync::lock_api::RawMutex as _;

use super::is_like_new;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// `usync::RawMutex`, what is inside `usync::Mutex<T>`.
#[derive(Debug)]
pub struct UsyncMutex {
    mutex: RawMutex,
}

// SAFETY: `lock_api::RawMutex` asks of its implementations what `RawLock` asks.
unsafe impl RawLock<Linux> for UsyncMutex {
    const INFO: LockInfo = LockInfo {
        name: "usync",
        origin: Origin::Peer,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Generic,
        source: "The crate usync 0.2.1, by kprotty",
        teaches: "A bit test-and-set acquires whatever the queue in the same word is doing",
    };

    type Context = ();
    type Condvar = SequenceCondvar<Linux>;

    fn new() -> Self {
        Self { mutex: RawMutex::INIT }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        self.mutex.lock();
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.mutex.try_lock()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // SAFETY: the calling thread holds the lock.
        unsafe { self.mutex.unlock() };
    }

    fn is_idle(&mut self) -> bool {
        const { assert!(size_of::<RawMutex>() == size_of::<usize>()) };
        let new = RawMutex::INIT;
        // SAFETY: one atomic pointer, so there is no room for padding.
        unsafe { is_like_new(&mut self.mutex, &new) }
    }
}
