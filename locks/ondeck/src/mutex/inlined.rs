//! The slow paths of a lock or an unlock with its fast path in another language: the header for C
//! and C++ inlines the attempt of [`lock`](RawMutex::lock), and the two loads and the store of
//! [`unlock`](RawMutex::unlock).
//!
//! Rust programs have no use for these functions: their compiler inlines the fast paths themselves.

use super::RawMutex;
use super::unlock::look;
use crate::platform::{Host, Timestamp};

impl<P: Host> RawMutex<P> {
    /// Waits for the lock after the caller's own attempt has failed. Returns false if the deadline
    /// passes first.
    #[inline]
    pub fn lock_after_attempt(&self, deadline: Option<Timestamp>) -> bool {
        self.lock_slow(deadline)
    }

    /// Unlocks after the caller has read an unlock mode other than 0.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn unlock_when_asked(&self) {
        self.unlock_slow();
    }

    /// Serves the request of a waiting thread, after the caller has stored 0 at `byte` and has then
    /// read an unlock mode other than 0.
    ///
    /// `byte` is an address to compare: the mutex may be gone (4). An unnecessary call costs time,
    /// and nothing else.
    #[inline]
    pub fn look_after_store(byte: *const P::AtomicU8) {
        look::<P>(byte);
    }
}
