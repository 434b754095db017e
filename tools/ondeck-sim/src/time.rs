//! Virtual time: picoseconds in 64 bits, which last for 200 days.

/// A moment since the machine started, or a duration, in picoseconds.
pub type Time = u64;

/// Later than anything.
pub const NEVER: Time = Time::MAX;

const PICOS: f64 = 1_000.0;

/// Converts nanoseconds.
#[must_use]
pub fn of_nanos(nanos: f64) -> Time {
    (nanos * PICOS).round() as Time
}

/// Converts to whole nanoseconds, rounding down.
#[must_use]
pub fn in_nanos(time: Time) -> u64 {
    time / PICOS as Time
}
