//! A barrier: threads wait until a given number of them has arrived, in round after round.
//!
//! ```text
//! the word       the number of threads of this round that wait: as many as are in the line.
//!                Read and written under the bucket's lock only
//!
//! wait           arrived + 1 < total ──► arrived + 1, in the line
//!                arrived + 1 = total ──► 0, all in the line are taken: the caller is the leader
//! gives up       arrived ──► arrived - 1
//! ```
//!
//! A round has no number: a waiting thread is in the line, and the same step that begins the next
//! round empties the line. So threads of two rounds cannot be mixed, however soon one of them comes
//! back.
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
//! `Acquire`. So the count is `Relaxed`; the total never changes.
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
    /// It never changes. It is atomic because a thread may free the barrier while another has a
    /// reference to it in a wait: Rust allows that only for cells.
    total: P::AtomicU32,
}

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
        self.arrive(None).expect("without a deadline a wait ends with the round")
    }

    /// As [`wait`](Self::wait), until the deadline at the latest. Returns `None` if it passes
    /// before all have arrived. The thread then counts as not having arrived.
    pub fn wait_by(&self, deadline: Timestamp) -> Option<BarrierWaitResult> {
        self.arrive(Some(deadline))
    }

    fn arrive(&self, deadline: Option<Timestamp>) -> Option<BarrierWaitResult> {
        let total = self.total.load(Ordering::Relaxed);
        if total > 1 {
            let mut line = Line::<P>::lock(self.key());
            // In the child of a fork the line is empty, whatever the word's value.
            let waiting = line.oldest().map_or(0, |_| self.arrived.load(Ordering::Relaxed));
            // step: arrive
            if waiting + 1 < total {
                self.arrived.store(waiting + 1, Ordering::Relaxed);
                // Some of the others get no CPU before this one gives its own up.
                if total as usize > P::cpus() {
                    line.offer_cpu();
                }
                // step: wait
                let gives_up = |_: &mut Line<P>| {
                    let waiting = self.arrived.load(Ordering::Relaxed);
                    self.arrived.store(waiting - 1, Ordering::Relaxed);
                };
                let met = line.wait_together(deadline, gives_up);
                return met.then_some(BarrierWaitResult { is_leader: false });
            }
            // step: meet
            self.arrived.store(0, Ordering::Relaxed);
            line.take_all();
        }
        Some(BarrierWaitResult { is_leader: true })
    }
}

impl<P: Host> fmt::Debug for Barrier<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier")
            .field("total", &self.total.load(Ordering::Relaxed))
            .finish_non_exhaustive()
    }
}
