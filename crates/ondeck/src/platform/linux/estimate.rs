//! Times that locks measure while they wait, and that the whole process shares.

use core::sync::atomic::{AtomicUsize, Ordering};

use super::ticks;

/// From the call that wakes a thread until it runs. Wakes of 7 to 30 µs were measured.
pub(super) static WAKE: Estimate = Estimate::new(20_000, 2_000..=50_000, 1);

/// A read-modify-write of a cache line that another CPU had. Transfers of 25 to 300 ns were measured, and
/// several times as long ones where more CPUs want the line: hence not the median, but a fifth of the
/// times are shorter.
pub(super) static TRANSFER: Estimate = Estimate::new(50, 20..=500, 4);

/// About the median of what was noted: each time that is longer makes the estimate longer by a
/// sixteenth, each that is not makes it shorter by as much. Or a lower quantile: if those that are longer
/// count `longer` times less, one in `longer` + 1 is shorter. So a time that is out of all proportion,
/// of a thread that lost its CPU meanwhile, counts like any other.
///
/// A cache line of its own, because it is written where others are read.
#[repr(align(64))]
pub(super) struct Estimate {
    /// In ticks; 0 while nothing was noted. Relaxed: it stands alone, and a time lost to another one is
    /// no harm.
    ticks: AtomicUsize,
    /// In nanoseconds.
    start: u32,
    least: u32,
    most: u32,
    longer: usize,
}

impl Estimate {
    const fn new(start: u32, range: core::ops::RangeInclusive<u32>, longer: usize) -> Self {
        let (least, most) = (*range.start(), *range.end());
        Self { ticks: AtomicUsize::new(0), start, least, most, longer }
    }

    /// In ticks.
    #[inline]
    pub(super) fn get(&self) -> usize {
        match self.ticks.load(Ordering::Relaxed) {
            0 => ticks::in_nanos(self.start),
            ticks => ticks,
        }
    }

    /// Notes a time, in ticks.
    #[inline]
    pub(super) fn note(&self, time: usize) {
        // At least a tick, where ticks are long.
        let least = ticks::in_nanos(self.least).max(1);
        let most = ticks::in_nanos(self.most).max(least);
        self.ticks
            .store(moved(self.get(), time, self.longer).clamp(least, most), Ordering::Relaxed);
    }
}

/// The estimate, moved towards the time. By a tick at least, where ticks are long.
fn moved(estimate: usize, time: usize, longer: usize) -> usize {
    if time > estimate {
        estimate + estimate / (16 * longer) + 1
    } else {
        estimate - (estimate / 16).max(1).min(estimate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where an estimate of machines with these ticks comes to.
    fn after(mut estimate: usize, times: impl Iterator<Item = usize>) -> usize {
        for time in times {
            estimate = moved(estimate, time, 1);
        }
        estimate
    }

    #[test]
    fn the_estimate_comes_to_what_is_noted_from_both_sides() {
        for start in [100, 1_000_000] {
            let end = after(start, core::iter::repeat_n(10_000, 200));
            assert!((9_000..11_000).contains(&end), "{start} becomes {end}");
        }
    }

    #[test]
    fn a_few_that_are_far_off_move_it_little() {
        let times = (0..200).map(|turn| if turn % 8 == 0 { usize::MAX } else { 10_000 });
        let end = after(10_000, times);
        assert!((8_500..11_500).contains(&end), "{end}");
    }

    #[test]
    fn ticks_that_are_long_do_not_hold_it() {
        assert_eq!(moved(2, 1, 1), 1);
        assert_eq!(moved(1, 2, 1), 2);
        assert_eq!(moved(0, 0, 1), 0);
    }

    #[test]
    fn it_stays_within_its_range() {
        let estimate = Estimate::new(20_000, 2_000..=50_000, 1);
        let nanos = |nanos| ticks::in_nanos(nanos);
        assert_eq!(estimate.get(), nanos(20_000));
        (0..1_000).for_each(|_| estimate.note(usize::MAX));
        assert_eq!(estimate.get(), nanos(50_000));
        (0..1_000).for_each(|_| estimate.note(0));
        assert_eq!(estimate.get(), nanos(2_000));
    }
}
