// The common part of both versions, included by their `lib.rs`.

mod mutexes;
mod once;
mod raw_rwlock;
mod remutex;
mod signal;
mod time;
mod types;

#[cfg(not(feature = "deadlock_detection"))]
mod deadlock {
    /// Without the feature no stack is kept.
    #[inline(always)]
    pub(crate) fn waits<T>(wait: impl FnOnce() -> T) -> T {
        wait()
    }
}
#[cfg(feature = "deadlock_detection")]
pub mod deadlock;

/// Acquires a lock by `block`. Where stacks are kept, `attempt` comes first: then the stack is known before the wait is.
#[inline(always)]
fn waits_unless(attempt: impl FnOnce() -> bool, block: impl FnOnce()) {
    if !cfg!(feature = "deadlock_detection") || !attempt() {
        deadlock::waits(block);
    }
}

/// The operations of a lock of crate `ondeck`, as its recorders and its detection of deadlocks observe them.
type Observed<'a, L> = ondeck::wrapped::Wrapped<'a, L, { cfg!(feature = "send_guard") }>;

// The detection finds locks through the threads that hold them.
#[cfg(all(feature = "send_guard", feature = "deadlock_detection"))]
compile_error!("the features `send_guard` and `deadlock_detection` exclude each other");

#[cfg(feature = "send_guard")]
type GuardMarker = lock_api::GuardSend;
#[cfg(not(feature = "send_guard"))]
type GuardMarker = lock_api::GuardNoSend;

pub use lock_api;
#[cfg(feature = "arc_lock")]
pub use lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard,
    ArcRwLockWriteGuard,
};

pub use mutexes::{RawFairMutex, RawMutex};
pub use once::{Once, OnceState};
pub use remutex::{MappedReentrantMutexGuard, RawThreadId, ReentrantMutex, ReentrantMutexGuard};
pub use types::{
    FairMutex, FairMutexGuard, MappedFairMutexGuard, MappedMutexGuard, MappedRwLockReadGuard,
    MappedRwLockWriteGuard, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard,
};
