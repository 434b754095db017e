//! A latch: threads wait until it has been counted down to zero, once.
//!
//! ```text
//! the word       bit 0      WAITED   a thread may wait: set and cleared under the bucket's lock
//!                bits 1-31  the remaining count, 2^31 - 1 at most; never rises
//!
//! count down     left > n, or not WAITED ──► left - n     a compare-exchange
//!                left = n, WAITED ──► 0                   under the bucket's lock; all waiting threads are woken
//! wait           0                                        a load
//!                left > 0 ──► WAITED, waits               under the bucket's lock
//! ```
//!
//! # Nothing is touched after a wait may return
//!
//! A waiting thread may free the latch. A count that is not the last one is a single access. The
//! last one stores zero as its last access, under the bucket's lock if a thread may wait. A thread
//! that counts and waits in one call ([`arrive_and_wait`](Latch::arrive_and_wait)) is in the line
//! before its count is visible.
//!
//! # Memory ordering
//!
//! All changes of the word are read-modify-writes, so a wait that reads zero with `Acquire` happens
//! after all counts, each a `Release`. The last count under the bucket's lock is also `Acquire`, on
//! behalf of the threads that it notifies.
//!
//! A load before an exchange is `Relaxed`, because the exchange checks its value. Changes of
//! `WAITED` alone are `Relaxed`: they happen under the bucket's lock, and continue the release
//! sequences of the counts.
//!
//! # Sources
//!
//! `std::latch` of C++20 and Java's `CountDownLatch`.

extern crate std;

use core::fmt;
use core::sync::atomic::AtomicU32;
use core::time::Duration;
use std::time::Instant;

use crate::mutex::deadline;
use crate::parking::Line;
use crate::platform::{AtomicInt, Host, Native, Ordering, Platform, Timestamp};

const WAITED: u32 = 1;
/// One step of the remaining count.
const ONE: u32 = 2;

/// The largest count of a latch.
pub const MOST_COUNT: u32 = u32::MAX / ONE;

/// A count that goes down to zero, and threads that wait for that: four bytes.
///
/// A waiting thread may free it when its wait returns. It can be a `static`. See the [module](self)
/// for its protocol.
///
/// # Panics
///
/// If it is counted down by more than the remaining count, or created with more than
/// [`MOST_COUNT`].
///
/// # Memory ordering
///
/// Each count happens before all waits that return.
///
/// # Cost
///
/// Each count costs one atomic read-modify-write, and a wait that finds zero costs one load. The
/// last count wakes all sleeping threads by one system call.
///
/// ```
/// use ondeck::Latch;
///
/// static DONE: Latch = Latch::new(3);
///
/// std::thread::scope(|scope| {
///     for _ in 0..3 {
///         scope.spawn(|| DONE.count_down());
///     }
///     DONE.wait();
/// });
/// assert!(DONE.is_open());
/// ```
#[repr(transparent)]
pub struct Latch<P: Host = Native> {
    word: P::AtomicU32,
}

impl Latch {
    /// Creates a latch that opens after `count` counts; with 0 it is open.
    ///
    /// # Panics
    ///
    /// If `count` is more than [`MOST_COUNT`].
    pub const fn new(count: u32) -> Self {
        assert!(count <= MOST_COUNT, "a latch counts 2^31 - 1 at most");
        Self { word: AtomicU32::new(count * ONE) }
    }

    /// As [`wait`](Self::wait), for at most `timeout`. Returns whether the latch is open.
    pub fn wait_for(&self, timeout: Duration) -> bool {
        self.wait_by(Native::now().after(timeout))
    }

    /// As [`wait`](Self::wait), until `instant` at the latest. Returns whether the latch is open.
    pub fn wait_until(&self, instant: Instant) -> bool {
        self.wait_by(deadline(instant))
    }
}

impl<P: Host> Latch<P> {
    /// As [`new`](Latch::new), on any platform.
    ///
    /// # Panics
    ///
    /// If `count` is more than [`MOST_COUNT`].
    pub fn on_platform(count: u32) -> Self {
        assert!(count <= MOST_COUNT, "a latch counts {MOST_COUNT} at most, not {count}");
        Self { word: AtomicInt::new(count * ONE) }
    }

    fn key(&self) -> usize {
        (&raw const self.word).addr()
    }

