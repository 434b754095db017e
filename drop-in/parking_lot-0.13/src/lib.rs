//! The locks of crate [`ondeck`] with the interface of parking_lot 0.13, for `[patch.crates-io]`.
//!
//! The project's `docs/drop-in.md` lists the differences from the original. The sources that 0.12
//! and 0.13 share are in `drop-in/shared/`.
//!
//! | feature | adds |
//! |---|---|
//! | `arc_lock` | owned guards: `ArcMutexGuard` and its like |
//! | `deadlock_detection` | the module `deadlock` |
//! | `owning_ref` | guards for crate `owning_ref` |
//! | `send_guard` | guards that other threads may drop |
//! | `serde` | locks that serialize their data |
//! | `nightly` | nothing |

include!("../../shared/common.rs");

mod condvar;
mod methods;
mod recursive;

pub use condvar::{Condvar, RawCondvar, WaitTimeoutResult};
pub use recursive::{
    MappedRecursiveRwLockReadGuard, MappedRecursiveRwLockWriteGuard, RawRwLock, RawRwLockRecursive,
    RecursiveRwLock, RecursiveRwLockReadGuard, RecursiveRwLockUpgradableReadGuard,
    RecursiveRwLockWriteGuard,
};
