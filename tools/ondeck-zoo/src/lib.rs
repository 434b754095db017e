//! The other locks: locks of the literature, written once over [`ondeck::platform::Platform`], and
//! locks of other libraries with the same trait.
//!
//! There is one file for each lock. Locks in `src/locks/` are portable: they run on every platform,
//! so a model checker and a simulator can run the measured code itself. Locks in `src/peers/` call
//! other libraries: on Linux all of them, elsewhere Rust libraries only. Each file begins with the
//! lock's source, what it teaches, its state word with the transitions, and its memory orderings.
//! `docs/add-a-lock.md` explains how to add one. [`registry`] lists them all.
//!
//! ```text
//! Mutex<L, T>            data in any lock: the critical section is a closure
//!    │
//!    ▼
//! RawLock, RawCondvar    lock and unlock with a Context; LockInfo, the facts of a lock
//!    ├─ locks            one file a lock, over any Platform: spinlocks, queue locks, futex locks
//!    ├─ own              this project's that need the real machine
//!    └─ peers            other libraries' locks: std, parking_lot, usync, ...; on Linux glibc's, too
//!         ▲
//! registry               shows each lock's type to a Visitor, so that a caller is compiled for each
//! ```
//!
//! Reader-writer locks have a separate trait, [`RawRwLock`]: [`rwlocks`] has the portable ones,
//! [`peers::rwlocks`] the ones of other libraries, and [`registry::for_each_rwlock`] visits them
//! all.
//!
//! Every lock has a condition variable, [`RawLock::Condvar`], so that threads can wait for each
//! other with any lock. Peers use their library's, where there is one. All others use
//! [`SequenceCondvar`], which needs only `lock` and `unlock` of a lock.
//!
//! The feature `peers-cpp` adds the peers written in C and C++ (Abseil, nsync).
//! Their libraries have to be installed.
//!
//! ```
//! use ondeck::platform::Native;
//! use ondeck_zoo::{Mutex, locks::Mcs};
//!
//! let counter = Mutex::<Mcs<Native>, u64>::new(0);
//! std::thread::scope(|scope| {
//!     for _ in 0..2 {
//!         scope.spawn(|| {
//!             let mut context = counter.context();
//!             for _ in 0..1000 {
//!                 counter.with(&mut context, |count| *count += 1);
//!             }
//!         });
//!     }
//! });
//! assert_eq!(counter.into_inner(), 2000);
//! ```

#[macro_use]
mod adapter;
mod condvar;
mod info;
#[macro_use]
mod kept;
mod mutex;
mod parker;
#[cfg(target_os = "linux")]
#[macro_use]
mod posix;
mod raw;
mod rwlock;
mod three_states;

pub mod locks;
pub mod own;
pub mod peers;
pub mod registry;
pub mod rwlocks;

pub use condvar::SequenceCondvar;
pub use info::{CondvarKind, Fairness, Kind, LockInfo, Origin, Waiting};
pub use kept::Kept;
pub use mutex::Mutex;
pub use raw::{RawCondvar, RawLock, Visitor};
pub use rwlock::{RawRwLock, RwVisitor};
