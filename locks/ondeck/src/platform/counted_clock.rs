//! A clock for machines without a clock: it advances with each reading, and with each wait.
//!
//! So loops that run until some time has passed come to an end, and after a wait that ended by its
//! deadline the clock is past that deadline.

use core::sync::atomic::{AtomicU64, Ordering};

use super::Timestamp;

/// In nanoseconds. Relaxed: it is independent of other data, and only grows.
static NOW: AtomicU64 = AtomicU64::new(0);

/// The time that a reading counts for: about its real time, and at least a tick.
const LOOK_NANOS: u64 = 64;

pub(super) fn now() -> Timestamp {
    Timestamp::from_nanos(NOW.fetch_add(LOOK_NANOS, Ordering::Relaxed))
}

/// Advances the clock to the end of a wait.
pub(super) fn has_come(then: Timestamp) {
    NOW.fetch_max(then.as_nanos(), Ordering::Relaxed);
}
