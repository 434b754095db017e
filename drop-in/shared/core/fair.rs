//! Decides whether an unpark should hand its lock over.
//!
//! A lock that arriving threads can always take starves the parked ones, and a lock that they can
//! never take is slow. parking_lot_core sets `be_fair` about once in half a millisecond for each of
//! its buckets, and so does this module.

use std::sync::atomic::{AtomicU64, Ordering};

use ondeck::parking::bucket_of;
use ondeck::platform::{Native, Platform};

const PLACES: usize = 64;

/// The longest time between two fair unparks, in nanoseconds; the mean is half of it.
const LONGEST: u64 = 1_000_000;

/// The time of the next fair unpark, for the keys of a place.
static DUE: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];

/// Returns whether it is time to be fair to threads at `key`. If so, the next time is some time
/// later.
pub(crate) fn is_due(key: usize) -> bool {
    let due = &DUE[bucket_of(key) % PLACES];
    let now = Native::now().as_nanos();
    if now < due.load(Ordering::Relaxed) {
        return false;
    }
    // The clock's low bits are random enough after mixing.
    let random = now.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    due.store(now + random % LONGEST, Ordering::Relaxed);
    true
}
