//! A mutex made of a semaphore, with a counter in front: the "benaphore".
//!
//! Source: Malte Skarupke's benchmark to "Measuring Mutexes, Spinlocks and how Bad the Linux
//! Scheduler Really is" (2020), `semaphore_mutex`. The counter in front is Benoit Schillings'
//! idea, from the BeOS newsletter ("Be Engineering Insights: Benaphores", 1996); the benchmark's
//! lock enters the semaphore every time.
//!
//! Teaches: a counter of interested threads tells a release exactly whether somebody waits, so it
//! never wakes in vain; but a release with waiters must hand a permit over, and the lock stands
//! still until one of them runs.
//!
//! ```text
//! interested = owner + waiters           permits (a futex word) = hand-overs not yet picked up
//!
//! lock:   interested++ found 0: mine     else take a permit, sleeping while there is none
//! unlock: interested-- found 1: done     else permits++, wake one
//!
//! interested  permits
//!      0         0     free
//!      n         0     owned, n - 1 wait
//!      n         1     handed over: whoever of the n takes the permit owns the lock
//! ```
//!
//! A newcomer finds `interested` above 0 and cannot pass by the permit, but it may take the permit
//! before the thread that was woken for it: not FIFO, and not barging on the fast path either.
//!
//! # Memory ordering
//!
//! `interested` is incremented with `Acquire` and decremented with `Release`: the increment that
//! finds 0 synchronizes with the decrement that left it. A hand-over goes from the `Release`
//! increment of `permits` to the `Acquire` decrement. Both words change by read-modify-writes
//! alone, so each chain is one release sequence. The release proper is the last operation on the
//! lock's memory, the decrement to 0 or the increment of `permits`; the wake uses the address.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// A counter in front of a semaphore: see the [source file](self) for its words.
#[derive(Debug)]
pub struct SemaphoreMutex<P: Platform> {
    interested: P::AtomicU32,
    permits: P::AtomicU32,
}

impl<P: Platform> SemaphoreMutex<P> {
    #[cold]
    fn take_permit(&self) {
        let mut permits = self.permits.load(Ordering::Relaxed);
        loop {
            if permits == 0 {
                // Every outcome means the same: there may be a permit now.
                let _ = P::futex_wait(&self.permits, 0, None);
                permits = self.permits.load(Ordering::Relaxed);
            } else {
                match self.permits.compare_exchange(
                    permits,
                    permits - 1,
                    Ordering::Acquire,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => return,
                    Err(now) => permits = now,
                }
            }
        }
    }

    #[cold]
    fn give_permit(&self) {
        let address = &raw const self.permits;
        self.permits.fetch_add(1, Ordering::Release);
        P::futex_wake(address, 1);
    }
}

// SAFETY: exactly one of the interested threads found `interested` at 0 or took the permit that
// the last owner left; a permit is given only by an owner that leaves while others are interested.
unsafe impl<P: Platform> RawLock<P> for SemaphoreMutex<P> {
    const INFO: LockInfo = LockInfo {
        name: "semaphore_mutex",
        origin: Origin::Sources,
        waiting: Waiting::Sleeps,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "Malte Skarupke, Measuring Mutexes, semaphore_mutex; Schillings' benaphore",
        teaches: "Counting the interested avoids needless wakes and makes every contended release a hand-over",
    };

    type Context = ();
    type Condvar = SequenceCondvar<P>;

    fn new() -> Self {
        Self { interested: AtomicInt::new(0), permits: AtomicInt::new(0) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        if self.interested.fetch_add(1, Ordering::Acquire) != 0 {
            self.take_permit();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        self.interested.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        if self.interested.fetch_sub(1, Ordering::Release) != 1 {
            self.give_permit();
        }
    }

    fn is_idle(&mut self) -> bool {
        self.interested.load(Ordering::Relaxed) == 0 && self.permits.load(Ordering::Relaxed) == 0
    }
}
