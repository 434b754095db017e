//! Data guarded by the lock under test, with conditions that threads wait for: workloads whose
//! threads share more than the lock are made of.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};

use ondeck_zoo::{RawCondvar, RawLock};

use crate::machine::Machine;

/// A value that the lock `L` guards, and `N` condition variables for it. They lie side by side, as
/// they do in a program.
pub(super) struct Guarded<M: Machine, L: RawLock<M>, T, const N: usize = 0> {
    lock: L,
    conditions: [L::Condvar; N],
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached through `Held` only, which one thread at a time has; it is sent from
// one to the next, so it must be `Send`.
unsafe impl<M: Machine, L: RawLock<M>, T: Send, const N: usize> Sync for Guarded<M, L, T, N> {}

impl<M: Machine, L: RawLock<M>, T, const N: usize> Guarded<M, L, T, N> {
    pub(super) fn new(value: T) -> Self {
        Self {
            lock: L::new(),
            conditions: std::array::from_fn(|_| L::Condvar::new()),
            value: UnsafeCell::new(value),
        }
    }

    /// Locks, runs `section`, unlocks.
    #[inline(always)]
    pub(super) fn with<R>(
        &self,
        context: &mut L::Context,
        section: impl FnOnce(&mut Held<'_, M, L, T, N>) -> R,
    ) -> R {
        let context = &*context;
        // SAFETY: the exclusive borrow keeps the context in place and out of other uses until this
        // function returns, which is after the unlock.
        unsafe { self.lock.lock(context) };
        section(&mut Held { guarded: self, context })
    }

    /// Notifies one thread that waits for the condition; the lock may be held or not.
    #[inline]
    pub(super) fn notify_one(&self, condition: usize) {
        self.conditions[condition].notify_one();
    }

    /// Notifies all of them.
    #[inline]
    pub(super) fn notify_all(&self, condition: usize) {
        self.conditions[condition].notify_all();
    }
}

/// The value while its lock is held.
pub(super) struct Held<'a, M: Machine, L: RawLock<M>, T, const N: usize> {
    guarded: &'a Guarded<M, L, T, N>,
    context: &'a L::Context,
}

impl<M: Machine, L: RawLock<M>, T, const N: usize> Held<'_, M, L, T, N> {
    /// Sleeps until a condition is notified, or spuriously; the lock is free while it sleeps.
    #[inline]
    pub(super) fn wait(&mut self, condition: usize) {
        // SAFETY: only `with` makes this, so the lock is held by this context; a condition is only
        // ever waited for with the lock beside it.
        unsafe { self.guarded.conditions[condition].wait(&self.guarded.lock, self.context) };
    }

    /// What is held, for what may be done with it by any thread.
    #[inline(always)]
    pub(super) fn guarded(&self) -> &Guarded<M, L, T, N> {
        self.guarded
    }

    #[inline]
    pub(super) fn notify_one(&self, condition: usize) {
        self.guarded.notify_one(condition);
    }

    #[inline]
    pub(super) fn notify_all(&self, condition: usize) {
        self.guarded.notify_all(condition);
    }
}

impl<M: Machine, L: RawLock<M>, T, const N: usize> Deref for Held<'_, M, L, T, N> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, so this thread alone reaches the value.
        let value = unsafe { &*self.guarded.value.get() };
        M::touch(value, false);
        value
    }
}

impl<M: Machine, L: RawLock<M>, T, const N: usize> DerefMut for Held<'_, M, L, T, N> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the exclusive borrow makes this the only reference.
        let value = unsafe { &mut *self.guarded.value.get() };
        M::touch(value, true);
        value
    }
}

impl<M: Machine, L: RawLock<M>, T, const N: usize> Drop for Held<'_, M, L, T, N> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: only `with` makes this, after it has locked with this context.
        unsafe { self.guarded.lock.unlock(self.context) };
    }
}
