//! The longest time between two operations of one thread, with few readings of the clock.
//!
//! A reading in each turn would cost as much as the lock. So a thread reads the clock after as many
//! operations as took some microseconds together the last time, and after each operation where they
//! are slow. All time between two readings counts as one gap: a gap is never reported shorter than
//! it was, and longer only by the adjacent operations.

use super::prelude::*;

/// The ticks between two readings, if operations are as fast as before.
const PER_STRETCH: u64 = 200_000;

/// With this number of operations a reading is a small part of the fastest loop.
const MOST: u32 = 64;

/// The gaps that one thread has seen.
pub(super) struct Gaps {
    /// Ticks that a stretch may take.
    short: u64,
    /// Operations from one reading to the next, and the number that remains of them.
    stretch: u32,
    left: u32,
    last: u64,
    longest: u64,
}

impl Gaps {
    /// Begins the first gap now.
    pub(super) fn begin<M: Machine>() -> Self {
        Self::at(M::ticks(), M::ticks_per_second() / PER_STRETCH)
    }

    fn at(now: u64, short: u64) -> Self {
        Self { short, stretch: 1, left: 1, last: now, longest: 0 }
    }

    /// Counts a completed operation of the thread.
    #[inline(always)]
    pub(super) fn done<M: Machine>(&mut self) {
        self.left -= 1;
        if self.left == 0 {
            self.look(M::ticks());
        }
    }

    #[inline(never)]
    fn look(&mut self, now: u64) {
        let took = now.saturating_sub(self.last);
        self.last = now;
        self.longest = self.longest.max(took);
        if took > self.short {
            self.stretch = 1;
        } else if took <= self.short / 2 {
            self.stretch = MOST.min(2 * self.stretch);
        }
        self.left = self.stretch;
    }

    /// Returns the longest gap, in ticks; the last one ends now.
    pub(super) fn end<M: Machine>(mut self) -> u64 {
        self.look(M::ticks());
        self.longest
    }
}

/// Adds the longest of all threads' gaps to the sample.
pub(super) fn with<M: Machine>(mut sample: Sample, ticks: impl Iterator<Item = u64>) -> Sample {
    let longest = TickScale::of::<M>().nanos(ticks.max().unwrap_or(0)) / 1e6;
    sample.values.push((OPERATION_GAP, longest));
    sample
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `count` operations that take `each`; returns when the thread read the clock.
    fn run(gaps: &mut Gaps, now: &mut u64, each: u64, count: u64) -> Vec<u64> {
        let mut looks = Vec::new();
        for _ in 0..count {
            *now += each;
            gaps.left -= 1;
            if gaps.left == 0 {
                looks.push(*now);
                gaps.look(*now);
            }
        }
        looks
    }

    #[test]
    fn fast_operations_are_timed_together_and_slow_ones_alone() {
        let (mut gaps, mut now) = (Gaps::at(0, 100), 0);
        // Stretches of 1, 2, 4, and 8; 8 take more than half of the limit.
        assert_eq!(run(&mut gaps, &mut now, 10, 23), [10, 30, 70, 150, 230]);
        assert_eq!(gaps.longest, 80);
        assert_eq!(run(&mut gaps, &mut now, 1_000, 10), [8_230, 9_230, 10_230]);
        assert_eq!(gaps.longest, 8_000);
    }
}
