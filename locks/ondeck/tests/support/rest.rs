//! Waits until all threads have left a bucket.

use ondeck::platform::{Host, Native};

/// Waits until the bucket of `place` is at rest: locks of other tests may use it for a moment. If a
/// test leaves something in it, this waits forever.
pub fn until_at_rest<T>(place: *const T) {
    while !Native::bucket(place.addr()).is_at_rest() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