    /// Counts down by one.
    ///
    /// # Panics
    ///
    /// If the latch is open.
    #[inline]
    pub fn count_down(&self) {
        self.count_down_by(1);
    }

    /// Counts down by `count` in one step.
    ///
    /// # Panics
    ///
    /// If `count` is more than the remaining count. Then nothing is counted.
    #[inline]
    pub fn count_down_by(&self, count: u32) {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let next = after(word, count).unwrap_or_else(|| too_many(word, count));
            if next == WAITED {
                return self.open(count);
            }
            // step: count
            let (release, relaxed) = (Ordering::Release, Ordering::Relaxed);
            match self.word.compare_exchange_weak(word, next, release, relaxed) {
                Ok(_) => return,
                Err(found) => word = found,
            }
        }
    }

    /// Makes the last count while a thread may wait.
    #[cold]
    fn open(&self, count: u32) {
        let mut line = Line::<P>::lock(self.key());
        // step: open
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let Some(next) = after(word, count).map(|next| next & !WAITED) else {
                // A panic runs the program's hook, which may need the bucket.
                drop(line);
                too_many(word, count);
            };
            // The last access to this memory: a thread that `take_all` notifies may free it.
            let (both, relaxed) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.word.compare_exchange(word, next, both, relaxed) {
                Ok(_) => break,
                Err(found) => word = found,
            }
        }
        line.take_all();
    }

    /// Counts down by one and waits. No waiting thread can return, and free the latch, while this
    /// one still uses it.
    ///
    /// # Panics
    ///
    /// If the latch is open.
    pub fn arrive_and_wait(&self) {
        let mut line = Line::<P>::lock(self.key());
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let Some(left) = after(word, 1).map(|next| next & !WAITED) else {
                // As in `open`.
                drop(line);
                too_many(word, 1);
            };
            let next = if left == 0 { 0 } else { left | WAITED };
            // step: arrive
            let (both, relaxed) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.word.compare_exchange(word, next, both, relaxed) {
                Ok(_) if left == 0 => return line.take_all(),
                Ok(_) => break,
                Err(found) => word = found,
            }
        }
        line.wait_together(None, |_| ());
    }

    /// Returns whether it has been counted down to zero. If so, all counts happened before.
    #[inline]
    pub fn is_open(&self) -> bool {
        // step: is open
        self.word.load(Ordering::Acquire) == 0
    }

    /// Returns the count that remains at this moment.
    pub fn left(&self) -> u32 {
        self.word.load(Ordering::Relaxed) / ONE
    }

    /// Waits until the latch is open.
    #[inline]
    pub fn wait(&self) {
        if !self.is_open() {
            self.wait_slow(None);
        }
    }

    /// As [`wait`](Self::wait), until the deadline at the latest. Returns whether the latch is
    /// open.
    pub fn wait_by(&self, deadline: Timestamp) -> bool {
        self.is_open() || self.wait_slow(Some(deadline))
    }

    #[cold]
    fn wait_slow(&self, deadline: Option<Timestamp>) -> bool {
        let line = Line::<P>::lock(self.key());
        // step: wait
        let mut word = self.word.load(Ordering::Acquire);
        loop {
            if word == 0 {
                return true;
            }
            let (relaxed, acquire) = (Ordering::Relaxed, Ordering::Acquire);
            match self.word.compare_exchange(word, word | WAITED, relaxed, acquire) {
                Ok(_) => break,
                Err(found) => word = found,
            }
        }
        line.wait_together(deadline, |line| {
            if line.oldest().is_none() {
                // A read-modify-write, because other threads may count at the same time. The latch
                // is not open: the last count would have needed the bucket's lock, and taken this
                // thread.
                self.word.fetch_and(!WAITED, Ordering::Relaxed);
            }
        })
    }
}

/// Returns the word after `count` counts, or `None` if fewer remain.
#[inline(always)]
fn after(word: u32, count: u32) -> Option<u32> {
    (count <= word / ONE).then(|| word - count * ONE)
}

#[cold]
fn too_many(word: u32, count: u32) -> ! {
    panic!("a latch is counted down by {count}, and {} are left", word / ONE);
}

impl<P: Host> fmt::Debug for Latch<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Latch").field("left", &self.left()).finish()
    }
}
