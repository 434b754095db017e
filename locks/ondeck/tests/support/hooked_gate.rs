//! Gates at which a test stops a thread, and waits for another.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::until::{Turn, until, until_ended};

/// A place at which a thread that has called `stop_me` stops until it is released.
#[derive(Debug)]
pub struct Gate {
    reached: AtomicBool,
    open: AtomicBool,
}

std::thread_local! {
    /// The gate at which this thread will stop, and the remaining number of arrivals before that.
    static STOPS_AT: Cell<(*const Gate, u32)> = const { Cell::new((std::ptr::null(), 0)) };
}

impl Gate {
    pub const fn new() -> Self {
        Self { reached: AtomicBool::new(false), open: AtomicBool::new(false) }
    }

    /// Makes the calling thread stop here once.
    pub fn stop_me(&self) {
        self.stop_me_at(1);
    }

    /// Makes the calling thread stop here once, at its `time`th arrival.
    pub fn stop_me_at(&self, time: u32) {
        STOPS_AT.set((self, time));
    }

    /// Called when the thread reaches the place.
    pub fn pass(&self) {
        let (gate, time) = STOPS_AT.get();
        if !std::ptr::eq(gate, self) {
            return;
        }
        STOPS_AT.set((gate, time - 1));
        if time == 1 {
            STOPS_AT.set((std::ptr::null(), 0));
            self.reached.store(true, Ordering::Release);
            until_ended(
                || "the opening of its gate".to_owned(),
                || {
                    if self.open.load(Ordering::Acquire) {
                        return Turn::Ends(());
                    }
                    std::thread::yield_now();
                    Turn::Waits
                },
            );
            // The gate is ready for the next thread.
            self.reached.store(false, Ordering::Release);
            self.open.store(false, Ordering::Release);
        }
    }

    /// Returns whether the thread has reached the gate.
    pub fn is_reached(&self) -> bool {
        self.reached.load(Ordering::Acquire)
    }

    /// Waits until the thread has reached the gate.
    #[track_caller]
    pub fn until_reached(&self) {
        until(|| self.is_reached());
    }

    /// Releases the thread.
    pub fn open(&self) {
        self.open.store(true, Ordering::Release);
    }
}
