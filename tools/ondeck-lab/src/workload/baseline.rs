//! Measuring without a lock: the cost of a loop around nothing.

use ondeck_zoo::{CondvarKind, LockInfo, Origin, RawLock, RawRwLock, SequenceCondvar};

use crate::machine::Machine;

/// How a workload is measured with a lock that does nothing, to find the cost of its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyLock {
    /// On one thread: several would corrupt the data that the lock guards.
    OneThread,
    /// As with any lock: its threads share nothing.
    AsAnyLock,
    /// As one of the locks that take turns.
    AmongLocks,
    /// Not at all, for this reason.
    Never(&'static str),
}

impl EmptyLock {
    /// For workloads with producers and consumers, or servers and clients.
    pub(super) const OF_TWO_ROLES: Self =
        Self::Never("its two roles share data: without a lock they would spoil it");

    /// Whether this number of threads may run without a lock.
    pub(super) fn permits(self, threads: usize) -> bool {
        match self {
            Self::OneThread => threads <= 1,
            Self::AsAnyLock | Self::AmongLocks => true,
            Self::Never(_) => false,
        }
    }
}

/// The name in reports of the lock that does nothing.
pub const NO_LOCK: &str = "none";

/// A lock of every kind that does nothing: it excludes no thread. Only for workloads whose section
/// touches nothing shared.
///
/// Other crates cannot name it: with [`ondeck_zoo::Mutex`] their threads would race.
#[derive(Debug)]
pub(crate) struct NoLock;

// SAFETY: it does not exclude. It is not in the registry, and this crate uses it only in workloads
// that protect no data with it, or on a single thread.
unsafe impl<M: Machine> RawLock<M> for NoLock {
    const INFO: LockInfo = NO_MUTEX;

    type Context = ();
    type Condvar = SequenceCondvar<M>;

    fn new() -> Self {
        Self
    }

    #[inline(always)]
    unsafe fn lock(&self, (): &()) {}

    #[inline(always)]
    unsafe fn try_lock(&self, (): &()) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn unlock(&self, (): &()) {}

    fn is_idle(&mut self) -> bool {
        true
    }
}

/// Its facts.
const NO_MUTEX: LockInfo = LockInfo {
    name: NO_LOCK,
    origin: Origin::Peer,
    source: "the harness itself",
    teaches: "What the measuring loop costs without a lock",
    ..LockInfo::USUAL
};

// SAFETY: it does not exclude. It is not in the registry, and this crate uses it on a single
// thread.
unsafe impl<M: Machine> RawRwLock<M> for NoLock {
    const INFO: LockInfo = LockInfo { condvar: CondvarKind::Without, ..NO_MUTEX };

    type Read = ();
    type Write = ();

    fn new() -> Self {
        Self
    }

    #[inline(always)]
    unsafe fn read(&self, (): &()) {}

    #[inline(always)]
    unsafe fn try_read(&self, (): &()) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn unlock_read(&self, (): &()) {}

    #[inline(always)]
    unsafe fn write(&self, (): &()) {}

    #[inline(always)]
    unsafe fn try_write(&self, (): &()) -> bool {
        true
    }

    #[inline(always)]
    unsafe fn unlock_write(&self, (): &()) {}

    fn is_idle(&mut self) -> bool {
        true
    }
}
