//! When a lock is biased: hysteresis, so that a lock that several threads use stays unbiased.
//!
//! ```text
//! bits 0–31    not biased: the length of the thread's run of acquisitions
//!              biased: when the bias began, in 1024 ticks
//! bits 32–47   which thread: a part of its row's address
//! bits 48–     the number of times that the run before a bias was doubled
//! ```
//!
//! Only threads that have `inner` change it, and it publishes nothing to other threads: `Relaxed`.
//!
//! A lock is biased to a thread that has acquired it [`RUN`] times in a row. A bias that lasted for less than [`PAYS`] times
//! its revocation has not paid: the next run must be twice as long, at most 65,536 acquisitions. A bias that has paid halves
//! it. So where threads alternate, in whatever rhythm, the cost of revocations becomes a small part of the time of such a
//! run.

use crate::platform::{AtomicInt, Host, Ordering};

/// The length of the run after which a lock is biased to its thread, if biases have paid.
const RUN: u32 = 64;

/// The maximum number of doublings of that length.
const MOST_DOUBLED: usize = 10;

/// A bias that lasted for less than this multiple of its revocation's time did not pay. It saves its owner a part of its
/// time, and costs each thread the revocation.
const PAYS: usize = 64;

const RUN_BITS: u32 = 32;
const THREAD_BITS: u32 = 16;
const THREAD: usize = (1 << THREAD_BITS) - 1;
/// The binary logarithm of the alignment of rows.
const ROW_BITS: u32 = 7;
/// The number of the lowest bits of the ticks that the stored begin of a bias leaves out.
const TICK_BITS: u32 = 10;
/// The bits of a begin: on 32 bits, the bits that remain of a time in a machine word.
const BEGIN: u32 = (usize::MAX >> TICK_BITS) as u32;
/// The longest time by which one CPU's clock may lag another's, in the unit of a begin: 0.3 s, if a tick is 1/3 ns.
const CLOCKS_DIFFER: u32 = 1 << (BEGIN.count_ones() - 12);

pub(super) struct History<P: Host>(Word<P>);

/// 64 bits. On 32-bit machines in two words, both changed only by a thread that has `inner`.
#[cfg(target_pointer_width = "64")]
struct Word<P: Host>(P::AtomicUsize);
#[cfg(not(target_pointer_width = "64"))]
struct Word<P: Host>([P::AtomicU32; 2]);

#[cfg(target_pointer_width = "64")]
impl<P: Host> History<P> {
    pub(super) fn new() -> Self {
        Self(Word(AtomicInt::new(0)))
    }

    #[inline]
    fn get(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed) as u64
    }

    #[inline]
    fn store(&self, word: u64) {
        self.0.0.store(word as usize, Ordering::Relaxed);
    }
}

#[cfg(not(target_pointer_width = "64"))]
impl<P: Host> History<P> {
    pub(super) fn new() -> Self {
        Self(Word([AtomicInt::new(0), AtomicInt::new(0)]))
    }

    fn get(&self) -> u64 {
        let [low, high] = self.0.0.each_ref().map(|word| word.load(Ordering::Relaxed));
        u64::from(high) << u32::BITS | u64::from(low)
    }

    fn store(&self, word: u64) {
        self.0.0[0].store(word as u32, Ordering::Relaxed);
        self.0.0[1].store((word >> u32::BITS) as u32, Ordering::Relaxed);
    }
}

impl<P: Host> History<P> {
    fn set(&self, low: u32, thread: usize, doubled: usize) {
        self.store(word(low, thread, doubled));
    }

    /// Records that the thread of the row at this address is inside, without a bias. Returns whether its run is long enough.
    #[inline]
    pub(super) fn note(&self, row: usize) -> bool {
        let before = self.get();
        let thread = (row >> ROW_BITS) & THREAD;
        let is_same = (before >> RUN_BITS) as usize & THREAD == thread;
        let run = if is_same { (before as u32).saturating_add(1) } else { 1 };
        self.set(run, thread, doubled(before));
        // step: long enough
        run >= P::spins(RUN << doubled(before))
    }

    /// Records that a bias to the thread of the row at this address begins.
    pub(super) fn begins(&self, row: usize) {
        let since = (P::ticks() >> TICK_BITS) as u32 & BEGIN;
        self.set(since, (row >> ROW_BITS) & THREAD, doubled(self.get()));
    }

    /// Records that a bias has ended, by a revocation that began at this time.
    pub(super) fn ends(&self, begin: usize) {
        let cost = (P::ticks() as usize).wrapping_sub(begin);
        let before = self.get();
        self.set(0, THREAD, after(doubled(before), has_paid(before as u32, begin, cost)));
    }

    /// Records that a bias has ended without a revocation.
    pub(super) fn restarts(&self) {
        self.set(0, THREAD, doubled(self.get()));
    }
}

