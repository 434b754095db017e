//! The latch: all counts happen before a wait returns, deadlines, and the end of its memory.

use ondeck::Latch;
use ondeck::platform::Platform;

use crate::guarded::{Guarded, awaited_beside_a_deadline, freed_by_a_waiter, two_wait};
use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{POLLS, SLEEPS, SOON, explored};

/// A latch, and a cell for each thread that counts.
type Shared = Guarded<Latch<Loom>, 3>;

impl Shared {
    fn new(count: u32) -> &'static Self {
        Self::of(Latch::on_platform(count))
    }

    fn count_down(&self, thread: usize) {
        self.count_in(thread);
        self.raw().count_down();
    }

    fn arrive(&self, thread: usize) {
        self.count_in(thread);
        self.raw().arrive_and_wait();
    }

    /// Checks that the writes of this number of threads before their counts are seen.
    fn check(&self, threads: usize) {
        assert!((0..threads).all(|thread| self.counted_in(thread) == 1));
    }

    /// Checks that it is open, without a wait.
    fn until_open(&self, threads: usize) {
        while !self.raw().is_open() {
            Loom::yield_now();
        }
        self.check(threads);
    }
}

fn two_counts() {
    let shared = Shared::new(2);
    let others = [0, 1].map(|thread| spawn(move || shared.count_down(thread)));
    shared.raw().wait();
    shared.check(2);
    shared.free();
    others.into_iter().for_each(join);
}

fn two_arrivals() {
    let shared = Shared::new(2);
    let other = spawn(|| {
        shared.arrive(0);
        shared.check(2);
    });
    shared.arrive(1);
    shared.check(2);
    shared.free();
    join(other);
}

fn open_beside_a_waiter() {
    let shared = Shared::new(1);
    let waiter = spawn(|| shared.raw().wait());
    shared.until_waiting(1);
    let other = spawn(|| shared.count_down(0));
    shared.until_open(1);
    join(waiter);
    join(other);
    shared.free();
}

fn open_beside_arrivals() {
    let shared = Shared::new(2);
    let others = [0, 1].map(|thread| spawn(move || shared.arrive(thread)));
    shared.until_open(2);
    others.into_iter().for_each(join);
    shared.free();
}

fn count_between_arrivals() {
    let shared = Shared::new(3);
    let other = spawn(|| {
        shared.arrive(0);
        shared.check(3);
    });
    let counts = spawn(|| shared.count_down(1));
    shared.arrive(2);
    shared.check(3);
    join(other);
    join(counts);
    shared.free();
}

fn deadline() {
    let shared = Shared::new(2);
    let clock = spawn(|| pass_time(1));
    let other = spawn(|| {
        if shared.raw().wait_by(SOON) {
            shared.check(2);
        }
    });
    shared.count_down(0);
    shared.count_down(1);
    join(other);
    join(clock);
    assert!(shared.raw().is_open());
    shared.free();
}

explored! {
    fn a_waiter_of_two_counts_frees_it on SLEEPS, 3 => two_counts;
    fn a_waiter_reads_its_node_before_it_sleeps on POLLS, 2 => two_counts;
    fn a_waiter_of_one_count_frees_it on SLEEPS, 6 => || freed_by_a_waiter(Latch::on_platform(1));
    /// Both threads count and wait. The first thread that returns may free the latch, and here the
    /// model's own thread does.
    fn two_arrive on SLEEPS, 5 => two_arrivals;
    /// A thread waits, so the last count is made under the bucket's lock. Another thread finds the
    /// latch open.
    fn it_is_found_open_beside_a_waiter on SLEEPS, 3 => open_beside_a_waiter;
    fn it_is_found_open_beside_threads_that_arrive on SLEEPS, 3 => open_beside_arrivals;
    /// The last arriving thread wakes the previous one, which has not seen the count between them.
    fn a_count_between_two_that_arrive on SLEEPS, 2 => count_between_arrivals;
    fn a_deadline_passes_at_any_time on SLEEPS, 3 => deadline;
    fn two_threads_wait on SLEEPS, 2 => || two_wait(Latch::on_platform(1));
    fn a_deadline_passes_beside_another_waiter on SLEEPS, 2 =>
        || awaited_beside_a_deadline(Latch::on_platform(1));
}
