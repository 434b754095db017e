//! The mutex for shared memory as programs use it.

extern crate std;

use core::cell::UnsafeCell;
use core::fmt;
use core::marker::PhantomData;
use core::mem;
use core::ops::{Deref, DerefMut};
use core::time::Duration;
use std::time::Instant;

use super::raw::{Locked, RawMutex};
use crate::mutex::deadline;
use crate::platform::{Native, Platform, Timestamp};

/// A mutual-exclusion lock around a `T` in memory that several processes have mapped: 40 bytes and the
/// `T`.
///
/// If a thread ends while it owns the lock, the next owner is told by an [`OwnerDied`], and so are the later
/// ones until one has put the data right. See the [module](super).
///
/// # Panics
///
/// When its owner locks it again.
///
/// # Memory ordering
///
/// An unlock happens before the next lock, in whichever process. So does all that an owner did which
/// ended.
///
/// # Cost
///
/// One atomic read-modify-write for an uncontended lock, one for the unlock, and some plain stores to a list
/// of the thread. A thread that waits sleeps after some hundred nanoseconds, and is woken by a system
/// call. A thread that arrives may take the lock before one that waits.
#[repr(C)]
pub struct Mutex<T: ?Sized> {
    raw: RawMutex,
    data: UnsafeCell<T>,
}

// SAFETY: the mutex lets one thread at a time have the data.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// The lock, held; it is unlocked when this is dropped.
///
/// In the child of a fork the copy of a guard gives no lock: dropping it does nothing, and using it is a
/// data race with the parent.
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// The owner unlocks: not `Send`.
    own: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives a `&T`.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

/// What a lock returns: the guard, or the guard together with the news that an owner ended.
pub type LockResult<'a, T> = Result<MutexGuard<'a, T>, OwnerDied<'a, T>>;

/// A thread ended while it owned the lock, and no later owner has repaired it. This has the lock, held; it is
/// unlocked when this is dropped.
///
/// Safe code may have kept a reference into the data: a thread leaks its guard, sends the reference to another
/// thread, and ends. So a safe function does not reach the data:
///
/// ```compile_fail,E0133
/// fn lock(mutex: &ondeck::ipc::Mutex<u64>) -> ondeck::ipc::MutexGuard<'_, u64> {
///     mutex.lock().unwrap_or_else(|died| died.repair())
/// }
/// ```
pub struct OwnerDied<'a, T: ?Sized> {
    guard: MutexGuard<'a, T>,
}

impl<'a, T: ?Sized> OwnerDied<'a, T> {
    /// The lock, whose next owner also gets an `OwnerDied`.
    ///
    /// # Safety
    ///
    /// No running thread has a reference into the data. It is so where the programs leak and forget no guards, and
    /// lend the data to no other threads: then the owner has ended with its whole process, and all references to
    /// the data with it.
    pub unsafe fn into_inner(self) -> MutexGuard<'a, T> {
        self.guard
    }

    /// The lock, whose next owner gets it as if no owner had ended: the caller puts the data right.
    ///
    /// # Safety
    ///
    /// As for [`into_inner`](Self::into_inner).
    pub unsafe fn repair(mut self) -> MutexGuard<'a, T> {
        MutexGuard::repair(&mut self.guard);
        self.guard
    }
}

impl<T: ?Sized> fmt::Debug for OwnerDied<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnerDied").finish_non_exhaustive()
    }
}

impl<T: ?Sized> fmt::Display for OwnerDied<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a thread ended while it owned the lock, and no owner has repaired it")
    }
}

impl<T: ?Sized> core::error::Error for OwnerDied<'_, T> {}

impl<T> Mutex<T> {
    /// An unlocked mutex around `value`.
    ///
    /// # Safety
    ///
    /// * While a thread of this process owns it, also by a guard that was forgotten, the mutex stays where it
    ///   is, and its memory stays mapped and is used for nothing else: the kernel writes there if the thread
    ///   ends, and the thread itself when it takes or gives up other such locks.
    /// * If other processes map the memory, `T` means the same in each: it has no pointers, references or
    ///   handles of one process, and the programs agree on its layout. They use the mutex by this type only,
    ///   and are of one PID namespace.
    pub const unsafe fn new(value: T) -> Self {
        Self { raw: RawMutex::new(), data: UnsafeCell::new(value) }
    }

    /// The value, when no thread can own the lock any more.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until the lock is the calling thread's.
    ///
    /// # Errors
    ///
    /// [`OwnerDied`], with the lock, if a thread ended while it owned it.
    ///
    /// # Panics
    ///
    /// If the calling thread owns it.
    pub fn lock(&self) -> LockResult<'_, T> {
        self.locked(self.raw.lock(None)).expect("without a deadline a wait ends with the lock")
    }

    /// Acquires the lock if it is free; `None` if it is not.
    pub fn try_lock(&self) -> Option<LockResult<'_, T>> {
        self.locked(self.raw.try_lock())
    }

    /// As [`lock`](Self::lock), until the deadline at most; `None` if it passed before.
    pub fn try_lock_by(&self, deadline: Timestamp) -> Option<LockResult<'_, T>> {
        self.locked(self.raw.lock(Some(deadline)))
    }

    /// As [`lock`](Self::lock), for a time at most; `None` if it was over before.
    pub fn try_lock_for(&self, timeout: Duration) -> Option<LockResult<'_, T>> {
        self.try_lock_by(Native::now().after(timeout))
    }

    /// As [`lock`](Self::lock), until `instant` at most; `None` if it passed before.
    pub fn try_lock_until(&self, instant: Instant) -> Option<LockResult<'_, T>> {
        self.try_lock_by(deadline(instant))
    }

    /// The value, which no thread can have locked: the caller has the only reference.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }

    /// Whether a thread owns the lock, for assertions and tests.
    pub fn is_locked(&self) -> bool {
        self.raw.is_locked()
    }

    fn locked(&self, locked: Locked) -> Option<LockResult<'_, T>> {
        let guard = MutexGuard { mutex: self, own: PhantomData };
        match locked {
            Locked::Clean => Some(Ok(guard)),
            Locked::Died => Some(Err(OwnerDied { guard })),
            Locked::No => {
                mem::forget(guard);
                None
            }
        }
    }
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    /// Forgets that an earlier owner ended: the caller has put the data right.
    ///
    /// `&mut`, because only the owner has that: another thread may have a shared reference to the leaked guard of an
    /// owner that has ended, and would repair by it what it has itself got as an [`OwnerDied`].
    ///
    /// ```compile_fail,E0308
    /// fn repair(leaked: &'static ondeck::ipc::MutexGuard<'static, u64>) {
    ///     ondeck::ipc::MutexGuard::repair(leaked);
    /// }
    /// ```
    pub fn repair(guard: &mut Self) {
        guard.mutex.raw.repair();
    }

    /// Whether the next owner will be told that an earlier one ended.
    pub fn owner_has_died(guard: &Self) -> bool {
        guard.mutex.raw.has_died()
    }

    /// Unlocks, runs `wait`, and locks again.
    pub(super) fn unlocked(self, wait: impl FnOnce()) -> LockResult<'a, T> {
        let mutex = self.mutex;
        drop(self);
        wait();
        mutex.lock()
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the guard says that the calling thread owns it.
        unsafe { self.mutex.raw.unlock() };
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the lock is held.
        unsafe { &*self.mutex.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, by this guard alone.
        unsafe { &mut *self.mutex.data.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mutex").field("locked", &self.is_locked()).finish_non_exhaustive()
    }
}
