//! Decides whether a waiter of a condition variable or a key reads its own node for a while before
//! it sleeps. Where such watches fail, they become rare.

use super::Host;
use crate::machine::{AtomicInt, Ordering};

/// The results of the recent watches at a bucket's condition variables and keys.
///
/// ```text
///  vain   by how many failed watches outnumber successful ones: up by one at a failure, halved at a
///         success. Written by waiters, without a lock: a lost update now and then does not matter.
///
///  vain < USUAL_BELOW    every waiter watches
///  else                  one waiter in vain / SLOPE does, and at least one in RAREST
/// ```
///
/// A watch costs at most the time of two wakes on a CPU, and saves one wake. Because a success
/// halves the number instead of clearing it, watches stay usual only where a good part of them
/// succeeds. Where none does, the time spent on failed watches falls below a hundredth of a wake
/// for each wait. A sleep costs the CPUs about a tenth of a wake.
///
/// The number of watches does not fall at once, because a watch is also the way out of a bad state:
/// two threads that hand something to each other on one CPU, while another CPU is idle. There each
/// watch fails, but makes two threads runnable, so that the kernel moves one of them at its next
/// tick.
///
/// The idea to bound the time of failed watches by the cost of a sleep is from Karlin, Li, Manasse
/// and Owicki's "Empirical Studies of Competitive Spinning for a Shared-Memory Multiprocessor".
#[derive(Debug)]
pub(crate) struct Watches<P: Host> {
    vain: P::AtomicU32,
}

/// Below this difference between failed and successful watches, every waiter watches.
const USUAL_BELOW: u32 = 8;

/// How fast watches become rare. After n waits without success, about the square root of 8 n have
/// watched: 9 % of a thousand, 1 % of a hundred thousand.
const SLOPE: u32 = 4;

/// At the rarest, one in this number of waiters watches. Where threads wait often, one of them soon
/// tries again: 256 waits that sleep, of some 30 µs each, take 8 ms.
const RAREST: u32 = 256;

impl<P: Host> Watches<P> {
    pub(super) fn new() -> Self {
        Self { vain: AtomicInt::new(0) }
    }

    /// Returns whether the caller should watch.
    pub(crate) fn is_worth_it(&self) -> bool {
        let vain = self.vain.load(Ordering::Relaxed);
        vain < USUAL_BELOW || P::once_in((vain / SLOPE).next_power_of_two())
    }

    /// Records whether a watch ended with a notification.
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

    /// Returns how many of these waiters watch, if each watch ends as `notified` indicates.
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
        // Eight successes halve the number until every waiter watches.
        let successful = watched(&watches, 10_000, true);
        assert!(successful > 5_000, "{successful} of 10,000 watched with success");
    }
}
