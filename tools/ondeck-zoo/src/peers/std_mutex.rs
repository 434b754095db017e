//! The standard library's mutex.
//!
//! Source: Rust 1.95, `library/std/src/sys/sync/mutex/futex.rs` and `sync/poison/mutex.rs`.
//!
//! Teaches: Drepper's three states with 100 polls before the first sleep, and the cost of
//! poisoning: a read of the panic count on both sides, and a byte beside the lock.
//!
//! It is used through its public interface, including poisoning. `lock` makes a guard, which the
//! context of the locking thread keeps until `unlock`. The mutex has its real size, and after
//! inlining the guard is a register. A poisoned mutex can still be locked.
//!
//! Its condition variable is also Rust's, `sys/sync/condvar/futex.rs`: a counter that waiters sleep
//! on, as in [`SequenceCondvar`](crate::SequenceCondvar), but with a system call in each
//! notification.
//!
//! After the unlock: nothing is touched. An unlock swaps the word for 0; if that found "contended",
//! it wakes a thread by address.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError, TryLockResult};

use ondeck::platform::Native;

use crate::{CondvarKind, Kept, LockInfo, Origin, RawCondvar, RawLock, Waiting};

/// `std::sync::Mutex<()>`.
// SAFETY, as a lock: `std::sync::Mutex` excludes and synchronizes for as long as its guard lives,
// which is from `lock` or `try_lock` to `unlock`.
#[derive(Debug, Default)]
pub struct StdMutex {
    mutex: Mutex<()>,
}

keeps!(keep MutexGuard);

/// The guard of a successful attempt, poisoned or not.
#[inline(always)]
pub(super) fn unpoisoned<G>(attempt: TryLockResult<G>) -> Option<G> {
    match attempt {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(error)) => Some(error.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

raw_lock! {
    unsafe impl RawLock<Native> for StdMutex {
        INFO: LockInfo {
            name: "std",
            origin: Origin::Peer,
            waiting: Waiting::SpinsThenSleeps,
            condvar: CondvarKind::Own,
            source: "Rust's standard library, std::sync::Mutex",
            teaches: "Three states and 100 polls before the first sleep; the price of poisoning",
            ..LockInfo::USUAL
        },
        Context: Kept<MutexGuard<'static, ()>>,
        Condvar: StdCondvar,
        new: Self::default(),
        lock: |this, context| {
            keep(context, this.mutex.lock().unwrap_or_else(PoisonError::into_inner));
        },
        try_lock: |this, context| {
            unpoisoned(this.mutex.try_lock()).map(|guard| keep(context, guard)).is_some()
        },
        // SAFETY: this thread acquired the lock with this context.
        unlock: |_, context| drop(unsafe { context.take() }),
        // Acquires it: that works only from the word 0, which also has no waiter marked.
        is_idle: |this| unpoisoned(this.mutex.try_lock()).is_some(),
    }
}

/// `std::sync::Condvar`.
// SAFETY, as a condition variable: it unlocks and locks the mutex of the guard, and loses no
// signal.
#[derive(Debug, Default)]
pub struct StdCondvar {
    condvar: Condvar,
}

raw_condvar! {
    unsafe impl RawCondvar<Native, StdMutex> for StdCondvar {
        new: Self::default(),
        wait: |this, _lock, context| {
            // SAFETY: the caller acquired the lock with this context, and the guard is put back
            // below.
            let guard = unsafe { context.take() };
            keep(context, this.condvar.wait(guard).unwrap_or_else(PoisonError::into_inner));
        },
        notify_one: |this| this.condvar.notify_one(),
        notify_all: |this| this.condvar.notify_all(),
    }
}
