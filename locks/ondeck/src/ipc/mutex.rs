//! The mutex for shared memory that programs use.

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

/// A mutual-exclusion lock around a `T` in memory that several processes have mapped: 40 bytes and
/// the `T`.
///
/// If a thread ends while it owns the lock, the next owner receives an [`OwnerDied`], and so do
/// later ones until one has repaired the data. See the [module](super).
///
/// # Panics
///
/// If its owner locks it again.
///
/// # Memory ordering
///
/// An unlock happens before the next lock, in any process. All that an owner did which ended also
/// happens before the next lock.
///
/// # Cost
///
/// An uncontended lock and its unlock cost one atomic read-modify-write each, and some plain stores
/// to a list of the thread. A waiting thread sleeps after some hundred nanoseconds, and is woken by
/// a system call. An arriving thread may acquire the lock before a thread that waits.
#[repr(C)]
pub struct Mutex<T: ?Sized> {
    raw: RawMutex,
    data: UnsafeCell<T>,
}

// SAFETY: the mutex gives one thread at a time access to the data.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

/// The guard of the lock. Dropping it unlocks the mutex.
///
/// In the child of a fork the copy of a guard holds no lock: dropping it does nothing, and using it
/// is a data race with the parent.
#[must_use = "the lock is unlocked at once if the guard is not kept"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    /// The number by which its thread owns the mutex. The copy in the child of a fork has the
    /// parent's.
    number: u32,
    /// Only the owner unlocks: not `Send`.
    own: PhantomData<*const ()>,
}

// SAFETY: a shared guard gives a `&T`.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

/// The result of a lock: the guard, or the guard together with the report that an owner ended.
pub type LockResult<'a, T> = Result<MutexGuard<'a, T>, OwnerDied<'a, T>>;

/// A thread ended while it owned the lock, and no later owner has repaired it. This value holds the
/// lock. Dropping it unlocks the mutex.
///
/// Safe code may have kept a reference into the data: a thread leaks its guard, sends the reference
/// to another thread, and ends. So no safe function gives access to the data:
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
    /// Returns the lock. The next owner also receives an `OwnerDied`.
    ///
    /// # Safety
    ///
    /// No running thread has a reference into the data. That holds if the programs leak and forget
    /// no guards, and lend the data to no other threads: then the owner has ended with its whole
    /// process, and all references to the data with it.
    pub unsafe fn into_inner(self) -> MutexGuard<'a, T> {
        self.guard
    }

    /// Returns the lock. The next owner acquires it as if no owner had ended, so the caller must
    /// repair the data.
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
    /// Creates an unlocked mutex around `value`.
    ///
    /// # Safety
    ///
    /// * While a thread of this process owns it, even by a forgotten guard, the mutex is not moved,
    ///   and its memory stays mapped and is not used for anything else: the kernel writes there if
    ///   the thread ends, and the thread itself writes there when it locks or unlocks other such
    ///   locks.
    /// * If other processes map the memory, `T` means the same in each: it has no pointers,
    ///   references or handles of one process, and the programs agree on its layout. They use the
    ///   mutex only by this type, and are in one PID namespace.
    pub const unsafe fn new(value: T) -> Self {
        Self { raw: RawMutex::new(), data: UnsafeCell::new(value) }
    }

    /// Returns the value, when no thread can own the lock any more.
    pub fn into_inner(self) -> T {
        self.data.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits until the calling thread owns the lock.
    ///
    /// # Errors
    ///
    /// [`OwnerDied`], with the lock, if a thread ended while it owned the lock.
    ///
    /// # Panics
    ///
    /// If the calling thread already owns it.
    pub fn lock(&self) -> LockResult<'_, T> {
        self.locked(self.raw.lock(None)).expect("without a deadline a wait ends with the lock")
    }

    /// Acquires the lock if it is free; otherwise returns `None`.
    pub fn try_lock(&self) -> Option<LockResult<'_, T>> {
        self.locked(self.raw.try_lock())
    }

    /// As [`lock`](Self::lock), until the deadline at the latest. Returns `None` if it passes
    /// first.
    pub fn try_lock_by(&self, deadline: Timestamp) -> Option<LockResult<'_, T>> {
        self.locked(self.raw.lock(Some(deadline)))
    }

    /// As [`lock`](Self::lock), for at most `timeout`. Returns `None` if it passes first.
    pub fn try_lock_for(&self, timeout: Duration) -> Option<LockResult<'_, T>> {
        self.try_lock_by(Native::now().after(timeout))
    }

    /// As [`lock`](Self::lock), until `instant` at the latest. Returns `None` if it passes first.
    pub fn try_lock_until(&self, instant: Instant) -> Option<LockResult<'_, T>> {
        self.try_lock_by(deadline(instant))
    }

    /// Returns the value without locking: the caller has the only reference, so no thread can own
    /// the lock.
    pub fn get_mut(&mut self) -> &mut T {
        self.data.get_mut()
    }

    /// Returns whether a thread owns the lock, for assertions and tests.
    pub fn is_locked(&self) -> bool {
        self.raw.is_locked()
    }

    fn locked(&self, locked: Locked) -> Option<LockResult<'_, T>> {
        let guard = MutexGuard { mutex: self, number: Native::tid(), own: PhantomData };
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
    /// Clears the mark that an earlier owner ended: the caller has repaired the data.
    ///
    /// It takes `&mut`, because only the owner has that: another thread may have a shared reference
    /// to the leaked guard of an owner that has ended, and by it could repair a lock that it has
    /// itself received as an [`OwnerDied`].
    ///
    /// ```compile_fail,E0308
    /// fn repair(leaked: &'static ondeck::ipc::MutexGuard<'static, u64>) {
    ///     ondeck::ipc::MutexGuard::repair(leaked);
    /// }
    /// ```
    pub fn repair(guard: &mut Self) {
        guard.mutex.raw.repair(guard.number);
    }

    /// Returns whether the next owner will receive the report that an earlier one ended.
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
        // SAFETY: the guard proves that the thread with this number owns it, or that its copy has
        // made this one.
        unsafe { self.mutex.raw.unlock(self.number) };
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the lock is held. If this guard was leaked and its thread has ended, the next
        // owner has an `OwnerDied`, and reaches the data only by its unsafe functions, whose caller
        // excludes references like this one.
        unsafe { &*self.mutex.data.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the lock is held, by this guard alone. If it was leaked and its thread has ended:
        // as above.
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
