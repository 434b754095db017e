//! The ground that every lock of this workspace stands on.
//!
//! A lock algorithm here is written once, generic over [`platform::Platform`], and knows nothing
//! of who runs it: the real machine ([`platform::Linux`]), a model checker, or a machine in
//! virtual time. The trait is all that a lock may use of the world: atomics, a spin hint, clocks,
//! a futex and a pair of asymmetric fences.
//!
//! ```
//! use ondeck::platform::{AtomicInt, Linux, Ordering, Platform};
//!
//! struct SpinLock<P: Platform>(P::AtomicU8);
//!
//! impl<P: Platform> SpinLock<P> {
//!     fn lock(&self) {
//!         while P::test_and_set(&self.0, Ordering::Acquire) {
//!             P::pause();
//!         }
//!     }
//!     fn unlock(&self) {
//!         self.0.store(0, Ordering::Release);
//!     }
//! }
//!
//! let lock = SpinLock::<Linux>(AtomicInt::new(0));
//! lock.lock();
//! lock.unlock();
//! ```
//!
//! The crate is `no_std` but for the Linux platform, so that no allocation can slip into the path
//! of a lock: these locks are meant to work inside a global allocator.

#![no_std]

pub mod condvar;
pub mod mutex;
pub mod parking;
pub mod platform;
pub mod spin;
