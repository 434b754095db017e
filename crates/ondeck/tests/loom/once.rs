//! The once: one closure runs, and every call returns after it; panics; the end of its memory.

use std::mem::ManuallyDrop;

use loom::cell::UnsafeCell;
use ondeck::Once;
use ondeck::once::OnceState;
use ondeck::platform::Host;

use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{POLLS, SLEEPS, SOON, explore};

/// A once, and a cell that its closure writes.
struct Shared {
    // Dropped by hand: see `free`.
    once: ManuallyDrop<Once<Loom>>,
    value: UnsafeCell<u32>,
}

// SAFETY: `value` is written by the closure that runs and read after the end; loom checks that.
unsafe impl Sync for Shared {}

impl Shared {
    /// Never freed, so that an access after its end is noticed.
    fn new() -> &'static Self {
        let once = ManuallyDrop::new(Once::on_platform());
        let shared: &Self = Box::leak(Box::new(Self { once, value: UnsafeCell::new(0) }));
        let _ = Loom::bucket((&raw const *shared.once).addr());
        shared
    }

    fn run(&self) {
        self.value.with_mut(|value| {
            // SAFETY: one closure runs, before all reads.
            unsafe { *value += 1 };
        });
    }

    fn check(&self) {
        // SAFETY: it is done.
        self.value.with(|value| assert_eq!(unsafe { *value }, 1, "one closure ran"));
    }

    fn call(&self) {
        self.once.call_once(|| self.run());
        self.check();
    }

    /// From now on the once is gone: a later access is noticed.
    fn free(&self) {
        // SAFETY: no thread uses it any more, which is what is checked; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.once).cast_mut()) };
    }
}

#[test]
fn two_threads_call() {
    explore(SLEEPS, 5, || {
        let shared = Shared::new();
        let other = spawn(|| shared.call());
        shared.call();
        join(other);
        assert_eq!(shared.once.state(), OnceState::Done);
        shared.free();
    });
}

#[test]
fn three_threads_call() {
    explore(SLEEPS, 2, || {
        let shared = Shared::new();
        let [first, second] = [0; 2].map(|_| spawn(|| shared.call()));
        shared.call();
        join(first);
        join(second);
        shared.free();
    });
}

#[test]
fn a_caller_reads_its_node_before_it_sleeps() {
    explore(POLLS, 4, || {
        let shared = Shared::new();
        let other = spawn(|| shared.call());
        shared.call();
        join(other);
        shared.free();
    });
}

/// The thread that finds it done frees it, while the other may still be at its end.
#[test]
fn a_waiter_frees_it() {
    explore(SLEEPS, 5, || {
        let shared = Shared::new();
        let other = spawn(|| shared.once.call_once(|| shared.run()));
        shared.once.wait();
        shared.check();
        shared.free();
        join(other);
    });
}

#[test]
fn a_deadline_passes_at_any_time() {
    explore(SLEEPS, 4, || {
        let shared = Shared::new();
        let clock = spawn(|| pass_time(1));
        let other = spawn(|| {
            if shared.once.wait_by(SOON) {
                shared.check();
            }
        });
        shared.call();
        join(other);
        join(clock);
        shared.free();
    });
}
