//! WebAssembly without threads: no other thread can unlock, wake or notify, so a wait without an
//! end is a deadlock, and panics.
//!
//! A wait until a deadline ends at once: nothing can happen during it, and the
//! [counted clock](counted_clock) decides the time. But locks also sleep in slices, and at the end
//! of each they check whether they were forgotten. A slice that is longer than the first few, and
//! follows another such slice, counts as twice as long as the one before. So a wait with a deadline
//! reaches it, and a wait without one reaches the end of time, where it panics. A writer that waits
//! for a reader on the same thread sleeps only in short slices, and is not detected: it waits for
//! ever.

extern crate std;

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::system::System;
use super::{FutexWait, Native, Timestamp};

#[path = "counted_clock.rs"]
mod counted_clock;

/// The first slices of locks are shorter than this.
const LONG_SLICE: u64 = 300_000_000;

/// The length of the last long slice, in nanoseconds; 0 if the last slice was not long.
static LASTED: AtomicU64 = AtomicU64::new(0);

// SAFETY: there is only one thread, so nothing here is shared between threads, and
// `single_threaded` is true. A deadlock ends the process, see `deadlock`.
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

/// Panics without unwinding: nodes on the unwinding stack are linked in the parking table.
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
