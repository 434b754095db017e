//! Two numbers that a reader-writer lock guards. They are next to the lock, like guarded data in a
//! program.
//!
//! Writers change the numbers one after the other, with the work of the section in between, and
//! readers compare them. So a lock that lets a writer in beside another thread is detected, and a
//! reader pays for the line that a writer has changed.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::prelude::*;

/// A lock and its numbers. Atomic, so that without a working lock no memory is corrupted.
pub(super) struct Pair<L> {
    lock: L,
    one: AtomicU64,
    other: AtomicU64,
}

/// The work and the observations of one thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    writes: u64,
    /// Reads that found the two numbers different.
    torn: u64,
}

impl<L> Pair<L> {
    pub(super) fn new<M: Machine>() -> Self
    where
        L: RawRwLock<M>,
    {
        Self { lock: L::new(), one: AtomicU64::new(0), other: AtomicU64::new(0) }
    }

    /// Writes. Returns what `acquired` returned when the thread had the lock. Inlined into the
    /// measured loops, as a fast path is in a program.
    #[inline(always)]
    pub(super) fn write<M: Machine, T>(
        &self,
        context: &mut L::Write,
        section: Work,
        tally: &mut Tally,
        acquired: impl FnOnce() -> T,
    ) -> T
    where
        L: RawRwLock<M>,
    {
        let (Self { lock, one, other }, context) = (self, &*context);
        // SAFETY: the exclusive borrow keeps the context in place and out of other uses until the
        // unlock.
        unsafe { lock.write(context) };
        let acquired = acquired();
        M::touch(one, true);
        one.store(one.load(Relaxed) + 1, Relaxed);
        M::perform(section);
        M::touch(other, true);
        other.store(other.load(Relaxed) + 1, Relaxed);
        // SAFETY: locked above with this context.
        unsafe { lock.unlock_write(context) };
        tally.writes += 1;
        acquired
    }

    /// Reads; otherwise the same.
    #[inline(always)]
    pub(super) fn read<M: Machine, T>(
        &self,
        context: &mut L::Read,
        section: Work,
        tally: &mut Tally,
        acquired: impl FnOnce() -> T,
    ) -> T
    where
        L: RawRwLock<M>,
    {
        let (Self { lock, one, other }, context) = (self, &*context);
        // SAFETY: the exclusive borrow keeps the context in place and out of other uses until the
        // unlock.
        unsafe { lock.read(context) };
        let acquired = acquired();
        M::touch(one, false);
        let found = one.load(Relaxed);
        M::perform(section);
        M::touch(other, false);
        tally.torn += u64::from(found != other.load(Relaxed));
        // SAFETY: locked above with this context.
        unsafe { lock.unlock_read(context) };
        acquired
    }

    /// Fails if a write was lost, or if a read found one half done, in this number of operations.
    pub(super) fn audit(
        &self,
        tallies: impl Iterator<Item = Tally>,
        operations: u64,
    ) -> Result<(), TeamError> {
        let (writes, torn) =
            tallies.fold((0, 0), |(writes, torn), it| (writes + it.writes, torn + it.torn));
        audit::balance("writes", self.one.load(Relaxed), writes)?;
        audit::balance("writes", self.other.load(Relaxed), writes)?;
        let reads = operations - writes;
        audit::balance("reads that found no write half done", reads - torn, reads)
    }
}
