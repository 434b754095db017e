//! Waits for other threads.

/// Waits until another thread has made the condition true.
pub fn until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}
