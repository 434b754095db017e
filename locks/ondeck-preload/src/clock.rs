//! Deadlines: points in time on one of the two clocks that the functions accept.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::time::Duration;

use libc::timespec;
use ondeck::platform::{Linux, Platform, Timestamp};

use crate::errno::EINVAL;

/// A deadline in the caller's form.
#[derive(Clone, Copy)]
pub(crate) struct Deadline {
    clock: c_int,
    time: timespec,
}

impl Deadline {
    /// # Errors
    ///
    /// `EINVAL` if the nanoseconds are out of range.
    pub(crate) fn new(clock: c_int, time: timespec) -> Result<Self, c_int> {
        if (0..1_000_000_000).contains(&time.tv_nsec) {
            Ok(Self { clock, time })
        } else {
            Err(EINVAL)
        }
    }

    /// Returns the time to wait until, on the clock of waits: the deadline, or an earlier moment at
    /// which to check again, because `CLOCK_REALTIME` may have been set during the wait. None if
    /// the deadline has passed.
    pub(crate) fn until(self) -> Option<Timestamp> {
        /// The largest delay with which a wait with a deadline in real time ends after its clock
        /// was set forward.
        const LONGEST: Duration = Duration::from_secs(1);
        let left = self.left()?;
        let left = if self.clock == libc::CLOCK_REALTIME { left.min(LONGEST) } else { left };
        Some(Linux::now().after(left))
    }

    /// Returns the deadline in the form that waits take; none if it is on a clock that can be set.
    pub(crate) fn on_clock_of_waits(self) -> Option<Timestamp> {
        // A time before the clock's epoch has passed.
        let seconds = u64::try_from(self.time.tv_sec).unwrap_or(0);
        let nanos =
            seconds.saturating_mul(1_000_000_000).saturating_add(self.time.tv_nsec.cast_unsigned());
        (self.clock == libc::CLOCK_MONOTONIC).then_some(Timestamp::from_nanos(nanos))
    }

    /// Returns the time until the deadline; none if it has passed.
    fn left(self) -> Option<Duration> {
        let now = now(self.clock);
        let mut seconds = self.time.tv_sec.saturating_sub(now.tv_sec);
        let mut nanos = self.time.tv_nsec - now.tv_nsec;
        if nanos < 0 {
            seconds = seconds.saturating_sub(1);
            nanos += 1_000_000_000;
        }
        let seconds = u64::try_from(seconds).ok()?;
        // The nanoseconds are between 0 and a second: `new` has checked them.
        let left = Duration::new(seconds, nanos as u32);
        (!left.is_zero()).then_some(left)
    }
}

/// Returns whether the functions accept a clock.
pub(crate) fn is_known(clock: c_int) -> bool {
    clock == libc::CLOCK_REALTIME || clock == libc::CLOCK_MONOTONIC
}

/// Converts a moment of the clock of waits to the kernel's form.
pub(crate) fn timespec_of(moment: Timestamp) -> timespec {
    let nanos = moment.as_nanos();
    timespec {
        tv_sec: (nanos / 1_000_000_000).cast_signed(),
        tv_nsec: (nanos % 1_000_000_000).cast_signed(),
    }
}

fn now(clock: c_int) -> timespec {
    let mut time = MaybeUninit::uninit();
    // SAFETY: the C library writes the time of a clock that every kernel has to `now`.
    unsafe {
        libc::clock_gettime(clock, time.as_mut_ptr());
        time.assume_init()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadline(clock: c_int, seconds: i64, nanos: i64) -> Result<Deadline, c_int> {
        Deadline::new(clock, timespec { tv_sec: seconds, tv_nsec: nanos })
    }

    #[test]
    fn nanoseconds_are_of_one_second() {
        for nanos in [-1, 1_000_000_000, i64::MIN, i64::MAX] {
            assert_eq!(deadline(libc::CLOCK_REALTIME, 1, nanos).err(), Some(EINVAL));
        }
        assert!(deadline(libc::CLOCK_REALTIME, 1, 999_999_999).is_ok());
    }

    #[test]
    fn what_has_passed_is_not_waited_for() {
        for seconds in [i64::MIN, -1, 0] {
            let real = deadline(libc::CLOCK_REALTIME, seconds, 0).unwrap();
            assert_eq!(real.until(), None);
            let monotonic = deadline(libc::CLOCK_MONOTONIC, seconds, 0).unwrap();
            assert_eq!(monotonic.on_clock_of_waits(), Some(Timestamp::from_nanos(0)));
        }
    }

    /// Also across the boundary of a second, on either side.
    #[test]
    fn what_is_left_is_the_difference_of_two_moments() {
        let nanos = |time: timespec| {
            Duration::new(
                time.tv_sec.cast_unsigned(),
                time.tv_nsec.try_into().expect("of a second"),
            )
        };
        for clock in [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC] {
            for after in [1, 400_000_000, 600_000_000, 999_999_999, 1_000_000_000, 59_999_999_999] {
                let before = nanos(now(clock));
                let end = before + Duration::from_nanos(after) + Duration::from_millis(1);
                let deadline =
                    deadline(clock, end.as_secs().cast_signed(), end.subsec_nanos().into());
                let left = deadline.unwrap().left().unwrap_or_default();
                let least = end.saturating_sub(nanos(now(clock)));
                assert!(
                    (least..=end.saturating_sub(before)).contains(&left),
                    "{left:?} of {after} ns"
                );
            }
        }
    }

    #[test]
    fn real_time_is_asked_again() {
        let never = deadline(libc::CLOCK_REALTIME, i64::MAX, 999_999_999).unwrap();
        assert_eq!(never.on_clock_of_waits(), None);
        let before = Linux::now();
        let until = never.until().unwrap();
        assert!(until <= Linux::now().after(Duration::from_secs(1)) && until > before);
        let never = deadline(libc::CLOCK_MONOTONIC, i64::MAX, 999_999_999).unwrap();
        assert_eq!(never.on_clock_of_waits(), Some(Timestamp::from_nanos(u64::MAX)));
    }
}