impl History<crate::platform::Native> {
    /// The history of a lock that no thread has had.
    #[allow(clippy::declare_interior_mutable_const, reason = "a part of a mutex that is constant")]
    pub(super) const NONE: Self = {
        #[cfg(target_pointer_width = "64")]
        let word = Word(core::sync::atomic::AtomicUsize::new(0));
        #[cfg(not(target_pointer_width = "64"))]
        let word = Word([const { core::sync::atomic::AtomicU32::new(0) }; 2]);
        Self(word)
    };
}

fn doubled(word: u64) -> usize {
    (word >> (RUN_BITS + THREAD_BITS)) as usize
}

/// Returns whether a bias has paid that began at `since`, in the unit of a begin, and was revoked from `begin` on at a cost
/// of `cost`, both in ticks.
fn has_paid(since: u32, begin: usize, cost: usize) -> bool {
    let lasted = ((begin >> TICK_BITS) as u32).wrapping_sub(since) & BEGIN;
    // The clocks of two CPUs may differ a little, but not more: a bias that lasts for minutes pays.
    let lasted = if lasted > BEGIN - CLOCKS_DIFFER { 0 } else { lasted };
    // Longer, not equal: a revocation that takes less than a part of a unit counts as nothing, and so does a bias that did
    // not last.
    lasted as usize > cost.saturating_mul(PAYS) >> TICK_BITS
}

/// Returns the number of doublings after a bias that has paid, or has not.
fn after(doubled: usize, has_paid: bool) -> usize {
    if has_paid { doubled.saturating_sub(1) } else { (doubled + 1).min(MOST_DOUBLED) }
}

fn word(low: u32, thread: usize, doubled: usize) -> u64 {
    u64::from(low) | (thread as u64) << RUN_BITS | (doubled as u64) << (RUN_BITS + THREAD_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::{Native, Platform};

    /// Returns the row of the thread with this number.
    fn row(thread: usize) -> usize {
        (1_000 + thread) << ROW_BITS
    }

    /// Returns how many times in a row a thread acquires the lock before it is biased to that thread.
    fn run(history: &History<Native>) -> usize {
        1 + (0..1_000_000).take_while(|_| !history.note(row(0))).count()
    }

    #[test]
    fn a_thread_alone_has_it_for_a_run() {
        assert_eq!(run(&History::new()), RUN as usize);
    }

    #[test]
    fn threads_that_take_turns_have_no_run() {
        let history = History::<Native>::new();
        assert!((0..10_000).all(|turn| !history.note(row(turn % 2))));
    }

    #[test]
    fn another_thread_ends_a_run() {
        let history = History::<Native>::new();
        assert!((1..RUN).all(|_| !history.note(row(0))));
        assert!(!history.note(row(1)));
        assert!(!history.note(row(0)));
        assert_eq!(run(&history), RUN as usize - 1);
    }

    #[test]
    fn a_bias_that_did_not_last_is_earned_anew_by_twice_as_much() {
        let history = History::<Native>::new();
        for doubled in 0..MOST_DOUBLED + 2 {
            assert_eq!(run(&history), (RUN as usize) << doubled.min(MOST_DOUBLED));
            history.begins(row(0));
            // The revocation took longer than the bias lasted.
            history.ends((Native::ticks() as usize).wrapping_sub(1 << 30));
        }
    }

    #[test]
    fn a_bias_pays_by_a_clock_that_is_not_behind() {
        let begin = Native::ticks() as usize;
        let since = |lasted: u32| ((begin >> TICK_BITS) as u32).wrapping_sub(lasted);
        for cost in [0, 1, 1_000] {
            let has_paid = |lasted| has_paid(since(lasted), begin, cost);
            // These times are minutes.
            assert_eq!([BEGIN / 4 * 3, BEGIN / 2, BEGIN / 4].map(has_paid), [true; 3]);
            // Zero, and negative times.
            assert_eq!(
                [0, 1_u32.wrapping_neg(), (1_u32 << 10).wrapping_neg()].map(has_paid),
                [false; 3]
            );
        }
    }

    #[test]
    fn a_bias_pays_that_lasts_for_some_times_its_revocation() {
        let (begin, since, cost) = (1_000 << TICK_BITS, 900, 100 << TICK_BITS);
        let has_paid = |part: usize| has_paid(since, begin, cost / PAYS * part / 10);
        assert_eq!([9, 10, 11].map(has_paid), [true, false, false]);
    }

    #[test]
    fn a_bias_that_has_paid_halves_it() {
        assert_eq!((after(3, true), after(0, true)), (2, 0));
        let history = History::<Native>::new();
        // The bias began long ago.
        let begin = Native::ticks() as usize;
        history.set(((begin >> TICK_BITS) as u32).wrapping_sub(BEGIN / 4), THREAD, 3);
        history.ends(begin);
        assert_eq!(run(&history), (RUN as usize) << 2);
    }
}
