//! The fair mutex: exclusion, handoffs in order, deadlines, and the end of its memory.

use std::mem::ManuallyDrop;

use loom::cell::UnsafeCell;
use ondeck::fair::RawFairMutex;
use ondeck::parking;
use ondeck::platform::{Host, Platform, Timestamp};

use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{POLLS, SLEEPS, SOON, explore};

/// A mutex, and a cell that it guards.
struct Fair {
    // Dropped by hand: see `free`.
    mutex: ManuallyDrop<RawFairMutex<Loom>>,
    count: UnsafeCell<u32>,
}

// SAFETY: `count` is only touched under the lock; loom checks that this is true.
unsafe impl Sync for Fair {}

impl Fair {
    /// Never freed, so that an access after its end is noticed.
    fn new() -> &'static Self {
        let mutex = ManuallyDrop::new(RawFairMutex::new());
        let fair: &Self = Box::leak(Box::new(Self { mutex, count: UnsafeCell::new(0) }));
        let _ = Loom::bucket(fair.key());
        fair
    }

    fn key(&self) -> usize {
        std::ptr::from_ref::<RawFairMutex<Loom>>(&self.mutex).addr()
    }

    /// Counts, and unlocks; the caller owns the mutex. Returns what was counted before.
    fn end_section(&self) -> u32 {
        let before = self.count.with_mut(|count| {
            // SAFETY: the mutex guards it.
            unsafe {
                *count += 1;
                *count - 1
            }
        });
        // SAFETY: the caller owns it.
        unsafe { self.mutex.unlock() };
        before
    }

    fn section(&self) -> u32 {
        self.mutex.lock();
        self.end_section()
    }

    /// Returns whether it had a section.
    fn section_until(&self, deadline: Timestamp) -> bool {
        let owner = self.mutex.try_lock_until(deadline);
        if owner {
            self.end_section();
        }
        owner
    }

    /// As one of so many users; the last one frees the mutex at once.
    fn section_of(&self, users: u32) {
        if self.section() + 1 == users {
            self.free();
        }
    }

    /// From now on the mutex is gone: a later access is noticed.
    fn free(&self) {
        // SAFETY: no thread uses it any more, which is what is checked; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.mutex).cast_mut()) };
    }

    fn end(&self, sections: u32) {
        assert_eq!(self.section(), sections);
        assert!(!self.mutex.is_locked());
        self.free();
    }
}

#[test]
fn two_sections_each_of_two_threads() {
    explore(SLEEPS, 4, || {
        let fair = Fair::new();
        let other = spawn(|| {
            fair.section();
            fair.section();
        });
        fair.section();
        fair.section();
        join(other);
        fair.end(4);
    });
}

#[test]
fn a_section_each_of_three_threads() {
    explore(SLEEPS, 2, || {
        let fair = Fair::new();
        let others = [0; 2].map(|_| spawn(|| fair.section()));
        fair.section();
        let [..] = others.map(join);
        fair.end(3);
    });
}

#[test]
fn a_waiter_reads_its_node_before_it_sleeps() {
    explore(POLLS, 4, || {
        let fair = Fair::new();
        let other = spawn(|| fair.section());
        fair.section();
        join(other);
        fair.end(2);
    });
}

/// The thread that unlocks comes again, behind the one that waits.
#[test]
fn the_owner_does_not_come_before_the_thread_that_waits() {
    explore(SLEEPS, 3, || {
        let fair = Fair::new();
        fair.mutex.lock();
        let waiter = spawn(|| fair.section());
        while parking::waiting::<Loom>(fair.key()) == 0 {
            Loom::yield_now();
        }
        let first = fair.end_section();
        let third = fair.section();
        assert_eq!([first, join(waiter), third], [0, 1, 2]);
        fair.end(3);
    });
}

#[test]
fn the_last_of_two_frees_it() {
    explore(SLEEPS, 5, || {
        let fair = Fair::new();
        let other = spawn(|| fair.section_of(2));
        fair.section_of(2);
        join(other);
    });
}

#[test]
fn a_deadline_passes_at_any_time() {
    explore(SLEEPS, 4, || {
        let fair = Fair::new();
        fair.mutex.lock();
        let clock = spawn(|| pass_time(1));
        let waiter = spawn(|| fair.section_until(SOON));
        fair.end_section();
        let sections = 1 + u32::from(join(waiter));
        join(clock);
        fair.end(sections);
    });
}

#[test]
fn a_deadline_passes_beside_another_waiter() {
    explore(SLEEPS, 2, || {
        let fair = Fair::new();
        fair.mutex.lock();
        let hurried = spawn(|| fair.section_until(SOON));
        let patient = spawn(|| fair.section());
        pass_time(1);
        fair.end_section();
        join(patient);
        let sections = 2 + u32::from(join(hurried));
        fair.end(sections);
    });
}
