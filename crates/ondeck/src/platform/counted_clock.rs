//! A clock for machines that tell no time: it goes on with each look at it, and with each wait.
//!
//! So loops that look until some time has passed come to an end, and a wait that has ended by its deadline is
//! behind it.

use core::sync::atomic::{AtomicU64, Ordering};

use super::Timestamp;

/// In nanoseconds. Relaxed: it stands alone, and only grows.
static NOW: AtomicU64 = AtomicU64::new(0);

/// How much time a look takes. About what it does, and at least a tick.
const LOOK_NANOS: u64 = 64;

pub(super) fn now() -> Timestamp {
    Timestamp::from_nanos(NOW.fetch_add(LOOK_NANOS, Ordering::Relaxed))
}

/// A wait has lasted until then.
pub(super) fn has_come(then: Timestamp) {
    NOW.fetch_max(then.as_nanos(), Ordering::Relaxed);
}
