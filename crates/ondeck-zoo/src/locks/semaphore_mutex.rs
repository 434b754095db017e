//! A mutex made of a semaphore, with a counter in front of it: the "benaphore".
//!
//! Source: Malte Skarupke's benchmark to "Measuring Mutexes, Spinlocks and how Bad the Linux
//! Scheduler Really is" (2020), `semaphore_mutex`. The counter in front is Benoit Schillings' idea,
//! from the BeOS newsletter ("Be Engineering Insights: Benaphores", 1996); the benchmark's lock
//! enters the semaphore every time.
//!
//! Teaches: if a lock counts the threads that want it, an unlock knows exactly whether a thread
//! waits, and makes no needless wake. But each contended unlock passes a permit on, and the lock
//! rests until one of the waiters runs.
//!
//! ```text
//! interested (u32)           the owner and the waiters
//! permits (u32), the futex   handoffs that no waiter has taken yet
//!
//! interested  permits
//!      0         0     unlocked
//!      n         0     locked, n - 1 threads wait
//!      n         1     handed off: the one of the n threads that takes the permit owns the lock
//!
//! change          made by               operation
//! interested + 1  a thread that locks   fetch-add: if that finds 0 it owns the lock, else it waits
//! interested 0→1  an attempt            compare-exchange
//! permits - 1     a waiter              compare-exchange: it owns the lock; it sleeps while there
//!                                       is no permit
//! interested - 1  the owner             fetch-sub: if that finds 1 the unlock is done
//! permits + 1     the owner             fetch-add, otherwise; then it wakes one thread
//! ```
//!
//! A thread that arrives finds `interested` above 0, so it cannot lock without a permit. But it may
//! take the permit before the thread that was woken for it. So the lock is not FIFO, and no thread
//! barges on the fast path either.
//!
//! # Memory ordering
//!
//! `interested` is incremented with `Acquire` and decremented with `Release`, so the increment that
//! finds 0 synchronizes with the decrement that left it. A handoff goes from the `Release`
//! increment of `permits` to its `Acquire` decrement. Both words change by read-modify-writes only,
//! so each chain is one release sequence. An unlock's last access to the lock is the decrement to 0
//! or the increment of `permits`; the wake uses the address.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::{LockInfo, Origin, RawLock, Waiting};

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
                // Every result means the same: there may be a permit now.
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

// SAFETY, as a lock: a thread returns from `lock` only after it found `interested` at 0 or took a
// permit. An owner leaves one of the two: 0 if no other thread is interested, else one permit.
raw_lock! {
    unsafe impl [P: Platform] RawLock<P> for SemaphoreMutex<P> {
        INFO: LockInfo {
            name: "semaphore_mutex",
            origin: Origin::Sources,
            waiting: Waiting::Sleeps,
            source: "Malte Skarupke, Measuring Mutexes, semaphore_mutex; Schillings' benaphore",
            teaches: "Counting interested threads avoids needless wakes and makes every contended unlock a handoff",
            ..LockInfo::USUAL
        },
        new: Self { interested: AtomicInt::new(0), permits: AtomicInt::new(0) },
        lock: |this, ()| if this.interested.fetch_add(1, Ordering::Acquire) != 0 {
            this.take_permit();
        },
        try_lock: |this, ()| {
            this.interested.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
        },
        unlock: |this, ()| if this.interested.fetch_sub(1, Ordering::Release) != 1 {
            this.give_permit();
        },
        is_idle: |this| {
            this.interested.load(Ordering::Relaxed) == 0
                && this.permits.load(Ordering::Relaxed) == 0
        },
    }
}
