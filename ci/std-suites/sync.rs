//! What the standard library's tests find as `std::sync`: this project's locks, beside what is not
//! a lock.
//!
//! The locks without poison are the standard library's own. Their tests are not run.

pub use std::sync::{Arc, atomic, mpsc, nonpoison};

pub use ondeck::{LazyLock, Once, OnceLock, ReentrantMutex as ReentrantLock};
pub use poison::*;

pub mod poison {
    pub use ondeck::poison::*;
}

/// Here a number of threads is an `u32`.
pub struct Barrier(ondeck::Barrier);

impl Barrier {
    pub fn new(threads: usize) -> Self {
        Self(ondeck::Barrier::new(threads.try_into().unwrap()))
    }

    pub fn wait(&self) -> ondeck::BarrierWaitResult {
        self.0.wait()
    }
}
