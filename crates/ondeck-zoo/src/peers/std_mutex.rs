//! The standard library's mutex.
//!
//! Source: Rust 1.95, `library/std/src/sys/sync/mutex/futex.rs` and `sync/poison/mutex.rs`.
//!
//! Teaches: Drepper's three states with 100 polls before the first sleep, and what poisoning adds:
//! a read of the panic count on both sides, and a byte beside the lock.
//!
//! It is used through its public interface, poisoning included. `lock` makes a guard, which the
//! context of the locking thread keeps until `unlock`. The mutex has its real size, and once
//! inlined the guard is a register. A poisoned mutex is locked all the same.
//!
//! Its condition variable is Rust's too, `sys/sync/condvar/futex.rs`: a counter that waiters sleep
//! on, as in [`SequenceCondvar`](crate::SequenceCondvar), but with a system call in each
//! notification.
//!
//! After the unlock: nothing is touched. An unlock swaps the word for 0; if that found "contended",
//! it wakes a thread by address.

use std::cell::UnsafeCell;
use std::mem::{self, MaybeUninit};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};

use ondeck::platform::Native;

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawCondvar, RawLock, Waiting};

/// `std::sync::Mutex<()>`.
#[derive(Debug, Default)]
pub struct StdMutex {
    mutex: Mutex<()>,
}

/// Where the guard is while its thread holds the lock; uninitialized between acquisitions.
#[derive(Debug)]
pub struct StdGuard(UnsafeCell<MaybeUninit<MutexGuard<'static, ()>>>);

impl Default for StdGuard {
    fn default() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

impl StdGuard {
    #[inline(always)]
    fn keep(&self, guard: MutexGuard<'_, ()>) {
        // SAFETY: only the lifetime changes. The guard is used once more, by `unlock`, whose
        // caller has the mutex still borrowed; without an unlock it is never used or dropped.
        let guard = unsafe { mem::transmute::<MutexGuard<'_, ()>, MutexGuard<'static, ()>>(guard) };
        // SAFETY: the context serves this acquisition alone, and is not shared between threads
        // (it is not `Sync`), so no other reads it.
        unsafe { (*self.0.get()).write(guard) };
    }

    /// # Safety
    ///
    /// The calling thread acquired the lock with this context. Called once an acquisition.
    #[inline(always)]
    unsafe fn take(&self) -> MutexGuard<'static, ()> {
        // SAFETY: the guard is there since the acquisition, and is taken out once.
        unsafe { (*self.0.get()).assume_init_read() }
    }
}

// SAFETY: `std::sync::Mutex` excludes and synchronizes for as long as its guard lives, which is
// from `lock` or `try_lock` to `unlock`.
unsafe impl RawLock<Native> for StdMutex {
    const INFO: LockInfo = LockInfo {
        name: "std",
        origin: Origin::Peer,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Own,
        source: "Rust's standard library, std::sync::Mutex",
        teaches: "Three states and 100 polls before the first sleep; the price of poisoning",
    };

    type Context = StdGuard;
    type Condvar = StdCondvar;

    fn new() -> Self {
        Self::default()
    }

    #[inline]
    unsafe fn lock(&self, context: &StdGuard) {
        context.keep(self.mutex.lock().unwrap_or_else(PoisonError::into_inner));
    }

    #[inline]
    unsafe fn try_lock(&self, context: &StdGuard) -> bool {
        match self.mutex.try_lock() {
            Ok(guard) => context.keep(guard),
            Err(TryLockError::Poisoned(error)) => context.keep(error.into_inner()),
            Err(TryLockError::WouldBlock) => return false,
        }
        true
    }

    #[inline]
    unsafe fn unlock(&self, context: &StdGuard) {
        // SAFETY: this thread acquired the lock with this context.
        drop(unsafe { context.take() });
    }

    /// By acquiring it: that works only from the word 0, which has no waiter marked either.
    fn is_idle(&mut self) -> bool {
        !matches!(self.mutex.try_lock(), Err(TryLockError::WouldBlock))
    }
}

/// `std::sync::Condvar`.
#[derive(Debug, Default)]
pub struct StdCondvar {
    condvar: Condvar,
}

// SAFETY: `std::sync::Condvar` unlocks and locks the mutex of the guard, and loses no signal.
unsafe impl RawCondvar<Native, StdMutex> for StdCondvar {
    fn new() -> Self {
        Self::default()
    }

    unsafe fn wait(&self, _lock: &StdMutex, context: &StdGuard) {
        // SAFETY: the caller acquired the lock with this context, and the guard is put back below.
        let guard = unsafe { context.take() };
        context.keep(self.condvar.wait(guard).unwrap_or_else(PoisonError::into_inner));
    }

    fn notify_one(&self) {
        self.condvar.notify_one();
    }

    fn notify_all(&self) {
        self.condvar.notify_all();
    }
}
