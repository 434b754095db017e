//! The times that locks measure while they wait, kept by the machine.

use super::{Platform, Polling};

/// A machine that keeps the times that its waiting threads measure.
///
/// The defaults are constants; [`Native`](crate::platform::Native) measures instead.
pub trait Estimates: Platform {
    /// How a waiter polls before it sleeps.
    #[inline]
    fn polling() -> Polling {
        Polling::default()
    }

    /// Records how long a wake took, in [`ticks`](Platform::ticks): from the call that woke the
    /// calling thread until it ran.
    #[inline]
    fn note_wake(_ticks: usize) {}

    /// Returns how long a wake takes, in [`ticks`](Platform::ticks): about the median of the
    /// recorded times, between 2 and 50 µs, and 20 µs at first.
    #[inline]
    fn wake_ticks() -> usize {
        Self::ticks_in(20_000)
    }

    /// Records how long a read-modify-write of a cache line took that another CPU had, in
    /// [`ticks`](Platform::ticks).
    #[inline]
    fn note_transfer(_ticks: usize) {}

    /// Returns how long a read-modify-write of a cache line takes that another CPU has, in
    /// [`ticks`](Platform::ticks): about the median of the recorded times, between 20 and 500 ns,
    /// and 100 ns at first.
    #[inline]
    fn transfer_ticks() -> usize {
        Self::ticks_in(100)
    }

    /// Returns the [`ticks`](Platform::ticks) at a moment when all earlier work of the caller has
    /// completed: for the end of a time of some nanoseconds.
    #[inline]
    fn ticks_ordered() -> u64 {
        Self::ticks()
    }
}

/// How a time is estimated that is measured over and over.
///
/// The estimate is about the median of the recorded times: each longer time lengthens the estimate
/// by a sixteenth, and each other time shortens it by as much. It can also be a lower quantile: if
/// longer times count `longer` times less, one in `longer` + 1 is shorter. So a time that is out of
/// all proportion, from a thread that lost its CPU during the measurement, counts like any other.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// The estimate while nothing has been recorded, in nanoseconds.
    pub start: u32,
    /// The lower bound of the estimate, in nanoseconds.
    pub least: u32,
    /// The upper bound of the estimate, in nanoseconds.
    pub most: u32,
    /// The factor by which a longer time counts less.
    pub longer: usize,
}

impl Estimate {
    /// From the call that wakes a thread until it runs. Wakes of 7 to 30 µs were measured.
    pub const WAKE: Self = Self { start: 20_000, least: 2_000, most: 50_000, longer: 1 };

    /// A read-modify-write of a cache line that another CPU had. Transfers of 25 to 300 ns were
    /// measured, and several times longer ones where more CPUs want the line. So the estimate is
    /// not the median: a fifth of the times are shorter.
    pub const TRANSFER: Self = Self { start: 50, least: 20, most: 500, longer: 4 };

    /// Returns the estimate, in ticks, after one more time was recorded. `ticks_in` converts
    /// nanoseconds to ticks.
    #[inline]
    pub fn noted(&self, estimate: usize, time: usize, ticks_in: impl Fn(u32) -> usize) -> usize {
        // At least a tick, for machines with long ticks.
        let least = ticks_in(self.least).max(1);
        let most = ticks_in(self.most).max(least);
        moved(estimate, time, self.longer).clamp(least, most)
    }
}

/// Returns the estimate, moved towards the time by at least a tick, for machines with long ticks.
fn moved(estimate: usize, time: usize, longer: usize) -> usize {
    if time > estimate {
        estimate + estimate / (16 * longer) + 1
    } else {
        estimate - (estimate / 16).max(1).min(estimate)
    }
}

/// Returns the running average of the cost of a heavy fence, in ticks, after one more fence;
/// `average` is 0 if there was none.
pub fn averaged_cost(average: usize, cost: usize) -> usize {
    /// One cost is this part of the average.
    const PART: usize = 8;
    if average == 0 {
        return cost.max(1);
    }
    // A caller that lost its CPU during the fence has measured that loss. A few times the average
    // is enough to follow a machine that has become slower.
    let cost = cost.min(4 * average);
    (average - average / PART + cost / PART).max(1)
}

/// The time between two permissions to rely on heavy fences, as a multiple of their cost. Where
/// threads park one after the other, a permission costs at most two heavy fences, a sixteenth of
/// the time of one thread. Threads that park together, before the first such fence is over, make
/// one each. Each running sibling pays less than the caller: 2 to 12 µs for the caller and up to 5
/// µs for a sibling were measured.
const RELAX_INTERVAL_COSTS: usize = 32;

/// The shortest time between two permissions, in nanoseconds: for machines with cheap heavy fences,
/// and while the cost is unknown.
const LEAST_RELAX_INTERVAL_NANOS: u32 = 20_000;

/// Returns the time between two permissions to [relax](super::Fences::may_relax) where a heavy
/// fence costs `cost`, in ticks.
pub fn relax_interval(cost: usize, ticks_in: impl Fn(u32) -> usize) -> usize {
    cost.saturating_mul(RELAX_INTERVAL_COSTS).max(ticks_in(LEAST_RELAX_INTERVAL_NANOS))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the estimate of a machine after these times.
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
        let ticks_in = |nanos: u32| nanos as usize * 3;
        let wake = Estimate::WAKE;
        let after =
            |time| (0..1_000).fold(60_000, |estimate, _| wake.noted(estimate, time, ticks_in));
        assert_eq!(after(usize::MAX), 150_000);
        assert_eq!(after(0), 6_000);
    }

    #[test]
    fn permissions_are_rarer_where_fences_are_dearer() {
        let interval = |cost| relax_interval(cost, |nanos| nanos as usize * 3);
        assert_eq!(interval(0), 60_000);
        assert_eq!(interval(1_000), 60_000);
        assert_eq!(interval(10_000), 320_000);
    }

    #[test]
    fn the_first_cost_is_the_average() {
        assert_eq!(averaged_cost(0, 5_000), 5_000);
        assert_eq!(averaged_cost(0, 0), 1);
    }

    #[test]
    fn the_average_follows_what_fences_cost() {
        let after =
            |average, cost, count| (0..count).fold(average, |sum, _| averaged_cost(sum, cost));
        assert!((9_900..=10_000).contains(&after(5_000, 10_000, 100)));
        assert!((5_000..5_100).contains(&after(10_000, 5_000, 100)));
        assert!((1..16).contains(&after(5_000, 0, 1_000)));
    }

    #[test]
    fn a_caller_that_lost_its_cpu_counts_for_a_few() {
        assert_eq!(averaged_cost(8_000, 8_000_000), 11_000);
    }
}
