//! Where a test stops a thread, and waits for another.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A place at which a thread that has called `stop_me` stops until it is let go.
#[derive(Debug)]
pub struct Gate {
    reached: AtomicBool,
    open: AtomicBool,
}

std::thread_local! {
    /// The gate at which this thread will stop.
    static STOPS_AT: Cell<*const Gate> = const { Cell::new(std::ptr::null()) };
}

impl Gate {
    pub const fn new() -> Self {
        Self { reached: AtomicBool::new(false), open: AtomicBool::new(false) }
    }

    /// The calling thread will stop here once.
    pub fn stop_me(&self) {
        STOPS_AT.set(self);
    }

    /// The calling thread has come to the place.
    pub fn pass(&self) {
        if std::ptr::eq(STOPS_AT.get(), self) {
            STOPS_AT.set(std::ptr::null());
            self.reached.store(true, Ordering::Release);
            until(|| self.open.load(Ordering::Acquire));
            // The gate is ready for the next thread.
            self.reached.store(false, Ordering::Release);
            self.open.store(false, Ordering::Release);
        }
    }

    /// Whether the thread has come to the gate.
    pub fn is_reached(&self) -> bool {
        self.reached.load(Ordering::Acquire)
    }

    /// Waits until the thread has come to the gate.
    pub fn until_reached(&self) {
        until(|| self.is_reached());
    }

    /// Lets the thread go.
    pub fn open(&self) {
        self.open.store(true, Ordering::Release);
    }
}

/// Waits until another thread has made the condition true.
pub fn until(mut condition: impl FnMut() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}
