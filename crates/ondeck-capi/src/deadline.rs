//! Points in time as C gives them: of two clocks.
//!
//! The parking table sleeps until points of `CLOCK_MONOTONIC`. A point of `CLOCK_REALTIME` is not
//! one of those: the real time may be set while a thread waits. So a wait until a point of
//! `CLOCK_REALTIME` is cut into parts, each of which ends a second later at most, and the clock is
//! asked again after each.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::time::Duration;

use ondeck::platform::{Linux, Platform, Timestamp};

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// A wait until a point of real time notices a clock that was set after this long at most.
const PART: Duration = Duration::from_secs(1);

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// Of `CLOCK_MONOTONIC`.
    Monotonic(Timestamp),
    /// Of `CLOCK_REALTIME`: nanoseconds since 1970.
    Real(u64),
}

/// Whether there is such a clock here: `CLOCK_REALTIME` or `CLOCK_MONOTONIC`.
pub(crate) fn is_clock(clock: c_int) -> bool {
    matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC)
}

impl Deadline {
    /// The point `time` of the clock; none if there is no such clock here, or no such time:
    /// nanoseconds are between 0 and 999,999,999.
    ///
    /// A time before the clock's beginning is its beginning, which has passed. One that is
    /// centuries away is never reached.
    pub(crate) fn new(clock: c_int, time: &libc::timespec) -> Option<Self> {
        if !(0..NANOS_PER_SECOND).contains(&time.tv_nsec) {
            return None;
        }
        let nanos = if time.tv_sec < 0 { 0 } else { nanos(time) };
        match clock {
            libc::CLOCK_MONOTONIC => Some(Self::Monotonic(Timestamp::from_nanos(nanos))),
            libc::CLOCK_REALTIME => Some(Self::Real(nanos)),
            _ => None,
        }
    }

    /// Whether it has come.
    pub(crate) fn has_come(self) -> bool {
        match self {
            Self::Monotonic(time) => Linux::now() >= time,
            Self::Real(nanos) => real_now() >= nanos,
        }
    }

    /// Until when to sleep before its clock is asked again: until the deadline itself, if its clock
    /// cannot be set.
    pub(crate) fn next_look(self) -> Timestamp {
        match self {
            Self::Monotonic(time) => time,
            Self::Real(nanos) => {
                let left = Duration::from_nanos(nanos.saturating_sub(real_now()));
                Linux::now().after(left.min(PART))
            }
        }
    }
}

fn real_now() -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: clock_gettime writes the timespec that it is given.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, time.as_mut_ptr()) } != 0;
    // A clock that cannot be read is at its end, so that no thread waits for ever for it.
    // SAFETY: clock_gettime returned 0, so it has written the timespec.
    if failed { u64::MAX } else { nanos(&unsafe { time.assume_init() }) }
}

/// Saturating, of a time that is not negative.
fn nanos(time: &libc::timespec) -> u64 {
    let seconds = time.tv_sec.cast_unsigned().saturating_mul(NANOS_PER_SECOND.cast_unsigned());
    seconds.saturating_add(time.tv_nsec.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(seconds: i64, nanos: i64) -> libc::timespec {
        libc::timespec { tv_sec: seconds, tv_nsec: nanos }
    }

    fn monotonic(nanos: u64) -> Deadline {
        Deadline::Monotonic(Timestamp::from_nanos(nanos))
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
            Some(Deadline::Real(1_000_000_002))
        );
    }

    #[test]
    fn other_clocks_and_other_nanoseconds_are_refused() {
        for nsec in [-1, NANOS_PER_SECOND, i64::MIN, i64::MAX] {
            assert_eq!(Deadline::new(libc::CLOCK_REALTIME, &time(1, nsec)), None, "{nsec}");
        }
        for clock in [libc::CLOCK_PROCESS_CPUTIME_ID, libc::CLOCK_BOOTTIME, -1] {
            assert_eq!(Deadline::new(clock, &time(1, 0)), None, "{clock}");
            assert!(!is_clock(clock));
        }
    }

    #[test]
    fn a_far_point_of_real_time_is_looked_at_within_a_second() {
        let far = Deadline::new(libc::CLOCK_REALTIME, &time(i64::MAX, 0)).unwrap();
        assert!(!far.has_come());
        let before = Linux::now();
        let look = far.next_look();
        assert!(look > before && look <= Linux::now().after(PART), "{look:?} after {before:?}");
    }

    #[test]
    fn what_has_passed_has_come() {
        for clock in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
            let past = Deadline::new(clock, &time(0, 1)).unwrap();
            assert!(past.has_come());
            assert!(past.next_look() <= Linux::now());
        }
    }
}
