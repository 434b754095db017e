//! Whether an unpark had better hand its lock over.
//!
//! A lock that always lets an arriving thread have it starves the parked ones, and one that never does is slow.
//! parking_lot_core says `be_fair` about once in half a millisecond for each of its buckets; so does this.

use std::sync::atomic::{AtomicU64, Ordering};

use ondeck::parking::bucket_of;
use ondeck::platform::{Native, Platform};

const PLACES: usize = 64;

/// The longest time from one to the next, in nanoseconds; the mean is half of it.
const LONGEST: u64 = 1_000_000;

/// When it is time again, for the keys of a place.
static DUE: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];

/// Whether it is time to be fair to threads at `key`; if so, it is not for a while.
pub(crate) fn is_due(key: usize) -> bool {
    let due = &DUE[bucket_of(key) % PLACES];
    let now = Native::now().as_nanos();
    if now < due.load(Ordering::Relaxed) {
        return false;
    }
    // The clock's low bits are random enough, once they are spread.
    let random = now.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    due.store(now + random % LONGEST, Ordering::Relaxed);
    true
}
