//! The fair mutex: exclusion, handoffs in order, deadlines, and the end of its memory.

use ondeck::fair::RawFairMutex;
use ondeck::parking;
use ondeck::platform::{Host, Platform, Timestamp};

use crate::guarded::Guarded;
use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{POLLS, SLEEPS, SOON, explore};

type Fair = Guarded<RawFairMutex<Loom>>;

impl Fair {
    fn new() -> &'static Self {
        let fair = Self::of(RawFairMutex::new());
        let _ = Loom::bucket(fair.address());
        fair
    }

    /// Counts, and unlocks; the caller owns the mutex. Returns what was counted before.
    fn end_section(&self) -> u32 {
        let before = self.count() - 1;
        // SAFETY: the caller owns it.
        unsafe { self.raw().unlock() };
        before
    }

    fn section(&self) -> u32 {
        self.raw().lock();
        self.end_section()
    }

    /// Returns whether it had a section.
    fn section_until(&self, deadline: Timestamp) -> bool {
        let owner = self.raw().try_lock_until(deadline);
        if owner {
            self.end_section();
        }
        owner
    }

    /// As one of so many users; the last one frees the mutex at once.
    fn section_of(&self, users: u32) {
        if self.section() + 1 == users {
            // SAFETY: no thread uses it any more, which is what is checked.
            unsafe { self.free() };
        }
    }

    fn end(&self, sections: u32) {
        assert_eq!(self.section(), sections);
        assert!(!self.raw().is_locked());
        // SAFETY: as above.
        unsafe { self.free() };
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
        fair.raw().lock();
        let waiter = spawn(|| fair.section());
        while parking::waiting::<Loom>(fair.address()) == 0 {
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
        fair.raw().lock();
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
        fair.raw().lock();
        let hurried = spawn(|| fair.section_until(SOON));
        let patient = spawn(|| fair.section());
        pass_time(1);
        fair.end_section();
        join(patient);
        let sections = 2 + u32::from(join(hurried));
        fair.end(sections);
    });
}
