//! Deadlines, as crate `ondeck` has them.

use std::time::{Duration, Instant};

use ondeck::platform::{Native, Platform, Timestamp};

/// The moment after `timeout`; the end of time if that is beyond it.
pub(crate) fn after(timeout: Duration) -> Timestamp {
    Native::now().after(timeout)
}

/// An instant; never earlier than it was meant.
pub(crate) fn at(instant: Instant) -> Timestamp {
    after(instant.saturating_duration_since(Instant::now()))
}
