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
    pub(crate) struct Stack;

    impl Stack {
        #[inline(always)]
        pub(crate) fn keep() -> Self {
            Self
        }
    }
}
#[cfg(feature = "deadlock_detection")]
pub mod deadlock;

/// Makes an attempt where stacks are kept, because a thread's stack must be known before its wait
/// is. Returns whether the thread has the lock.
#[inline(always)]
fn attempted(attempt: impl FnOnce() -> bool) -> bool {
    cfg!(feature = "deadlock_detection") && attempt()
}

/// The operations of a lock of crate `ondeck`, as its recorders and its detection of deadlocks
/// observe them.
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
