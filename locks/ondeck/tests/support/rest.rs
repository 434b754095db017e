//! Waits until all threads have left a bucket.

use ondeck::platform::{Host, Native};

/// Waits until the buckets of all addresses within the lock are at rest: locks of other tests may
/// use them for a moment. If a test leaves something in one, this waits forever.
pub fn until_at_rest<T>(lock: *const T) {
    for address in lock.addr()..lock.addr() + size_of::<T>() {
        while !Native::bucket(address).is_at_rest() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}
