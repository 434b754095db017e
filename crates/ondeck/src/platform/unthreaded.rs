//! WebAssembly without threads: no other thread can unlock, wake or notify, so a wait that would have no end is a
//! deadlock, and panics.
//!
//! A wait until a deadline is over at once: nothing can happen meanwhile, and time is what the
//! [counted clock](counted_clock) says it is. But locks also sleep in slices, at the ends of which they look whether
//! they were forgotten: of these each that is longer than the first few, and follows such a one, lasts twice as
//! long as the one before. So a wait that has a deadline comes to it, and one that has none comes to the end
//! of time, where it panics. A writer that waits for a reader of the same thread sleeps in short slices only, and
//! is not noticed: it waits for ever.

extern crate std;

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::system::System;
use super::{FutexWait, Native, Timestamp};

#[path = "counted_clock.rs"]
mod counted_clock;

/// Slices of locks begin with less.
const LONG_SLICE: u64 = 300_000_000;

/// How long the last long slice lasted, in nanoseconds; 0 if the last one was not long.
static LASTED: AtomicU64 = AtomicU64::new(0);

// SAFETY: there are no other threads, so that nothing here is between threads, and `single_threaded` is true. A
// deadlock ends the process, see `deadlock`.
unsafe impl System for Native {
    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        if word.load(Ordering::Relaxed) != expected {
            return FutexWait::Mismatch;
        }
        let Some(deadline) = deadline else { deadlock() };
        let now = Self::now();
        let asked = deadline.since(now).as_nanos() as u64;
        let before = LASTED.load(Ordering::Relaxed);
        let lasts = if asked < LONG_SLICE { 0 } else { asked.max(before.saturating_mul(2)) };
        LASTED.store(lasts, Ordering::Relaxed);
        let Some(end) = now.as_nanos().checked_add(lasts.max(asked)) else { deadlock() };
        counted_clock::has_come(Timestamp::from_nanos(end));
        FutexWait::TimedOut
    }

    fn futex_wake(_: *const AtomicU32, _: u32) -> usize {
        0
    }

    fn now() -> Timestamp {
        counted_clock::now()
    }

    fn cpus() -> usize {
        1
    }

    fn yield_now() {}

    #[inline(always)]
    fn single_threaded() -> bool {
        cfg!(not(ondeck_system = "unthreaded"))
    }
}

/// Panics, and does not unwind: nodes of the stack that would unwind are linked in the parking table.
#[cold]
fn deadlock() -> ! {
    struct Ends;
    impl Drop for Ends {
        fn drop(&mut self) {
            std::process::abort();
        }
    }
    let _ends = Ends;
    panic!(
        "deadlock: this thread waits for a lock or a notification, and there is no other thread that could \
         unlock or notify (WebAssembly without the feature `atomics`)"
    );
}
