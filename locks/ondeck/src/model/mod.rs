//! All of the crate but `owned` and `poison`, where loom or shuttle runs the program: types with
//! the same interface that are thin over the checker's own mutex, reader-writer lock and condition
//! variable. So the checker explores the schedules of the program, and not those of this crate's
//! protocols. `docs/testing.md` is for users.
//!
//! No deadline passes, as with the checkers' own types.

#![allow(
    missing_docs,
    clippy::missing_panics_doc,
    reason = "an item is documented where that is which it stands for"
)]

extern crate std;

use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LockResult, PoisonError};

#[cfg_attr(all(loom, feature = "loom"), path = "loom.rs")]
#[cfg_attr(not(all(loom, feature = "loom")), path = "shuttle.rs")]
mod checker;
pub mod condvar;
mod family;
mod is_held;
mod kept;
// Shuttle's attempts do not wait: it can have the one of the locks.
#[cfg_attr(not(all(loom, feature = "loom")), path = "../lock_all.rs")]
mod lock_all;
mod monitor;
pub mod mutex;
pub mod once;
pub mod rwlock;

pub mod barrier {
    pub use super::family::{Barrier, BarrierWaitResult};
}
pub mod fair {
    pub use super::mutex::RawMutex as RawFairMutex;
    pub use super::mutex::locks::{FairMutex, FairMutexGuard, MappedFairMutexGuard};
}
pub mod latch {
    pub use super::family::{Latch, MOST_COUNT};
}
pub mod pi {
    pub use super::mutex::RawMutex as RawPiMutex;
    pub use super::mutex::locks::{MappedPiMutexGuard, PiMutex, PiMutexGuard};
}
pub mod reentrant {
    pub use super::mutex::RawThreadId;
    pub use super::mutex::locks::{MappedReentrantMutexGuard, ReentrantMutex, ReentrantMutexGuard};
}
pub mod semaphore {
    pub use super::family::{MOST_PERMITS, Semaphore};
}

pub use barrier::{Barrier, BarrierWaitResult};
pub use checker::exported::*;
pub use condvar::{Condvar, WaitTimeoutResult};
pub use is_held::IsHeld;
use kept::Kept;
pub use latch::Latch;
pub use lock_all::{LockAll, Lockable, lock_all};
pub use lock_api;
pub use mutex::locks::*;
pub use once::{LazyLock, Once, OnceLock};
pub use rwlock::locks::*;
pub use semaphore::Semaphore;

/// There is nothing to prepare.
pub fn prepare() {}

pub trait AnyLock {}

impl<L: ?Sized> AnyLock for L {}

/// No report shows the name.
pub fn name(_: &impl AnyLock, _: &'static CStr) {}

/// An object of the checker, which is made at its first use: `new` of a lock is `const`, and loom's
/// is not. It stays where it is when the lock moves.
struct Made<T>(std::sync::OnceLock<Arc<MadeIn<T>>>);

struct MadeIn<T> {
    execution: usize,
    /// In the order of the first uses.
    #[allow(dead_code, reason = "it is for `lock_all` under loom")]
    number: usize,
    object: T,
}

impl<T: Default> Made<T> {
    const fn new() -> Self {
        Self(std::sync::OnceLock::new())
    }

    fn made(&self) -> &MadeIn<T> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let (execution, _) = checker::here();
        let made = self.0.get_or_init(|| {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            Arc::new(MadeIn { execution, number, object: T::default() })
        });
        assert!(
            made.execution == execution,
            "this lock is of an earlier execution: make locks in the closure of the model, and statics by \
             `loom::lazy_static!`"
        );
        made
    }

    /// Returns the object. Its guards are [`Kept`], unless they are dropped while the lock is
    /// borrowed.
    fn get(&self) -> &'static T {
        // SAFETY: as above, it is not used without the lock.
        unsafe { &*ptr::from_ref(&self.made().object) }
    }
}

/// The thread that holds a lock alone, or 0.
struct Owner(AtomicUsize);

impl Owner {
    const fn none() -> Self {
        Self(AtomicUsize::new(0))
    }

    fn enters(&self) {
        self.0.store(checker::here().1 + 1, Ordering::Relaxed);
    }

    fn leaves(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn is_this_thread(&self) -> bool {
        self.0.load(Ordering::Relaxed) == checker::here().1 + 1
    }
}

/// The place of a guard of the checker, while its lock is held.
struct Slot<G> {
    guard: UnsafeCell<Option<Kept<G>>>,
    owner: Owner,
}

// SAFETY: `put` and `take` are for the thread that holds the lock.
unsafe impl<G> Send for Slot<G> {}
// SAFETY: as above.
unsafe impl<G> Sync for Slot<G> {}

impl<G> Slot<G> {
    const fn new() -> Self {
        Self { guard: UnsafeCell::new(None), owner: Owner::none() }
    }

    /// # Safety
    ///
    /// The calling thread holds the lock.
    unsafe fn put(&self, guard: G) {
        // SAFETY: as the caller promises.
        unsafe { *self.guard.get() = Some(Kept::of(guard)) };
        self.owner.enters();
    }

    /// Returns `None` in a thread that unwinds because a wait of it never ends: it does not hold
    /// the lock again.
    ///
    /// # Safety
    ///
    /// The calling thread holds the lock.
    unsafe fn take(&self) -> Option<G> {
        self.owner.leaves();
        // SAFETY: as the caller promises; the slot is in the guard's lock.
        unsafe { (*self.guard.get()).take().map(|guard| guard.guard()) }
    }
}

/// The checkers' locks poison, because those of the standard library do.
fn unpoisoned<G>(result: LockResult<G>) -> G {
    result.unwrap_or_else(PoisonError::into_inner)
}
