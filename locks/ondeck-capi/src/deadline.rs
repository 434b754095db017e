//! Deadlines as C passes them: points in time of two clocks.
//!
//! The parking table sleeps by one clock, `CLOCK_MONOTONIC` on Linux. A deadline by
//! `CLOCK_REALTIME` cannot be converted once and for all: the real time may be set while a thread
//! waits. So a wait by another clock is cut into parts of at most a second, and the clock is read
//! again after each part.

use core::ffi::c_int;
use core::time::Duration;

use ondeck::platform::{Native, Platform, Timestamp};
use ondeck::stats::LockKind;

use crate::names;
use crate::system::{self, Clock, NANOS_PER_SECOND};

/// The time within which a wait by another clock notices that the clock was set.
const PART: Duration = Duration::from_secs(1);

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// Of the parking table's clock.
    Table(Timestamp),
    /// Of the clock of that number, in nanoseconds.
    Other(c_int, u64),
}

/// Acquires something by `at_once`, or else by `until`, which gives up at the time that it is
/// given. Returns 0, ETIMEDOUT, or EINVAL as `ondeck_mutex_clocklock` does. Statistics count the
/// wait as one for the lock `of` that address and kind.
///
/// # Safety
///
/// `deadline` points to a time.
pub(crate) unsafe fn acquire(
    of: Option<(usize, LockKind)>,
    clock: c_int,
    deadline: *const libc::timespec,
    at_once: impl FnOnce() -> bool,
    mut until: impl FnMut(Timestamp) -> bool,
) -> c_int {
    if system::clock(clock).is_none() {
        return libc::EINVAL;
    }
    if at_once() {
        return 0;
    }
    // SAFETY: as the caller promises.
    let Some(deadline) = Deadline::new(clock, unsafe { &*deadline }) else { return libc::EINVAL };
    let mut block = || {
        loop {
            if until(deadline.next_look()) {
                return true;
            }
            if deadline.has_come() {
                return false;
            }
        }
    };
    let has = match of {
        Some(lock) => names::wait(lock, block),
        None => block(),
    };
    if has { 0 } else { libc::ETIMEDOUT }
}

impl Deadline {
    /// Returns the point `time` of the clock, or none if this system does not have the clock or the
    /// nanoseconds of `time` are not between 0 and 999,999,999.
    ///
    /// A time before the clock's epoch becomes the epoch, which has passed. A time centuries away
    /// is never reached.
    pub(crate) fn new(clock: c_int, time: &libc::timespec) -> Option<Self> {
        if !u64::try_from(time.tv_nsec).is_ok_and(|nanos| nanos < NANOS_PER_SECOND) {
            return None;
        }
        let nanos = system::nanos_of(time);
        system::clock(clock).map(|clock| match clock {
            Clock::Table => Self::Table(Timestamp::from_nanos(nanos)),
            Clock::Other(number) => Self::Other(number, nanos),
        })
    }

    /// Returns whether the point has passed.
    pub(crate) fn has_come(self) -> bool {
        match self {
            Self::Table(time) => Native::now() >= time,
            Self::Other(clock, nanos) => system::nanos(clock) >= nanos,
        }
    }

    /// Returns the time to sleep until before the clock is read again: the deadline itself if its
    /// clock cannot be set.
    pub(crate) fn next_look(self) -> Timestamp {
        match self {
            Self::Table(time) => time,
            Self::Other(clock, nanos) => {
                let left = Duration::from_nanos(nanos.saturating_sub(system::nanos(clock)));
                Native::now().after(left.min(PART))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: i64, nanos: i64) -> libc::timespec {
        libc::timespec { tv_sec: seconds, tv_nsec: nanos }
    }

    fn monotonic(nanos: u64) -> Deadline {
        Deadline::Table(Timestamp::from_nanos(nanos))
    }

    #[test]
    fn a_time_is_its_nanoseconds() {
        let new = |sec, nanos| Deadline::new(libc::CLOCK_MONOTONIC, &time(sec, nanos)).unwrap();
        assert_eq!(new(3, 7), monotonic(3_000_000_007));
        assert_eq!(new(0, 999_999_999), monotonic(999_999_999));
        assert_eq!(new(-5, 1), monotonic(0));
        assert_eq!(new(i64::MAX, 999_999_999), monotonic(u64::MAX));
        assert_eq!(
            Deadline::new(libc::CLOCK_REALTIME, &time(1, 2)),
            Some(Deadline::Other(libc::CLOCK_REALTIME, 1_000_000_002))
        );
    }

    #[test]
    fn other_clocks_and_other_nanoseconds_are_refused() {
        for nsec in [-1, NANOS_PER_SECOND.cast_signed(), i64::MIN, i64::MAX] {
            assert_eq!(Deadline::new(libc::CLOCK_REALTIME, &time(1, nsec)), None, "{nsec}");
        }
        for clock in [libc::CLOCK_PROCESS_CPUTIME_ID, libc::CLOCK_BOOTTIME, -1] {
            assert_eq!(Deadline::new(clock, &time(1, 0)), None, "{clock}");
            // SAFETY: it points to a time.
            let result = unsafe { acquire(None, clock, &time(1, 0), || true, |_| true) };
            assert_eq!(result, libc::EINVAL, "although it could be had at once");
        }
    }

    #[test]
    fn a_far_point_of_real_time_is_looked_at_within_a_second() {
        let far = Deadline::new(libc::CLOCK_REALTIME, &time(i64::MAX, 0)).unwrap();
        assert!(!far.has_come());
        let before = Native::now();
        let look = far.next_look();
        assert!(look > before && look <= Native::now().after(PART), "{look:?} after {before:?}");
    }

    #[test]
    fn a_near_point_of_real_time_is_looked_at_when_it_comes() {
        for after in [1, 999_999_999] {
            let [real, table] = [system::nanos(libc::CLOCK_REALTIME), Native::now().as_nanos()];
            let look = Deadline::Other(libc::CLOCK_REALTIME, real + after).next_look().as_nanos();
            // The clocks are read one after the other.
            let passed = system::nanos(libc::CLOCK_REALTIME) - real;
            let late = (Native::now().as_nanos() - table).max(passed);
            assert!(look + late >= table + after && look <= table + after + late, "{after}");
        }
    }

    #[test]
    fn what_has_passed_has_come() {
        for clock in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
            let past = Deadline::new(clock, &time(0, 1)).unwrap();
            assert!(past.has_come());
            assert!(past.next_look() <= Native::now());
        }
    }
}
