//! The latch: all counts happen before a wait returns, deadlines, and the end of its memory.

use std::mem::ManuallyDrop;

use loom::cell::UnsafeCell;
use ondeck::Latch;
use ondeck::parking;
use ondeck::platform::{Host, Platform};

use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{POLLS, SLEEPS, SOON, explore};

/// A latch, and a cell for each thread that counts.
struct Shared {
    // Dropped by hand: see `free`.
    latch: ManuallyDrop<Latch<Loom>>,
    values: [UnsafeCell<u32>; 3],
}

// SAFETY: `values` are written before the counts and read after the wait; loom checks that.
unsafe impl Sync for Shared {}

impl Shared {
    /// Never freed, so that an access after its end is noticed.
    fn new(count: u32) -> &'static Self {
        let latch = ManuallyDrop::new(Latch::on_platform(count));
        let values = std::array::from_fn(|_| UnsafeCell::new(0));
        let shared: &Self = Box::leak(Box::new(Self { latch, values }));
        let _ = Loom::bucket((&raw const *shared.latch).addr());
        shared
    }

    fn write(&self, thread: usize) {
        self.values[thread].with_mut(|value| {
            // SAFETY: each thread has its own.
            unsafe { *value = 1 };
        });
    }

    fn count(&self, thread: usize) {
        self.write(thread);
        self.latch.count_down();
    }

    fn check(&self, threads: usize) {
        for value in &self.values[..threads] {
            // SAFETY: all counts are over.
            value.with(|value| assert_eq!(unsafe { *value }, 1));
        }
    }

    /// From now on the latch is gone: a later access is noticed.
    fn free(&self) {
        // SAFETY: no thread uses it any more, which is what is checked; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.latch).cast_mut()) };
    }
}

fn two_counts() {
    let shared = Shared::new(2);
    let others = [0, 1].map(|thread| spawn(move || shared.count(thread)));
    shared.latch.wait();
    shared.check(2);
    shared.free();
    for other in others {
        join(other);
    }
}

#[test]
fn a_waiter_of_two_counts_frees_it() {
    explore(SLEEPS, 3, two_counts);
}

#[test]
fn a_waiter_reads_its_node_before_it_sleeps() {
    explore(POLLS, 2, two_counts);
}

#[test]
fn a_waiter_of_one_count_frees_it() {
    explore(SLEEPS, 6, || {
        let shared = Shared::new(1);
        let other = spawn(|| shared.count(0));
        shared.latch.wait();
        shared.check(1);
        shared.free();
        join(other);
    });
}

/// Both count and wait; the first thread that returns may free it, and here the model's own does.
#[test]
fn two_arrive() {
    explore(SLEEPS, 5, || {
        let shared = Shared::new(2);
        let other = spawn(|| {
            shared.write(0);
            shared.latch.arrive_and_wait();
            shared.check(2);
        });
        shared.write(1);
        shared.latch.arrive_and_wait();
        shared.check(2);
        shared.free();
        join(other);
    });
}

impl Shared {
    fn arrive(&self, thread: usize) {
        self.write(thread);
        self.latch.arrive_and_wait();
    }

    /// Sees that it is open without a wait.
    fn until_open(&self, threads: usize) {
        while !self.latch.is_open() {
            Loom::yield_now();
        }
        self.check(threads);
    }
}

/// A thread waits, so that the last count is made under the bucket's lock. Another one finds the latch open.
#[test]
fn it_is_found_open_beside_a_waiter() {
    explore(SLEEPS, 3, || {
        let shared = Shared::new(1);
        let waiter = spawn(|| shared.latch.wait());
        while parking::waiting::<Loom>((&raw const *shared.latch).addr()) == 0 {
            Loom::yield_now();
        }
        let other = spawn(|| shared.count(0));
        shared.until_open(1);
        join(waiter);
        join(other);
        shared.free();
    });
}

#[test]
fn it_is_found_open_beside_threads_that_arrive() {
    explore(SLEEPS, 3, || {
        let shared = Shared::new(2);
        let others = [0, 1].map(|thread| spawn(move || shared.arrive(thread)));
        shared.until_open(2);
        others.into_iter().for_each(join);
        shared.free();
    });
}

/// The last thread that arrives tells the one before it, which has not seen the count between them.
#[test]
fn a_count_between_two_that_arrive() {
    explore(SLEEPS, 2, || {
        let shared = Shared::new(3);
        let other = spawn(|| {
            shared.arrive(0);
            shared.check(3);
        });
        let counts = spawn(|| shared.count(1));
        shared.arrive(2);
        shared.check(3);
        join(other);
        join(counts);
        shared.free();
    });
}

#[test]
fn a_deadline_passes_at_any_time() {
    explore(SLEEPS, 3, || {
        let shared = Shared::new(2);
        let clock = spawn(|| pass_time(1));
        let other = spawn(|| {
            if shared.latch.wait_by(SOON) {
                shared.check(2);
            }
        });
        shared.count(0);
        shared.count(1);
        join(other);
        join(clock);
        assert!(shared.latch.is_open());
        shared.free();
    });
}
