//! Unlocks that bypass the recorder: a number of unlocks of one thread, counted down in a word of
//! the lock.
//!
//! While threads are parked, most unlocks of a thread that locks repeatedly are not recorded.
//! Deciding this anew for each unlock costs as much as the unlock itself. So the recorder gives
//! such a thread a lease: a number of unlocks that bypass the recorder.
//!
//! ```text
//! 31            12 11          0
//! ┌───────────────┬────────────┐
//! │ whose it is   │ how many   │   written by owners only
//! └───────────────┴────────────┘
//! ```
//!
//! Another thread that unlocks replaces the lease's holder with itself. It gets a lease when it
//! finds itself there the next time: if threads take turns, none has a lease, and each is counted
//! individually.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::slot;
use crate::words::WAIT;

const BITS: u32 = 12;

/// The most unlocks of one lease.
pub const MOST: u32 = (1 << BITS) - 1;

/// Returns 20 bits that identify the calling thread. Threads whose memory is a multiple of 4 GB
/// apart have the same bits.
#[inline(always)]
fn this_thread() -> u32 {
    (slot::address::<u8>().addr() >> 12 << BITS) as u32
}

/// Returns whether the next unlock would bypass the recorder. For owners.
#[inline(always)]
pub fn will_pass(request: u32, lease: &AtomicU32) -> bool {
    let left = lease.load(Ordering::Relaxed).wrapping_sub(this_thread());
    request == WAIT && left.wrapping_sub(1) < MOST
}

/// Returns whether this unlock bypasses the recorder. For owners; `request` is the lock's word that
/// asks for records.
#[inline(always)]
pub fn passes(request: u32, lease: &AtomicU32) -> bool {
    let passes = will_pass(request, lease);
    if passes {
        // Relaxed, and no read-modify-write: only owners write it.
        lease.store(lease.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        let leased = slot::leased();
        leased.store(leased.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
    passes
}

/// Allows the calling thread, an owner, this number of unlocks without the recorder. Returns the
/// number of them that a lease covers. Another thread may end the lease earlier.
pub fn take(lease: &AtomicU32, wanted: u32) -> u32 {
    let own = this_thread();
    let was_there = lease.load(Ordering::Relaxed) & !MOST == own;
    let granted = if was_there { wanted.min(MOST) } else { 0 };
    lease.store(own | granted, Ordering::Relaxed);
    granted
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::words::RECORD;

    #[test]
    fn a_lease_is_for_one_thread_and_ends() {
        let lease = AtomicU32::new(0);
        assert!(!passes(WAIT, &lease));
        assert_eq!(take(&lease, 3), 0, "another thread may have been there");
        assert_eq!(take(&lease, 3), 3);
        assert!(!passes(WAIT | RECORD, &lease), "a thread asks for a record");
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(!passes(WAIT, &lease))).join().expect("it has no lease");
        });
        assert!((0..3).all(|_| passes(WAIT, &lease)));
        assert!(!passes(WAIT, &lease));
        assert_eq!(take(&lease, 2), 2);
        std::thread::scope(|scope| {
            scope.spawn(|| assert_eq!(take(&lease, 9), 0)).join().expect("no lease");
        });
        assert!(!passes(WAIT, &lease), "another thread is there");
    }
}
