//! Every other lock: those of the literature, written once over
//! [`ondeck::platform::Platform`], and those of other libraries behind the same trait.
//!
//! One file a lock, in `src/locks/` (portable: they run on every platform, so a model checker and
//! a simulator can run the very code that is measured) and `src/peers/` (real implementations by
//! others, on Linux only). Each file begins with the lock's source, a drawing of its state, its
//! memory orderings, and one sentence on what it teaches. `docs/add-a-lock.md` says how to add one.
//! [`registry`] names them all.
//!
//! Every lock comes with a condition variable, [`RawLock::Condvar`], so that threads which wait for
//! each other can do so over any lock: peers with their library's where it has one, Lockless' mutexes
//! with [`LocklessCondvar`](locks::lockless_condvar::LocklessCondvar) from the same text, all others
//! with [`SequenceCondvar`], which needs nothing of a lock but `lock` and `unlock`.
//!
//! The feature `peers-cpp` adds the peers written in C and C++ (Abseil, nsync, oneTBB, Concurrency
//! Kit), whose libraries have to be installed.
//!
//! ```
//! use ondeck::platform::Linux;
//! use ondeck_zoo::{Mutex, locks::Mcs};
//!
//! let counter = Mutex::<Mcs<Linux>, u64>::new(0);
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

mod condvar;
mod info;
mod mutex;
mod parker;
mod raw;

pub mod locks;
pub mod peers;
pub mod registry;

pub use condvar::SequenceCondvar;
pub use info::{CondvarKind, Fairness, LockInfo, Origin, Waiting};
pub use mutex::Mutex;
pub use raw::{RawCondvar, RawLock, Visitor};
