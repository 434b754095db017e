//! Data guarded by the lock under test, with conditions that threads wait for: the building block
//! of workloads whose threads share more than the lock.

use std::alloc::Layout;
use std::cell::Cell;
use std::cmp::Reverse;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::any::{AnyMutex, Context, Memory};
use crate::machine::Machine;

/// A value that a mutex guards, and `N` condition variables for it. They are adjacent, as in a
/// program, on their own cache lines.
pub struct Guarded<M: Machine, T, const N: usize = 0> {
    calls: AnyMutex<M>,
    lock: *const u8,
    conditions: [*const u8; N],
    value: *mut T,
    /// The number of sections that the owner is in, if its thread may lock the mutex again. It is
    /// beside the value, which only the owner touches either.
    sections: Option<NonNull<Cell<u32>>>,
    /// Contains all of them.
    _memory: Memory,
}

// SAFETY: locks and condition variables may be used by all threads. The value is reached through
// `Held` only, of which there is one at a time, and the owner alone counts its sections; the value
// is sent from one thread to the next, so it must be `Send`.
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
        let mut fields = vec![calls.mutex.layout];
        fields.extend([calls.condvar.layout; N]);
        fields.push(Layout::new::<T>());
        if calls.is_reentrant {
            fields.push(Layout::new::<Cell<u32>>());
        }
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
        #[allow(clippy::cast_ptr_alignment, reason = "the offset is that of its layout")]
        let sections = offsets.get(2 + N).map(|&offset| memory.at(offset).cast::<Cell<u32>>());
        // SAFETY: each has a part of the memory to itself, of its size and alignment.
        unsafe {
            if let Some(sections) = sections {
                sections.write(Cell::new(0));
            }
            (calls.mutex.make)(lock);
            for condition in conditions {
                (calls.condvar.make)(condition);
            }
            place.write(value);
        }
        let conditions = conditions.map(<*mut u8>::cast_const);
        let sections = sections.and_then(NonNull::new);
        Self { calls, lock, conditions, value: place, sections, _memory: memory }
    }

    /// Makes a thread's context for acquisitions, one at a time.
    pub fn context(&self) -> Context<M> {
        Context::of(self.calls)
    }

    /// Locks, runs `section`, unlocks.
    ///
    /// # Panics
    ///
    /// If the thread is in a section of the same mutex, and the mutex lets it. With other mutexes
    /// it waits for ever.
    #[inline]
    pub fn with<R>(
        &self,
        context: &mut Context<M>,
        section: impl FnOnce(&mut Held<'_, M, T, N>) -> R,
    ) -> R {
        let context = &*context;
        // SAFETY: the exclusive borrow keeps the context out of other uses until this function
        // returns, which is after the unlock.
        unsafe { self.lock(context) };
        let mut held = Held { guarded: self, context };
        self.enters();
        section(&mut held)
    }

    /// The owner, which has a [`Held`], begins a section, or continues after a wait.
    #[inline]
    fn enters(&self) {
        let is_nested = self.sections().is_some_and(|count| count.replace(count.get() + 1) != 0);
        assert!(!is_nested, "a section within a section would have the value twice");
    }

    /// The owner is about to unlock.
    #[inline]
    fn leaves(&self) {
        if let Some(count) = self.sections() {
            count.set(count.get() - 1);
        }
    }

    #[inline]
    fn sections(&self) -> Option<&Cell<u32>> {
        // SAFETY: it is in the memory of this object. Only the owner of the lock calls this.
        self.sections.map(|sections| unsafe { sections.as_ref() })
    }

    /// Locks.
    ///
    /// # Safety
    ///
    /// Until the unlock the context exists and serves no other acquisition.
    #[inline]
    pub unsafe fn lock(&self, context: &Context<M>) {
        // SAFETY: the caller promises it, and the context stays in place on the heap.
        unsafe { (self.calls.lock)(self.lock, context.address(self.calls.of)) };
    }

    /// Unlocks.
    ///
    /// # Safety
    ///
    /// The calling thread holds the lock, and acquired it with this very context.
    #[inline]
    pub unsafe fn unlock(&self, context: &Context<M>) {
        // SAFETY: the caller promises it.
        unsafe { (self.calls.unlock)(self.lock, context.address(self.calls.of)) };
    }

    /// Notifies one thread that waits for the condition; the lock may be held or not.
    #[inline]
    pub fn notify_one(&self, condition: usize) {
        // SAFETY: the condition variable exists.
        unsafe { (self.calls.notify_one)(self.conditions[condition]) };
    }

    /// Notifies all threads that wait for the condition.
    #[inline]
    pub fn notify_all(&self, condition: usize) {
        // SAFETY: as above.
        unsafe { (self.calls.notify_all)(self.conditions[condition]) };
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
                (self.calls.condvar.drop)(condition.cast_mut());
            }
            (self.calls.mutex.drop)(self.lock.cast_mut());
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
        let Guarded { calls, lock, conditions, .. } = self.guarded;
        self.guarded.leaves();
        // SAFETY: only `with` makes this, so the lock is held with this context; every wait for a
        // condition uses the lock next to it.
        unsafe { (calls.wait)(conditions[condition], *lock, self.context.address(calls.of)) };
        self.guarded.enters();
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
        // SAFETY: the lock is held, so this thread alone reaches the value, and in one section
        // only: see `enters`.
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
        self.guarded.leaves();
        // SAFETY: only `with` makes this, after it has locked with this context.
        unsafe { self.guarded.unlock(self.context) };
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use ondeck::platform::Native;
    use ondeck_zoo::own::OndeckReentrant;

    use super::*;
    use crate::any::any;

    #[test]
    fn a_section_has_the_value_alone_also_with_a_mutex_that_its_owner_may_lock_again() {
        let guarded = Guarded::<Native, u32>::new(any::<Native, OndeckReentrant>(), 0);
        let (mut outer, mut inner) = (guarded.context(), guarded.context());
        guarded.with(&mut outer, |value| {
            for _ in 0..2 {
                let nested = || guarded.with(&mut inner, |value| **value += 1);
                assert!(catch_unwind(AssertUnwindSafe(nested)).is_err());
            }
            **value += 10;
        });
        assert_eq!(guarded.with(&mut inner, |value| **value), 10);
    }
}
