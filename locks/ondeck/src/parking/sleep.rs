//! How a thread with a linked node waits: it reads its own status for a while, or sleeps until its
//! status changes, its deadline passes, or a slice ends.

use core::time::Duration;

use super::Host;
use super::bucket::Guard;
use super::futex::sleep_while;
use super::node::{Kind, Node, status};
use crate::machine::{AtomicInt, Ordering, Timestamp};
use crate::spin::{pause_until, polling_ticks};

/// A part of a parked thread's sleep. At its end the thread checks whether the thread that is
/// responsible for it gets no CPU.
///
/// The end does not move when a signal interrupts the sleep.
#[derive(Clone, Copy)]
pub(crate) struct Slice {
    pub(crate) end: Timestamp,
    length: Duration,
    longest: Duration,
}

impl Slice {
    /// Many time slices of a scheduler.
    const FIRST: Duration = Self::of_millis(20);
    /// A thread does not wait longer for a lock because it has already waited for long.
    const LONGEST: Duration = Self::of_millis(640);
    /// A waiter of a condition variable or a semaphore may wait for hours, with nothing to check.
    /// It wakes only to find out whether it has been moved to a lock, or whether a permit is free
    /// although no thread takes it, ever more rarely: a thousand waiters do so 25 times a second.
    /// It makes its first check after twice its wait until then, and after this time at most. Until
    /// then it relies on the thread that is responsible for parked ones or was woken before it, on
    /// each thread that arrives, and on each notification or release.
    const LONGEST_IDLE: Duration = Self::of_millis(20 << 11);

    /// Returns an hour instead in a build with `--cfg ondeck_slices="hour"`: in its tests a wake
    /// that is lost until the end of a slice is a hang.
    const fn of_millis(millis: u64) -> Duration {
        Duration::from_millis(if cfg!(ondeck_slices = "hour") { 3_600_000 } else { millis })
    }

    /// Begins the first slice of a thread that is parked for a lock, now.
    pub(crate) fn begin<P: Host>() -> Self {
        Self { end: P::now().after(Self::FIRST), length: Self::FIRST, longest: Self::LONGEST }
    }

    /// Begins the first slice of a waiter, now.
    pub(crate) fn begin_idle<P: Host>() -> Self {
        Self { longest: Self::LONGEST_IDLE, ..Self::begin::<P>() }
    }

    /// Begins the next slice, now: twice as long as the last.
    pub(crate) fn next<P: Host>(&mut self) {
        self.length = (self.length * 2).min(self.longest);
        self.end = P::now().after(self.length);
    }
}

/// Returns the end of a sleep: the deadline or the end of the slice, whichever comes first.
pub(crate) fn end_of_sleep(deadline: Option<Timestamp>, slice: Option<Slice>) -> Option<Timestamp> {
    [deadline, slice.map(|slice| slice.end)].into_iter().flatten().min()
}

impl<P: Host> Node<P> {
    /// Sleeps until the caller, whose node is linked in a queue of this kind, receives a new
    /// status. Returns that status.
    ///
    /// If no thread has chosen the node when its deadline passes, or when a slice ends if there are
    /// slices, calls `leaves` under the lock of the bucket with whether the deadline has passed. If
    /// that returns true, unlinks the node and returns the lock as the error.
    pub(crate) fn sleep(
        &self,
        kind: Kind,
        deadline: Option<Timestamp>,
        mut slice: Option<Slice>,
        mut leaves: impl FnMut(&Guard<'static, P>, bool) -> bool,
    ) -> Result<u32, Guard<'static, P>> {
        loop {
            let now = self.status();
            if is_told(now) {
                return Ok(now);
            }
            // A thread that was chosen is notified in a moment, whatever its deadline. If it woke
            // to check over and over, it might keep the notifying thread from the CPU.
            let end = end_of_sleep(deadline, slice).filter(|_| now == status::PARKED);
            if sleep_while::<P>(self.word(), now, end).is_some() {
                continue;
            }
            if let Some(slice) = &mut slice {
                slice.next::<P>();
            }
            let is_over = deadline.is_some_and(|deadline| P::now() >= deadline);
            let guard = self.lock_bucket();
            // Only under the lock can the caller be certain that no thread is about to choose this
            // node.
            if self.status() == status::PARKED && leaves(&guard, is_over) {
                // SAFETY: a node that was not chosen is linked, in the bucket of its address.
                unsafe { guard.unlink(kind, self) };
                return Err(guard);
            }
        }
    }

