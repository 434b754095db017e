//! A counter of readers and a bit for the writer, in one word that all waiters poll.
//!
//! Source: the single counter at the beginning of Mellor-Crummey and Scott, "Scalable Reader-Writer
//! Synchronization for Shared-Memory Multiprocessors" (1991), in the variant that prefers readers.
//!
//! Teaches: readers that share a lock also share its cache line. Each read writes the counter
//! twice, so reads do not scale with cores although they exclude no other. Where readers overlap
//! without end, a writer waits without end.
//!
//! ```text
//! state (u32)   bit 31  a writer holds the lock (WRITER)
//!               rest    how many readers hold it
//!
//! change           made by                  operation
//! n → n + 1        a reader that arrives    compare-exchange, if WRITER is not set
//! n → n - 1        a reader that leaves     fetch-sub
//! 0 → WRITER       a writer that arrives    compare-exchange
//! WRITER → 0       the writer               store
//!
//! A waiter repeats: 16 × (pause, poll), then yield, poll.
//! ```
//!
//! # Memory ordering
//!
//! The exchange of a reader or writer is `Acquire`. It pairs with the `Release` store of the writer
//! before it, and an exchange of a writer also with the `Release` subtractions of all readers
//! before it, which are one release sequence.

use ondeck::platform::{AtomicInt, Ordering, Platform};

use crate::locks::spinlock::spin_until;
use crate::{CondvarKind, LockInfo, RawRwLock, Waiting};

const FREE: u32 = 0;
const WRITER: u32 = 1 << 31;

/// A counter and a bit: see the [source file](self).
#[derive(Debug)]
pub struct CounterRwLock<P: Platform> {
    state: P::AtomicU32,
}

impl<P: Platform> CounterRwLock<P> {
    /// Reads before it exchanges, so that an attempt that must fail writes nothing.
    #[inline]
    fn attempt(&self, possible: impl Fn(u32) -> bool, next: impl Fn(u32) -> u32) -> bool {
        let mut state = self.state.load(Ordering::Relaxed);
        while possible(state) {
            match self.state.compare_exchange_weak(
                state,
                next(state),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => state = now,
            }
        }
        false
    }

    #[inline]
    fn attempt_read(&self) -> bool {
        self.attempt(|state| state & WRITER == 0, |readers| readers + 1)
    }

    #[inline]
    fn attempt_write(&self) -> bool {
        self.attempt(|state| state == FREE, |_| WRITER)
    }
}

// SAFETY, as a lock: a writer acquires the lock by an exchange of a state without readers and
// writer, and while it holds the lock no exchange succeeds.
raw_rwlock! {
    unsafe impl [P: Platform] RawRwLock<P> for CounterRwLock<P> {
        INFO: LockInfo {
            name: "counter_rwlock",
            waiting: Waiting::Yields,
            condvar: CondvarKind::Without,
            source: "Mellor-Crummey and Scott, Scalable Reader-Writer Synchronization (1991), the single counter",
            teaches: "Readers that share a lock still share its cache line, and keep a writer out without bound",
            ..LockInfo::USUAL
        },
        new: Self { state: AtomicInt::new(FREE) },
        read: |this, ()| if !this.attempt_read() {
            spin_until::<P>(|| this.attempt_read());
        },
        try_read: |this, ()| this.attempt_read(),
        unlock_read: |this, ()| this.state.fetch_sub(1, Ordering::Release),
        write: |this, ()| if !this.attempt_write() {
            spin_until::<P>(|| this.attempt_write());
        },
        try_write: |this, ()| this.attempt_write(),
        unlock_write: |this, ()| this.state.store(FREE, Ordering::Release),
        is_idle: |this| this.state.load(Ordering::Relaxed) == FREE,
    }
}
