//! A barrier: threads wait until a given number of them has arrived, in round after round.
//!
//! ```text
//! the word       ODD (31)        the number of rounds that have ended is odd
//!                AHEAD (30)      threads of this round have arrived without waiting
//!                COUNT (29 to 0) threads of this round that have arrived
//!                Read and written under the bucket's lock only, as is the total, except where it
//!                shows that no thread has to wait
//!
//! wait           count + 1 < total ──► count + 1, in the line
//!                count + 1 = total ──► the caller is the leader: the round ends
//! gives up       count ──► count - 1
//! arrives ahead  count ──► count + n, AHEAD; with count + n = total the caller ends the round
//! leaves         total ──► total - 1; with count = total the caller ends the round
//! the end        ──► the other ODD, all else clear; all in the line are taken
//! ```
//!
//! A thread that waits as it arrives needs no number of its round: it is in the line, and the same
//! step that begins the next round empties the line. So threads of two rounds cannot be mixed,
//! however soon one of them comes back. A thread that arrives without waiting, and may wait later,
//! keeps ODD: the next round cannot end before that wait, unless the thread arrives in it as well.
//! Without AHEAD an empty line is a round in which no thread has arrived, whatever the count: the
//! threads of the parent are not in the child of a fork.
//!
//! # Nothing is touched after a wait may return
//!
//! The leader stores the barrier's word before it wakes the other threads. They read only their own
//! nodes and a word of the parking table. So the barrier may be freed as soon as one wait of its
//! last round has returned, while other threads still wake. The waiters of the standard library's
//! barrier read a generation in the barrier's memory, so it cannot promise that.
//!
//! # Yields
//!
//! Where there are more threads than CPUs, a waiting thread yields before it sleeps: its CPU runs
//! the threads that the round still needs, and the leader finds all threads runnable. Rounds of 4,
//! 8 and 64 threads on two CPUs of a Xeon, by the better of glibc's barrier and the standard
//! library's: 11, 6.9 and 2.1 with yields, 0.88, 0.93 and 0.91 without them (medians of 9 runs in
//! turns). A yield to a busy thread of another program costs a time slice, and then yields rest.
//!
//! # Memory ordering
//!
//! The bucket's lock orders the arriving threads: the work of each before its wait happens before
//! the leader takes them. The leader stores their statuses with `Release`, and they load them with
//! `Acquire`. So the count is `Relaxed`. A thread that leaves stores the total with `Release`: one
//! that finds no other left, without the bucket's lock, has loaded it with `Acquire`.
//!
//! # Sources
//!
//! John Mellor-Crummey and Michael Scott, "Algorithms for Scalable Synchronization on Shared-Memory
//! Multiprocessors", for the cost of a central barrier; this one is central, and its threads sleep.
//! With more than about a hundred threads, a tree would be faster.

extern crate std;

use core::fmt;
use core::sync::atomic::AtomicU32;
use core::time::Duration;
use std::time::Instant;

use crate::mutex::deadline;
use crate::parking::Line;
use crate::platform::{AtomicInt, Host, Native, Ordering, Platform, Timestamp};

/// A place where a number of threads wait for each other, any number of times: eight bytes.
///
/// It may be freed as soon as one wait of its last round has returned. It can be a `static`. See
/// the [module](self) for its protocol.
///
/// # Panics
///
/// Never.
///
/// # Memory ordering
///
/// The work of each thread before its wait happens before all waits of that round return.
///
/// # Cost
///
/// Each wait acquires the lock of a bucket of the parking table, about two atomic
/// read-modify-writes. Where there are more threads than CPUs, a wait without a deadline yields a
/// few times. The leader wakes all sleeping threads by one system call. A barrier for one thread
/// costs nothing.
///
/// ```
/// use ondeck::Barrier;
///
/// static BARRIER: Barrier = Barrier::new(3);
///
/// let leaders = std::thread::scope(|scope| {
///     let threads = [0; 3].map(|_| scope.spawn(|| BARRIER.wait().is_leader()));
///     threads.into_iter().map(|thread| u32::from(thread.join().unwrap())).sum::<u32>()
/// });
/// assert_eq!(leaders, 1);
/// ```
#[repr(C)]
pub struct Barrier<P: Host = Native> {
    arrived: P::AtomicU32,
    /// Only [`leave`](Self::leave) changes it.
    total: P::AtomicU32,
}

const ODD: u32 = 1 << 31;
const AHEAD: u32 = 1 << 30;
const COUNT: u32 = AHEAD - 1;

/// The result of [`Barrier::wait`].
///
/// ```
/// assert!(ondeck::Barrier::new(1).wait().is_leader());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult {
    is_leader: bool,
}

impl BarrierWaitResult {
    /// Returns whether this thread arrived last. Each round has one such thread.
    pub fn is_leader(&self) -> bool {
        self.is_leader
    }
}

impl Barrier {
    /// Creates a barrier for `total` threads; with 0 or 1 no thread waits.
    pub const fn new(total: u32) -> Self {
        Self { arrived: AtomicU32::new(0), total: AtomicU32::new(total) }
    }

    /// As [`wait`](Self::wait), for at most `timeout`. Returns `None` if not all threads arrived in
    /// that time. The thread then counts as not having arrived.
    pub fn wait_for(&self, timeout: Duration) -> Option<BarrierWaitResult> {
        self.wait_by(Native::now().after(timeout))
    }

