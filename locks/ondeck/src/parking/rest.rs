//! A rest: a time for which threads do not try again what did not pay.

use super::Host;
use crate::machine::{AtomicInt, Ordering};

/// The end of a rest, in ticks. Relaxed: a thread that reads an older value tries too early or too
/// late.
#[derive(Debug)]
pub(crate) struct Rest<P: Host>(P::AtomicUsize);

/// Returns the longest rest, in ticks: four seconds. A thread that was stopped in between, or a
/// counter that begins again after a suspension, ends no attempts for longer.
fn longest<P: Host>() -> usize {
    P::ticks_in(u32::MAX).min(usize::MAX >> 5)
}

impl<P: Host> Rest<P> {
    /// Creates a rest that is over.
    pub(super) fn new() -> Self {
        Self(AtomicInt::new(0))
    }

    /// Begins a rest of `ticks` at `now`.
    pub(crate) fn begin(&self, now: usize, ticks: usize) {
        self.0.store(now.wrapping_add(ticks.min(longest::<P>())), Ordering::Relaxed);
    }

    /// Returns whether the rest is over at `now`.
    ///
    /// If its recorded end is further away than the longest rest, the counter has wrapped around
    /// since, or begun again. On 32 bits it wraps after minutes, and a rest that ended long ago, or
    /// never began, counts again for the longest rest.
    pub(crate) fn is_over(&self, now: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed).wrapping_sub(now);
        left == 0 || left > longest::<P>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Native;

    #[test]
    fn a_rest_that_never_began_is_over_wherever_the_counter_is() {
        let rest = Rest::<Native>::new();
        assert!((0..32).all(|part| rest.is_over(usize::MAX / 32 * part)));
    }

    #[test]
    fn a_rest_ends_where_it_was_said_also_where_the_counter_wraps() {
        for now in [0, usize::MAX - 50] {
            let rest = Rest::<Native>::new();
            rest.begin(now, 100);
            let over = [0, 1, 99, 100, 101, usize::MAX / 2 + 200];
            let over = over.map(|after| rest.is_over(now.wrapping_add(after)));
            assert_eq!(over, [false, false, false, true, true, true]);
            rest.begin(now, usize::MAX);
            assert!(!rest.is_over(now) && rest.is_over(now.wrapping_add(usize::MAX / 2)));
            assert!(
                rest.is_over(now.wrapping_sub(1)),
                "the counter has gone back behind the rest's begin"
            );
        }
    }
}
