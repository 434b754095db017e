//! Spinning before a thread parks.

use std::hint::spin_loop;
use std::thread;

/// The number of times that [`SpinWait::spin`] returns true.
const MOST: u32 = 10;
/// The number of those calls that do not yield the CPU.
const SHORT: u32 = 3;

/// A pause that becomes longer, then yields the CPU, and then suggests parking.
#[derive(Debug, Default)]
pub struct SpinWait {
    count: u32,
}

impl SpinWait {
    /// Creates one that has not paused yet.
    #[inline]
    pub const fn new() -> Self {
        Self { count: 0 }
    }

    /// Starts over.
    #[inline]
    pub const fn reset(&mut self) {
        self.count = 0;
    }

    /// Pauses, or yields the CPU. Returns false if the thread should park.
    #[inline]
    pub fn spin(&mut self) -> bool {
        if self.count >= MOST {
            return false;
        }
        self.count += 1;
        if self.count <= SHORT {
            self.pause();
        } else {
            thread::yield_now();
        }
        true
    }

    /// Pauses, each time for longer, and never yields the CPU.
    #[inline]
    pub fn spin_no_yield(&mut self) {
        self.count = (self.count + 1).min(MOST);
        self.pause();
    }

    fn pause(&self) {
        for _ in 0..1_u32 << self.count {
            spin_loop();
        }
    }
}
