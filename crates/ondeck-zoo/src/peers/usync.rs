//! usync's mutex.
//!
//! Source: the crate `usync` 0.2.1, `rwlock.rs`, the writer's half.
//!
//! Teaches: a bit test-and-set takes the lock bit whatever the other bits are, so an acquisition
//! never fails because the queue has changed. The queue is a list of nodes on the waiters' stacks,
//! in the same word.
//!
//! ```text
//! word: pointer to the newest node | queue locked (8) | queued (4) | reading (2) | locked (1)
//! ```
//!
//! Its condition variable is usync's too: a list of nodes like the mutex's. A notified waiter's
//! node is moved to the mutex's list if the mutex is locked.
//!
//! After the unlock: the word is touched. A `fetch_sub` unlocks. If a thread is queued, the unlock
//! then loads the word again and changes it to lock the queue. Another thread may have acquired the
//! lock in between and emptied the queue, so that the last waiter freed the mutex.
//!
//! That is so on x86. Elsewhere one compare-exchange unlocks and locks the queue, so that the
//! sleeping threads, the last user among them, stay until the unlock has finished with the word.

use std::mem::ManuallyDrop;

use ondeck::platform::Native;
use usync::lock_api::RawMutex as _;
use usync::{Condvar, Mutex, RawMutex};

use super::is_like_new;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawCondvar, RawLock, Waiting};

/// `usync::Mutex<()>`, by the `RawMutex` inside it.
#[derive(Debug)]
pub struct UsyncMutex {
    mutex: Mutex<()>,
}

impl UsyncMutex {
    #[inline(always)]
    fn raw(&self) -> &RawMutex {
        // SAFETY: it is unlocked only by users of `RawLock` that have locked it; the guard in
        // `wait` is not dropped.
        unsafe { self.mutex.raw() }
    }
}

// SAFETY: `lock_api::RawMutex` asks of its implementations what `RawLock` asks.
unsafe impl RawLock<Native> for UsyncMutex {
    const INFO: LockInfo = LockInfo {
        name: "usync",
        origin: Origin::Peer,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Own,
        source: "The crate usync 0.2.1, by kprotty",
        teaches: "A bit test-and-set acquires whatever the queue in the same word is doing",
    };

    type Context = ();
    type Condvar = UsyncCondvar;

    fn new() -> Self {
        Self { mutex: Mutex::new(()) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        self.raw().lock();
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.raw().try_lock()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // SAFETY: the calling thread holds the lock.
        unsafe { self.raw().unlock() };
    }

    fn is_idle(&mut self) -> bool {
        const { assert!(size_of::<Mutex<()>>() == size_of::<usize>()) };
        let new = Mutex::new(());
        // SAFETY: one atomic pointer, so there is no room for padding.
        unsafe { is_like_new(&mut self.mutex, &new) }
    }
}

/// `usync::Condvar`.
#[derive(Debug, Default)]
pub struct UsyncCondvar {
    condvar: Condvar,
}

// SAFETY: `usync::Condvar` unlocks and locks the mutex of the guard, and loses no signal.
unsafe impl RawCondvar<Native, UsyncMutex> for UsyncCondvar {
    fn new() -> Self {
        Self::default()
    }

    unsafe fn wait(&self, lock: &UsyncMutex, (): &()) {
        // SAFETY: the calling thread holds the lock, and has no guard: `lock` makes none.
        let guard = unsafe { lock.mutex.make_guard_unchecked() };
        // Not dropped, because the caller goes on to hold the lock, also after a panic.
        self.condvar.wait(&mut ManuallyDrop::new(guard));
    }

    fn notify_one(&self) {
        self.condvar.notify_one();
    }

    fn notify_all(&self) {
        self.condvar.notify_all();
    }
}
