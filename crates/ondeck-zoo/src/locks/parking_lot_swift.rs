//! parking_lot's mutex in Swift's benchmark: the same protocol, with a spinlock for the bucket.
//!
//! Source: Sarunas (Ordo One), synchronization-benchmarks, `ParkingLotMutex` and `ParkingLotCore`
//! (2026), a port of `parking_lot` to Swift.
//!
//! Teaches: the kind of a queue's lock matters as soon as threads meet there. A spinlock costs less
//! than a sleeping lock while few threads do, and is a second lock to collapse when many do.
//!
//! ```text
//! The states are those of parking_lot_port.
//!
//! locked (u32), of the bucket: 0 unlocked · 1 locked
//! 0 → 1   a thread that locks   compare-exchange, after a load that finds 0
//! 1 → 0   the owner             store
//! ```
//!
//! A waiter pauses 1, 2, 4, up to 64 times, a load after each pause, then yields after each. A thread
//! that is about to park also reads the mutex's state before it locks the bucket. The source measured
//! why: otherwise a third of the threads that park, of 32, found that they need not.
//!
//! The source sets the chosen thread's word after it has unlocked the bucket; here that happens
//! before, as in parking_lot.
//!
//! # Memory ordering
//!
//! The compare-exchange is `Acquire` and pairs with the owner's `Release` store.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use super::parking_lot_port::{BucketLock, ParkingLotPort};
use crate::{Fairness, LockInfo, Waiting};

/// The longest pause before a waiter yields.
const LONGEST_PAUSE: u32 = 64;

/// parking_lot's mutex with a spinlock for the bucket: see the [source file](self).
pub type ParkingLotSwift<P> = ParkingLotPort<P, SpinningBucket<P>>;

/// Test and test-and-set with a back-off.
#[derive(Debug)]
pub struct SpinningBucket<P: Platform> {
    locked: P::AtomicU32,
}

impl<P: Platform> SpinningBucket<P> {
    fn acquire(&self) -> bool {
        self.locked.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn lock_slow(&self) {
        let mut pauses = 1;
        loop {
            while self.locked.load(Ordering::Relaxed) != 0 {
                P::pause_times(pauses);
                if pauses < LONGEST_PAUSE {
                    pauses *= 2;
                } else {
                    P::yield_now();
                }
            }
            if self.acquire() {
                return;
            }
        }
    }
}

impl<P: Platform> BucketLock<P> for SpinningBucket<P> {
    const INFO: LockInfo = LockInfo {
        name: "parking_lot_swift",
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Bounded,
        touches_after_release: true,
        source: "Ordo One, synchronization-benchmarks, ParkingLotMutex",
        teaches: "The queue of a lock has a lock, too, and what that is shows under contention",
        ..LockInfo::USUAL
    };
    const LOOKS_FIRST: bool = true;

    fn new() -> Self {
        Self { locked: AtomicInt::new(0) }
    }

    #[inline]
    fn lock(&self) {
        if !self.acquire() {
            self.lock_slow();
        }
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.locked.store(0, Ordering::Release);
    }

    fn is_idle(&mut self) -> bool {
        self.locked.load(Ordering::Relaxed) == 0
    }
}
