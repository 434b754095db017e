//! Locks that remember that a thread panicked while it held them.
//!
//! [`ondeck::Mutex`](crate::Mutex) does not: a panic unlocks it and that is all. Where the protected
//! data may be left half changed, these tell the next owner, like the standard library's, by a
//! [`LockResult`]. It costs a byte and a look at the thread's panics; others pay nothing for it.
//!
//! They have the methods, the traits and the output of those of the standard library, so that a program may
//! change one `use` for the other: `use ondeck::poison::{Condvar, Mutex, MutexGuard};`. The types of the
//! results are the standard library's, except for [`WaitTimeoutResult`], which no other crate can make.
//!
//! | file | what |
//! |---|---|
//! | `mutex.rs` | the mutex, its guard, and guards of a part |
//! | `condvar.rs` | the condition variable |
//! | `rwlock.rs` | the reader-writer lock and its guards |
//!
//! # What poisons
//!
//! A panic that begins while a guard is there that may write, and drops it. A guard that is made while its thread panics
//! already, by a destructor, does not poison: its own section did not panic.

extern crate std;

mod condvar;
mod mutex;
mod rwlock;

use core::sync::atomic::{AtomicBool, Ordering};
use std::thread::panicking;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use mutex::{MappedMutexGuard, Mutex, MutexGuard};
pub use rwlock::{
    MappedRwLockReadGuard, MappedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
pub use std::sync::{LockResult, PoisonError, TryLockError, TryLockResult};

/// Whether a thread panicked while it held a lock.
///
/// Relaxed: written and read by owners, in the order of the lock; others get a hint.
#[derive(Debug, Default)]
struct Flag(AtomicBool);

impl Flag {
    const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn clear(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// A section begins.
    fn begin(&self) -> Section<'_> {
        Section { flag: self, panicking_before: panicking() }
    }

    /// The value, which is told to be poisoned if it is.
    fn tell<T>(&self, value: T) -> LockResult<T> {
        if self.is_set() { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

/// Part of a guard, before the lock itself: when it is dropped the section ends, and the lock is still held.
struct Section<'a> {
    flag: &'a Flag,
    panicking_before: bool,
}

impl Drop for Section<'_> {
    fn drop(&mut self) {
        if !self.panicking_before && panicking() {
            self.flag.0.store(true, Ordering::Relaxed);
        }
    }
}

impl Section<'_> {
    /// Runs a part of the section. If it panics, the lock is poisoned before anything outside is dropped.
    fn within<R>(&self, part: impl FnOnce() -> R) -> R {
        let _inner = Section { flag: self.flag, panicking_before: self.panicking_before };
        part()
    }
}