    /// As [`wait_for`](Self::wait_for), until `instant` at the latest.
    pub fn wait_until(&self, instant: Instant) -> Option<BarrierWaitResult> {
        self.wait_by(deadline(instant))
    }
}

impl<P: Host> Barrier<P> {
    /// As [`new`](Barrier::new), on any platform.
    pub fn on_platform(total: u32) -> Self {
        Self { arrived: AtomicInt::new(0), total: AtomicInt::new(total) }
    }

    fn key(&self) -> usize {
        (&raw const self.arrived).addr()
    }

    /// Waits until all threads of the round have arrived. Returns whether the caller was the last.
    ///
    /// # Panics
    ///
    /// Never.
    pub fn wait(&self) -> BarrierWaitResult {
        self.arrive(None, true).expect("without a deadline a wait ends with the round")
    }

    /// As [`wait`](Self::wait), until the deadline at the latest. Returns `None` if it passes
    /// before all have arrived. The thread then counts as not having arrived.
    pub fn wait_by(&self, deadline: Timestamp) -> Option<BarrierWaitResult> {
        self.arrive(Some(deadline), true)
    }

    /// Waits as a thread of the round, whose end is the leader's: of a leader that `ends` it, now.
    fn arrive(&self, deadline: Option<Timestamp>, ends: bool) -> Option<BarrierWaitResult> {
        // Acquire: see the module.
        if self.total.load(Ordering::Acquire) > 1 {
            let line = Line::<P>::lock(self.key());
            let (word, total) = self.round(&line);
            // step: arrive
            if (word & COUNT) + 1 < total {
                self.arrived.store(word + 1, Ordering::Relaxed);
                // step: wait
                let gives_up = |_: &mut Line<P>| {
                    let word = self.arrived.load(Ordering::Relaxed);
                    self.arrived.store(word - 1, Ordering::Relaxed);
                };
                let met = Self::wait_in(line, total, deadline, gives_up);
                return met.then_some(BarrierWaitResult { is_leader: false });
            }
            if ends {
                self.begin_next(line, word);
            }
        }
        Some(BarrierWaitResult { is_leader: true })
    }

    /// Returns the word, without threads that the line would have, and the total.
    fn round(&self, line: &Line<P>) -> (u32, u32) {
        let word = self.arrived.load(Ordering::Relaxed);
        let is_kept = word & AHEAD != 0 || line.oldest().is_some();
        (if is_kept { word } else { word & ODD }, self.total.load(Ordering::Relaxed))
    }

    fn wait_in(
        mut line: Line<P>,
        total: u32,
        deadline: Option<Timestamp>,
        gives_up: impl FnOnce(&mut Line<P>),
    ) -> bool {
        // Some of the others get no CPU before this one gives its own up.
        if total as usize > P::cpus() {
            line.offer_cpu();
        }
        line.wait_together(deadline, gives_up)
    }

    fn begin_next(&self, mut line: Line<P>, word: u32) {
        // step: meet
        self.arrived.store(!word & ODD, Ordering::Relaxed);
        line.take_all();
    }
}

/// The steps of `std::barrier` in C++, whose last thread runs a function before the round ends. If
/// one of the first three says that the caller is the last, it has to call `end`.
#[doc(hidden)]
impl<P: Host> Barrier<P> {
    /// As [`wait`](Self::wait), but the round of the leader has not ended yet.
    pub fn meet(&self) -> BarrierWaitResult {
        self.arrive(None, false).expect("without a deadline a wait ends with the round")
    }

    /// Counts `threads` as arrived, without waiting. Returns the round, for [`wait_for_end`], and
    /// whether they were the last.
    ///
    /// [`wait_for_end`]: Self::wait_for_end
    pub fn arrive_ahead(&self, threads: u32) -> (u32, bool) {
        let line = Line::<P>::lock(self.key());
        let (word, total) = self.round(&line);
        let count = (word & COUNT).saturating_add(threads).min(COUNT);
        // step: arrive ahead
        self.arrived.store(word & ODD | AHEAD | count, Ordering::Relaxed);
        (word & ODD, count >= total)
    }

    /// Makes this round and all later ones need one thread less. Returns whether all others have
    /// arrived in this one.
    pub fn leave(&self) -> bool {
        let line = Line::<P>::lock(self.key());
        let (word, total) = self.round(&line);
        let total = total.saturating_sub(1);
        // step: leave
        self.arrived.store(word, Ordering::Relaxed);
        // Release: see the module.
        self.total.store(total, Ordering::Release);
        word & COUNT >= total
    }

    /// Ends the round of which the caller was the last.
    pub fn end(&self) {
        let line = Line::<P>::lock(self.key());
        let word = self.arrived.load(Ordering::Relaxed);
        self.begin_next(line, word);
    }

    /// Waits for the end of a round in which the caller has arrived ahead.
    pub fn wait_for_end(&self, round: u32) {
        let line = Line::<P>::lock(self.key());
        let (word, total) = self.round(&line);
        // step: wait for the end
        if word & ODD == round {
            Self::wait_in(line, total, None, |_| ());
        }
    }
}

impl<P: Host> fmt::Debug for Barrier<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier")
            .field("total", &self.total.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}
