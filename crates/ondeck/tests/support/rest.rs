//! Waits for a bucket that all have left.

use ondeck::platform::{Host, Linux};

/// Waits until the bucket of `key` is at rest: locks of other tests may be in it for a moment. Who
/// leaves something behind there makes this wait for ever.
pub fn until_at_rest(key: usize) {
    while !Linux::bucket(key).is_at_rest() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
