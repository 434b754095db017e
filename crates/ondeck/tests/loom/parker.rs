//! The parker: no token is lost, what was before it is seen, deadlines, and the end of its memory.

use std::mem::ManuallyDrop;

use loom::cell::UnsafeCell;
use ondeck::parker::RawParker;
use ondeck::platform::Timestamp;

use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{SLEEPS, SOON, explore};

/// A parker, and a cell for each thread that gives the token.
struct Shared {
    // Dropped by hand: see `free`.
    parker: ManuallyDrop<RawParker<Loom>>,
    values: [UnsafeCell<u32>; 2],
}

// SAFETY: `values` are written before the token is given and read after it is taken; loom checks that.
unsafe impl Sync for Shared {}

impl Shared {
    /// Never freed, so that an access after its end is noticed.
    fn new() -> &'static Self {
        let parker = ManuallyDrop::new(RawParker::new());
        let values = std::array::from_fn(|_| UnsafeCell::new(0));
        Box::leak(Box::new(Self { parker, values }))
    }

    fn give(&self, thread: usize) {
        self.values[thread].with_mut(|value| {
            // SAFETY: each thread has its own.
            unsafe { *value += 1 };
        });
        self.parker.unpark();
    }

    fn take(&self, deadline: Option<Timestamp>) -> bool {
        // SAFETY: the model's own thread, or one other, parks.
        unsafe { self.parker.park(deadline) }
    }

    fn check(&self, thread: usize) {
        // SAFETY: the token was taken.
        self.values[thread].with(|value| assert_eq!(unsafe { *value }, 1));
    }

    /// From now on the parker is gone: a later access is noticed.
    fn free(&self) {
        // SAFETY: no thread uses it any more, which is what is checked; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.parker).cast_mut()) };
    }
}

#[test]
fn the_thread_that_parks_frees_it() {
    explore(SLEEPS, 8, || {
        let shared = Shared::new();
        let other = spawn(|| shared.give(0));
        assert!(shared.take(None));
        shared.check(0);
        shared.free();
        join(other);
    });
}

/// Two threads give tokens. If two were taken, or if both were given before, both are seen.
#[test]
fn two_tokens_are_one_or_two() {
    explore(SLEEPS, 4, || {
        let shared = Shared::new();
        let others = [0, 1].map(|thread| spawn(move || shared.give(thread)));
        assert!(shared.take(None));
        for other in others {
            join(other);
        }
        let second = shared.take(Some(Timestamp::from_nanos(0)));
        shared.check(0);
        shared.check(1);
        assert!(!shared.take(Some(Timestamp::from_nanos(0))), "{second}: a third token");
        shared.free();
    });
}

#[test]
fn a_deadline_passes_at_any_time() {
    explore(SLEEPS, 6, || {
        let shared = Shared::new();
        let clock = spawn(|| pass_time(1));
        let other = spawn(|| shared.give(0));
        let in_time = shared.take(Some(SOON));
        if in_time {
            shared.check(0);
        }
        join(other);
        join(clock);
        assert_ne!(shared.take(Some(SOON)), in_time, "the token is taken once");
        shared.free();
    });
}
