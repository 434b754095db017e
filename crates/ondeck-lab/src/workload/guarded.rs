//! Data guarded by the lock under test, with conditions that threads wait for: the building block of workloads whose
//! threads share more than the lock.

use std::alloc::Layout;
use std::any::TypeId;
use std::cmp::Reverse;
use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::any::{AnyMutex, Context, Memory};
use crate::machine::Machine;

/// A value that a mutex guards, and `N` condition variables for it. They are adjacent, as in a program, on their own
/// cache lines.
pub struct Guarded<M: Machine, T, const N: usize = 0> {
    calls: AnyMutex<M>,
    of: TypeId,
    lock: *const u8,
    conditions: [*const u8; N],
    value: *mut T,
    /// Contains all of them.
    _memory: Memory,
}

// SAFETY: locks and condition variables may be used by all threads. The value is reached through `Held` only, which
// one thread at a time has; the value is sent from one to the next, so it must be `Send`.
unsafe impl<M: Machine, T: Send, const N: usize> Sync for Guarded<M, T, N> {}
// SAFETY: as above; nothing here belongs to a thread.
unsafe impl<M: Machine, T: Send, const N: usize> Send for Guarded<M, T, N> {}

impl<M: Machine, T, const N: usize> Guarded<M, T, N> {
    /// Makes the value with an unlocked mutex of that type.
    ///
    /// # Panics
    ///
    /// Never: no lock and no value is too large.
    pub fn new(calls: AnyMutex<M>, value: T) -> Self {
        let layouts = calls.layouts();
        let mut fields = vec![layouts.lock];
        fields.extend([layouts.condvar; N]);
        fields.push(Layout::new::<T>());
        // In the order that the compiler gives to the fields of a struct.
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_by_key(|&field| Reverse(fields[field].align()));
        let mut whole = Layout::new::<()>();
        let mut offsets = vec![0; fields.len()];
        for field in order {
            (whole, offsets[field]) = whole.extend(fields[field]).expect("a few hundred bytes");
        }
        let memory = Memory::of(whole);
        let conditions = std::array::from_fn(|condition| memory.at(offsets[1 + condition]));
        let (lock, place) = (memory.at(offsets[0]), memory.at(offsets[1 + N]).cast::<T>());
        // SAFETY: each has a part of the memory to itself, of its size and alignment.
        unsafe {
            calls.make_lock(lock);
            for condition in conditions {
                calls.make_condvar(condition);
            }
            place.write(value);
        }
        let conditions = conditions.map(<*mut u8>::cast_const);
        Self { calls, of: calls.of(), lock, conditions, value: place, _memory: memory }
    }

    /// Makes a thread's context for acquisitions, one at a time.
    pub fn context(&self) -> Context<M> {
        Context::of(self.calls)
    }

    /// Locks, runs `section`, unlocks.
    #[inline]
    pub fn with<R>(
        &self,
        context: &mut Context<M>,
        section: impl FnOnce(&mut Held<'_, M, T, N>) -> R,
    ) -> R {
        let context = &*context;
        // SAFETY: the exclusive borrow keeps the context out of other uses until this function returns, which is after
        // the unlock. A section that locked the same mutex again would wait for itself for ever; workloads of mutexes that
        // their owner may lock again do not nest sections.
        unsafe { self.lock(context) };
        section(&mut Held { guarded: self, context })
    }

    /// Locks.
    ///
    /// # Safety
    ///
    /// The calling thread does not hold the lock. Until the unlock the context exists and serves no other acquisition.
    #[inline]
    pub unsafe fn lock(&self, context: &Context<M>) {
        // SAFETY: the caller promises it, and the context stays in place on the heap.
        unsafe { self.calls.lock(self.lock, context.address(self.of)) };
    }

    /// Unlocks.
    ///
    /// # Safety
    ///
    /// The calling thread holds the lock, and acquired it with this very context.
    #[inline]
    pub unsafe fn unlock(&self, context: &Context<M>) {
        // SAFETY: the caller promises it.
        unsafe { self.calls.unlock(self.lock, context.address(self.of)) };
    }

    /// Notifies one thread that waits for the condition; the lock may be held or not.
    #[inline]
    pub fn notify_one(&self, condition: usize) {
        // SAFETY: the condition variable exists.
        unsafe { self.calls.notify_one(self.conditions[condition]) };
    }

    /// Notifies all threads that wait for the condition.
    #[inline]
    pub fn notify_all(&self, condition: usize) {
        // SAFETY: as above.
        unsafe { self.calls.notify_all(self.conditions[condition]) };
    }
}

impl<M: Machine, T, const N: usize> fmt::Debug for Guarded<M, T, N> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Guarded").field(&self.calls).finish()
    }
}

impl<M: Machine, T, const N: usize> Drop for Guarded<M, T, N> {
    fn drop(&mut self) {
        // SAFETY: they were made with it, and nothing uses them any more.
        unsafe {
            self.value.drop_in_place();
            for condition in self.conditions {
                self.calls.drop_condvar(condition.cast_mut());
            }
            self.calls.drop_lock(self.lock.cast_mut());
        }
    }
}

/// The value while its lock is held.
#[derive(Debug)]
pub struct Held<'a, M: Machine, T, const N: usize> {
    guarded: &'a Guarded<M, T, N>,
    context: &'a Context<M>,
}

impl<M: Machine, T, const N: usize> Held<'_, M, T, N> {
    /// Sleeps until a condition is notified, or spuriously; the lock is free while it sleeps.
    #[inline]
    pub fn wait(&mut self, condition: usize) {
        let Guarded { calls, of, lock, conditions, .. } = self.guarded;
        // SAFETY: only `with` makes this, so the lock is held with this context; every wait for a condition uses the
        // lock next to it.
        unsafe { calls.wait(conditions[condition], *lock, self.context.address(*of)) };
    }

    /// Notifies one thread that waits for the condition.
    #[inline]
    pub fn notify_one(&self, condition: usize) {
        self.guarded.notify_one(condition);
    }

    /// Notifies all threads that wait for the condition.
    #[inline]
    pub fn notify_all(&self, condition: usize) {
        self.guarded.notify_all(condition);
    }

    /// The whole object, for operations that any thread may do.
    #[inline]
    pub fn guarded(&self) -> &Guarded<M, T, N> {
        self.guarded
    }
}

impl<M: Machine, T, const N: usize> Deref for Held<'_, M, T, N> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the lock is held, so this thread alone reaches the value.
        let value = unsafe { &*self.guarded.value };
        M::touch(value, false);
        value
    }
}

impl<M: Machine, T, const N: usize> DerefMut for Held<'_, M, T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above, and the exclusive borrow makes this the only reference.
        let value = unsafe { &mut *self.guarded.value };
        M::touch(value, true);
        value
    }
}

impl<M: Machine, T, const N: usize> Drop for Held<'_, M, T, N> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: only `with` makes this, after it has locked with this context.
        unsafe { self.guarded.unlock(self.context) };
    }
}
