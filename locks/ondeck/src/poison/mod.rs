//! Locks that remember that a thread panicked while it held them.
//!
//! [`ondeck::Mutex`](crate::Mutex) does not: a panic only unlocks it. If changes to the protected
//! data may be left incomplete, these locks report that to the next owner by a [`LockResult`], like
//! the standard library's. It costs a byte and a check whether the thread panics; other locks pay
//! nothing for it.
//!
//! They have the methods, the traits and the output of the standard library's locks, so that a
//! program may replace one `use` by the other: `use ondeck::poison::{Condvar, Mutex, MutexGuard};`.
//! The types of the results are the standard library's, except for [`WaitTimeoutResult`], which no
//! other crate can construct.
//!
//! | file | what |
//! |---|---|
//! | `mutex.rs` | the mutex, its guard, and guards of a part |
//! | `condvar.rs` | the condition variable |
//! | `rwlock.rs` | the reader-writer lock and its guards |
//!
//! # What poisons
//!
//! A panic that begins while a guard with write access exists, and drops that guard. A guard that
//! is created while its thread is already panicking, by a destructor, does not poison: its own
//! section did not panic.

extern crate std;

/// A guard is shown as its value.
macro_rules! shows_its_value {
    ($($guard:ident)*) => {$(
        impl<T: ?Sized + fmt::Debug> fmt::Debug for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }

        impl<T: ?Sized + fmt::Display> fmt::Display for $guard<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                (**self).fmt(f)
            }
        }
    )*};
}

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
/// Relaxed: written and read by owners, in the order of the lock; for other threads it is a hint.
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

    /// Begins a section.
    fn begin(&self) -> Section<'_> {
        Section { flag: self, panicking_before: panicking() }
    }

    /// Returns the value, as an error if the lock is poisoned.
    fn tell<T>(&self, value: T) -> LockResult<T> {
        if self.is_set() { Err(PoisonError::new(value)) } else { Ok(value) }
    }
}

/// A part of a guard, declared before the lock itself: when it is dropped the section ends, and the
/// lock is still held.
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
    /// Runs a part of the section. If it panics, the lock is poisoned before anything outside is
    /// dropped.
    fn within<R>(&self, part: impl FnOnce() -> R) -> R {
        let _inner = Section { flag: self.flag, panicking_before: self.panicking_before };
        part()
    }
}
