//! The barrier: rounds are apart, one leader each, deadlines, and the end of its memory.

use std::mem::ManuallyDrop;

use loom::cell::UnsafeCell;
use ondeck::Barrier;
use ondeck::parking;
use ondeck::platform::{Host, Platform};

use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{POLLS, SLEEPS, SOON, explore};

/// A barrier for two threads, and a cell that they write in turn, one a round.
struct Shared {
    // Dropped by hand: see `free`.
    barrier: ManuallyDrop<Barrier<Loom>>,
    value: UnsafeCell<u32>,
}

// SAFETY: `value` is written by one thread in each round; loom checks that.
unsafe impl Sync for Shared {}

impl Shared {
    /// Never freed, so that an access after its end is noticed.
    fn new(total: u32) -> &'static Self {
        let barrier = ManuallyDrop::new(Barrier::on_platform(total));
        let shared: &Self = Box::leak(Box::new(Self { barrier, value: UnsafeCell::new(0) }));
        let _ = Loom::bucket(shared.key());
        shared
    }

    fn key(&self) -> usize {
        (&raw const *self.barrier).addr()
    }

    fn write(&self) {
        self.value.with_mut(|value| {
            // SAFETY: the caller is alone in its round.
            unsafe { *value += 1 };
        });
    }

    /// Runs so many rounds, and writes in those whose number is even, or odd. Returns how often it was
    /// the leader.
    fn rounds(&self, count: u32, parity: u32) -> u32 {
        let leader = (0..count).map(|round| {
            if round % 2 == parity {
                self.write();
            }
            u32::from(self.barrier.wait().is_leader())
        });
        leader.sum()
    }

    /// From now on the barrier is gone: a later access is noticed.
    fn free(&self) {
        // SAFETY: no thread uses it any more, which is what is checked; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.barrier).cast_mut()) };
    }
}

fn two_rounds() {
    let shared = Shared::new(2);
    let other = spawn(|| shared.rounds(2, 0));
    let leads = shared.rounds(2, 1);
    assert_eq!(leads + join(other), 2, "each round has one leader");
    shared.write();
    shared.free();
}

#[test]
fn two_rounds_of_two_threads() {
    explore(SLEEPS, 5, two_rounds);
}

#[test]
fn a_thread_reads_its_node_before_it_sleeps() {
    explore(POLLS, 4, two_rounds);
}

#[test]
fn a_round_of_three_threads() {
    explore(SLEEPS, 2, || {
        let shared = Shared::new(3);
        let [first, second] = [0; 2].map(|_| spawn(|| shared.barrier.wait().is_leader()));
        let leads = [shared.barrier.wait().is_leader(), join(first), join(second)];
        assert_eq!(leads.iter().filter(|leads| **leads).count(), 1);
        shared.free();
    });
}

/// The thread whose wait returns first frees it.
#[test]
fn the_first_that_returns_frees_it() {
    explore(SLEEPS, 5, || {
        let shared = Shared::new(2);
        // Loom cannot run a thread that is not joined, so one frees it for certain, and the other is still
        // in its wait in some executions.
        let other = spawn(|| {
            shared.barrier.wait();
        });
        shared.barrier.wait();
        shared.free();
        join(other);
    });
}

#[test]
fn a_deadline_passes_at_any_time() {
    explore(SLEEPS, 2, || {
        let shared = Shared::new(2);
        let clock = spawn(|| pass_time(1));
        let hurried = spawn(|| shared.barrier.wait_by(SOON).is_some());
        while parking::waiting::<Loom>(shared.key()) == 0 && Loom::now() < SOON {
            Loom::yield_now();
        }
        let met = shared.barrier.wait_by(SOON).is_some();
        assert_eq!(join(hurried), met, "both have met, or none");
        join(clock);
        shared.free();
    });
}