    /// Sleeps as [`sleep`](Self::sleep) does, without slices, on the word of the caller's bucket.
    /// The caller is `TOGETHER`, and is not moved.
    pub(super) fn sleep_together(
        &self,
        kind: Kind,
        deadline: Option<Timestamp>,
    ) -> Result<u32, Guard<'static, P>> {
        let bucket = P::bucket(self.address());
        loop {
            // Acquire, and before the status. The waking thread stores the caller's status, then
            // the number. So if the caller reads the new number, it sees its new status; if it
            // reads the old one, it does not sleep, or is woken.
            let round = bucket.rounds.load(Ordering::Acquire);
            let now = self.status();
            if is_told(now) {
                return Ok(now);
            }
            // step: sleep together
            if sleep_while::<P>(&bucket.rounds, round, deadline).is_some() {
                continue;
            }
            let guard = bucket.lock();
            if self.status() == status::TOGETHER {
                // SAFETY: a node that is `TOGETHER` is linked, in the bucket of its address.
                unsafe { guard.unlink(kind, self) };
                return Err(guard);
            }
        }
    }

    /// Locks the bucket in which the caller's node is linked, if it is linked. A move holds the
    /// locks of both buckets.
    fn lock_bucket(&self) -> Guard<'static, P> {
        loop {
            let address = self.address();
            let guard = P::bucket(address).lock();
            if self.address() == address {
                return guard;
            }
        }
    }

    /// Reads the caller's own status for `ticks`, or until it is notified. Returns whether it was
    /// notified. No other thread reads this cache line, so unlike a poll of a lock this disturbs
    /// none.
    pub(crate) fn is_told_within(&self, ticks: usize) -> bool {
        pause_until::<P>(ticks, || is_told(self.status()))
    }

    /// Offers the CPU to other threads again and again, until the caller is notified, or for the
    /// time of a wake, but a few times at least. Returns whether the caller was notified.
    ///
    /// A thread that loses its CPU for a time slice does not run when it is notified, and a
    /// sleeping thread would. So after such a loss no thread of the bucket yields for 256 times as
    /// long. Several threads may each lose a slice, one after the other, before the first one runs
    /// again and begins that rest.
    ///
    /// A real-time thread does not yield: threads of lower priority never get its CPU that way, and
    /// a deadline thread would sleep until its next period.
    pub(super) fn is_told_between_yields(&self) -> bool {
        /// The number of yields in which the other threads of a CPU that want to notify this one
        /// have run, even if there are many. A yield that finds no other thread takes 0.3 µs.
        const LEAST: u32 = 4;
        /// Many times a wake on any machine, and less than a usual time slice: Linux's is 0.7 ms or
        /// more.
        const SLICE_NANOS: u32 = 500_000;
        const REST: usize = 256;
        let begin = P::ticks() as usize;
        let rest = &P::bucket(self.address()).yields;
        if P::polling().budget == 0 || !rest.is_over(begin) || P::priority() != 0 {
            return false;
        }
        // On the only CPU no thread polls, but a yield lets the others run.
        let (polling, slice) = (polling_ticks::<P>(), P::ticks_in(SLICE_NANOS));
        let mut yields = 0;
        loop {
            P::yield_now();
            yields += 1;
            let is_told = is_told(self.status());
            let took = (P::ticks() as usize).wrapping_sub(begin);
            // The counter of another CPU may be behind.
            let went_back = took > usize::MAX / 2;
            if took >= slice && !went_back {
                rest.begin(begin.wrapping_add(took), took.saturating_mul(REST));
            }
            if is_told || took >= slice || yields >= P::spins(LEAST) && took >= polling {
                return is_told;
            }
        }
    }
}

/// Returns whether a thread that waits elsewhere than at a mutex has been notified to continue.
fn is_told(status: u32) -> bool {
    use status::{CHOSEN, NEAR, PARKED, TOGETHER};
    !matches!(status, NEAR | PARKED | CHOSEN | TOGETHER)
}
