//! Deadlines in the form of crate `ondeck`.

use std::time::{Duration, Instant};

use ondeck::platform::{Native, Platform, Timestamp};

/// Returns the moment after `timeout`, saturating at the end of time.
pub(crate) fn after(timeout: Duration) -> Timestamp {
    Native::now().after(timeout)
}

/// Converts an instant, never to an earlier moment.
pub(crate) fn at(instant: Instant) -> Timestamp {
    after(instant.saturating_duration_since(Instant::now()))
}
