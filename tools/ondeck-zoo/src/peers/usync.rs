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
//! Its condition variable is also usync's: a list of nodes like the mutex's. A notified waiter's
//! node is moved to the mutex's list if the mutex is locked.
//!
//! After the unlock: the word is touched. A `fetch_sub` unlocks. If a thread is queued, the unlock
//! then loads the word again and changes it to lock the queue. Another thread may have acquired the
//! lock in between and emptied the queue, so that the last waiter freed the mutex.
//!
//! That holds on x86. Elsewhere one compare-exchange unlocks and locks the queue, so that the
//! sleeping threads, including the last user, stay until the unlock has finished with the word.

use std::mem::ManuallyDrop;

use ondeck::platform::Native;
use usync::lock_api::RawMutex as _;
use usync::{Condvar, Mutex, RawMutex};

use super::is_like_new;
use crate::{CondvarKind, LockInfo, Origin, RawCondvar, RawLock, Waiting};

/// `usync::Mutex<()>`, used through the `RawMutex` inside it.
// SAFETY, as a lock: `lock_api::RawMutex` requires the same of its implementations as `RawLock`.
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

raw_lock! {
    unsafe impl RawLock<Native> for UsyncMutex {
        INFO: LockInfo {
            name: "usync",
            origin: Origin::Peer,
            waiting: Waiting::SpinsThenSleeps,
            touches_after_release: true,
            condvar: CondvarKind::Own,
            source: "The crate usync 0.2.1, by kprotty",
            teaches: "A bit test-and-set acquires whatever the queue in the same word is doing",
            ..LockInfo::USUAL
        },
        Condvar: UsyncCondvar,
        new: Self { mutex: Mutex::new(()) },
        lock: |this, ()| this.raw().lock(),
        try_lock: |this, ()| this.raw().try_lock(),
        // SAFETY: the calling thread holds the lock.
        unlock: |this, ()| unsafe { this.raw().unlock() },
        is_idle: |this| {
            const { assert!(size_of::<Mutex<()>>() == size_of::<usize>()) };
            let new = Mutex::new(());
            // SAFETY: one atomic pointer, so there is no room for padding.
            unsafe { is_like_new(&mut this.mutex, &new) }
        },
    }
}

/// `usync::Condvar`.
// SAFETY, as a condition variable: it unlocks and locks the mutex of the guard, and loses no
// signal.
#[derive(Debug, Default)]
pub struct UsyncCondvar {
    condvar: Condvar,
}

raw_condvar! {
    unsafe impl RawCondvar<Native, UsyncMutex> for UsyncCondvar {
        new: Self::default(),
        wait: |this, lock, ()| {
            // SAFETY: the calling thread holds the lock, and has no guard: `lock` makes none.
            let guard = unsafe { lock.mutex.make_guard_unchecked() };
            // Not dropped, because the caller still holds the lock afterwards, even after a panic.
            this.condvar.wait(&mut ManuallyDrop::new(guard));
        },
        notify_one: |this| this.condvar.notify_one(),
        notify_all: |this| this.condvar.notify_all(),
    }
}
