//! The locks of crate [`ondeck`] with the interface of parking_lot 0.13, for `[patch.crates-io]`.
//!
//! What differs from the original is in `docs/drop-in.md` of the project. The sources that 0.12 and 0.13 have
//! in common are in `drop-in/shared/`.
//!
//! | feature | adds |
//! |---|---|
//! | `arc_lock` | owned guards: `ArcMutexGuard` and its like |
//! | `deadlock_detection` | the module `deadlock` |
//! | `owning_ref` | guards for crate `owning_ref` |
//! | `send_guard` | guards that other threads may drop |
//! | `serde` | locks that serialize their data |
//! | `nightly` | nothing |

#[path = "../../shared/mutexes.rs"]
mod mutexes;
#[path = "../../shared/once.rs"]
mod once;
#[path = "../../shared/raw_rwlock.rs"]
mod raw_rwlock;
#[path = "../../shared/remutex.rs"]
mod remutex;
#[path = "../../shared/condvar.rs"]
mod signal;
#[path = "../../shared/time.rs"]
mod time;
#[path = "../../shared/types.rs"]
mod types;

#[cfg(feature = "deadlock_detection")]
#[path = "../../shared/deadlock/mod.rs"]
pub mod deadlock;
#[cfg(not(feature = "deadlock_detection"))]
#[path = "../../shared/deadlock/mod.rs"]
mod deadlock;

mod condvar;
mod recursive;
mod traits;

// The detection knows locks by the threads that hold them.
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

pub use condvar::{Condvar, RawCondvar, WaitTimeoutResult};

pub use mutexes::{RawFairMutex, RawMutex};
pub use once::{Once, OnceState};
pub use recursive::{
    MappedRecursiveRwLockReadGuard, MappedRecursiveRwLockWriteGuard, RecursiveRwLock,
    RecursiveRwLockReadGuard, RecursiveRwLockUpgradableReadGuard, RecursiveRwLockWriteGuard,
};
pub use remutex::{MappedReentrantMutexGuard, RawThreadId, ReentrantMutex, ReentrantMutexGuard};
pub use traits::{RawRwLock, RawRwLockRecursive};
pub use types::{
    FairMutex, FairMutexGuard, MappedFairMutexGuard, MappedMutexGuard, MappedRwLockReadGuard,
    MappedRwLockWriteGuard, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard,
};
