//! Points in time on a platform's monotonic clock.

use core::time::Duration;

/// A point in time: nanoseconds since some fixed moment of the platform's monotonic clock.
///
/// Wraps after 584 years. Only timestamps of one platform can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(u64);

impl Timestamp {
    /// Creates the point `nanos` nanoseconds after the clock's beginning.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Returns the nanoseconds since the clock's beginning.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the point `duration` later, or the end of time if that is earlier: a deadline that
    /// far away is never reached.
    ///
    /// ```
    /// # use {ondeck::platform::Timestamp, std::time::Duration};
    /// let start = Timestamp::from_nanos(5);
    /// assert_eq!(start.after(Duration::from_nanos(10)), Timestamp::from_nanos(15));
    /// assert_eq!(start.after(Duration::MAX), Timestamp::from_nanos(u64::MAX));
    /// ```
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(
            u64::try_from(duration.as_nanos())
                .map_or(u64::MAX, |nanos| self.0.saturating_add(nanos)),
        )
    }

    /// Returns how long after `earlier` this is; zero if it is not later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}
