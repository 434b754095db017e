//! Whether it is worth it that a waiter of a condition variable or a key reads its own node for a while before it
//! sleeps: where such watches are in vain they become rare.

use super::Host;
use crate::machine::{AtomicInt, Ordering};

/// How the last waiters of a bucket's condition variables and keys fared.
///
/// ```text
///  vain   how much more often watches were in vain than not: up by one at a watch in vain, halved at a
///         success. Written by waiters, without a lock: one lost now and then does not matter.
///
///  vain < USUAL_BELOW    every waiter watches
///  else                  one waiter in vain / SLOPE does, and at least one in RAREST
/// ```
///
/// A watch costs up to two wakes' time of a CPU and saves one wake. Because a success halves the number
/// instead of clearing it, watches stay usual only where a good part of them succeeds. Where none does,
/// what is spent in vain falls below a hundredth of a wake's time for each wait. A sleep costs the CPUs
/// about a tenth of a wake's time.
///
/// It does not fall at once, because a watch is also the way out of a bad state: two threads that hand
/// something to each other on one CPU, while another CPU is idle. There each watch is in vain, but makes
/// two threads runnable, so that the kernel moves one of them at its next tick.
///
/// That the time spent in vain is bounded by what a sleep would have cost is the idea of Karlin, Li,
/// Manasse and Owicki's "Empirical Studies of Competitive Spinning for a Shared-Memory Multiprocessor".
#[derive(Debug)]
pub(crate) struct Watches<P: Host> {
    vain: P::AtomicU32,
}

/// Below this difference between vain and successful watches, every waiter watches.
const USUAL_BELOW: u32 = 8;

/// How fast watches become rare. After n waits in vain about the square root of 8 n have watched: 9 % of
/// a thousand, 1 % of a hundred thousand.
const SLOPE: u32 = 4;

/// Where watches are rarest, one in this number of waiters watches. Where threads wait often, one of them soon
/// tries again: 256 waits that sleep, of some 30 µs each, are 8 ms.
const RAREST: u32 = 256;

impl<P: Host> Watches<P> {
    pub(super) fn new() -> Self {
        Self { vain: AtomicInt::new(0) }
    }

    /// Whether the caller should watch.
    pub(crate) fn is_worth_it(&self) -> bool {
        let vain = self.vain.load(Ordering::Relaxed);
        vain < USUAL_BELOW || P::once_in((vain / SLOPE).next_power_of_two())
    }

    /// A watch has ended: with a notification, or in vain.
    pub(crate) fn note(&self, notified: bool) {
        let vain = self.vain.load(Ordering::Relaxed);
        let next = if notified { vain / 2 } else { (vain + 1).min(SLOPE * RAREST) };
        if next != vain {
            self.vain.store(next, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Watches;
    use crate::platform::Native;

    /// How many of these waiters watch, if each watch ends as `notified` says.
    fn watched(watches: &Watches<Native>, waiters: u32, notified: bool) -> u32 {
        let mut count = 0;
        for _ in 0..waiters {
            if watches.is_worth_it() {
                count += 1;
                watches.note(notified);
            }
        }
        count
    }

    #[test]
    fn watches_in_vain_become_rare_and_successful_ones_usual_again() {
        let watches = Watches::new();
        assert_eq!(watched(&watches, 1_000, true), 1_000);
        let in_vain = watched(&watches, 100_000, false);
        assert!((500..3_000).contains(&in_vain), "{in_vain} of 100,000 watched in vain");
        // Eight of them halve the number until every waiter watches.
        let successful = watched(&watches, 10_000, true);
        assert!(successful > 5_000, "{successful} of 10,000 watched with success");
    }
}
