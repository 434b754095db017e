//! Waits until all threads have left a bucket.

use ondeck::platform::{Host, Native};

/// Waits until the bucket of `key` is at rest: locks of other tests may use it for a moment. If a test leaves
/// something behind in it, this waits for ever.
pub fn until_at_rest(key: usize) {
    while !Native::bucket(key).is_at_rest() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
