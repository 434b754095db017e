//! The rest of a lock or an unlock whose beginning was compiled elsewhere: the header for C and C++
//! inlines the attempt of [`lock`](RawMutex::lock) and the two readings and the store of
//! [`unlock`](RawMutex::unlock).
//!
//! These are no entrances for Rust programs, whose compiler inlines those functions.

use super::RawMutex;
use super::unlock::look;
use crate::platform::{Host, Timestamp};

impl<P: Host> RawMutex<P> {
    /// Waits for the lock after the caller's own attempt has found it taken; false if the deadline
    /// passed before.
    #[doc(hidden)]
    #[inline]
    pub fn lock_after_attempt(&self, deadline: Option<Timestamp>) -> bool {
        self.lock_slow(deadline)
    }

    /// Unlocks, after the caller has read an unlock mode other than 0.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn unlock_when_asked(&self) {
        self.unlock_slow();
    }

    /// Does what a waiting thread asks of an unlock, after the caller has stored 0 at `byte` and has then
    /// read an unlock mode other than 0.
    ///
    /// `byte` is an address to compare: the mutex may be gone (4). If it is called without need it
    /// costs time, and nothing else.
    #[doc(hidden)]
    #[inline]
    pub fn look_after_store(byte: *const P::AtomicU8) {
        look::<P>(byte);
    }
}
