//! folly's PicoSpinLock: one bit of an integer, which waiters set repeatedly.
//!
//! Source: Keith Adams and Jordan DeLong, facebook/folly, `synchronization/PicoSpinLock.h`.
//!
//! Teaches: a waiter whose polls are attempts takes the cache line from the owner at each poll.
//! `folly_microspin` waits alike but reads, so the difference between them is the cost of that.
//!
//! ```text
//! locked (u8): 0 unlocked · 1 locked
//!
//! change        made by               operation
//! 0 → 1, 1 → 1  a thread that locks   test-and-set; again after each pause
//! 1 → 0         the owner             fetch-and
//!
//! The pauses are those of folly_microspin: 4,000, then naps of 500 µs.
//! ```
//!
//! The source uses one bit of an integer of 16, 32 or 64 bits, by the instructions `lock bts` and
//! `lock btr`, and leaves the others to the program. Here the bit has a whole byte, which a
//! test-and-set takes; the unlock is also a read-modify-write.
//!
//! # Memory ordering
//!
//! The test-and-set is `Acquire` and pairs with the previous owner's `Release` fetch-and. A
//! test-and-set that finds 1 writes the 1 again, which changes nothing.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use super::folly_microspin::Sleeper;
use crate::{LockInfo, RawLock, Waiting};

/// folly's PicoSpinLock: see the [source file](self).
#[derive(Debug)]
pub struct FollyPicospin<P: Platform> {
    locked: P::AtomicU8,
}

// SAFETY, as a lock: a thread returns from `lock` only after its test-and-set found 0 and left 1,
// and only the owner makes it 0 again.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for FollyPicospin<P> {
        INFO: LockInfo {
            name: "folly_picospin",
            waiting: Waiting::SpinsThenSleeps,
            source: "Keith Adams and Jordan DeLong, facebook/folly, PicoSpinLock",
            teaches: "Waiters that poll by the operation that locks take the owner's cache line each time",
            ..LockInfo::USUAL
        },
        new: Self { locked: AtomicInt::new(0) },
        lock: |this, ()| {
            let mut sleeper = Sleeper::default();
            while P::test_and_set(&this.locked, Ordering::Acquire) {
                sleeper.wait::<P>();
            }
        },
        try_lock: |this, ()| !P::test_and_set(&this.locked, Ordering::Acquire),
        unlock: |this, ()| this.locked.fetch_and(0, Ordering::Release),
        is_idle: |this| this.locked.load(Ordering::Relaxed) == 0,
    }
}
