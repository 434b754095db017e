//! Runs a test as the build has it: natively, under loom or under shuttle.

#[cfg(loom)]
pub use ondeck::loom::{model as explore, thread};

#[cfg(all(feature = "shuttle", not(loom)))]
pub use ondeck::shuttle::thread;
#[cfg(not(any(loom, feature = "shuttle")))]
pub use std::thread;

/// Runs the test under many random schedules.
#[cfg(all(feature = "shuttle", not(loom)))]
pub fn explore(test: impl Fn() + Send + Sync + 'static) {
    ondeck::shuttle::check_random(test, 1_000);
}

/// Runs the test a few times, or once under Miri, which has schedules of its own.
#[cfg(not(any(loom, feature = "shuttle")))]
pub fn explore(test: impl Fn() + Send + Sync + 'static) {
    for _ in 0..if cfg!(miri) { 1 } else { 20 } {
        test();
    }
}
