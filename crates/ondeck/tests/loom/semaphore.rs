//! The semaphore: permits are not lost and not doubled, the order, deadlines, and the end of its memory.

use std::mem::ManuallyDrop;

use loom::cell::UnsafeCell;
use ondeck::Semaphore;
use ondeck::parking;
use ondeck::platform::{Host, Platform};

use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{HANDED, POLLS, SLEEPS, SOON, explore};

/// Explores `scenario` with a semaphore whose threads compete, one whose waiting threads are all overdue, and a fair one.
fn explore_all(preemptions: usize, permits: u32, scenario: fn(&'static Shared)) {
    explore(SLEEPS, preemptions, move || scenario(Shared::new(permits)));
    explore(HANDED, preemptions, move || scenario(Shared::new(permits)));
    explore(SLEEPS, preemptions, move || scenario(Shared::fair(permits)));
}

/// A semaphore, and a cell that a thread with all of its permits may write.
struct Shared {
    // Dropped by hand: see `free`.
    semaphore: ManuallyDrop<Semaphore<Loom>>,
    value: UnsafeCell<u32>,
}

// SAFETY: `value` is written by a thread that has all permits; loom checks that.
unsafe impl Sync for Shared {}

impl Shared {
    fn new(permits: u32) -> &'static Self {
        Self::of(Semaphore::on_platform(permits))
    }

    fn fair(permits: u32) -> &'static Self {
        Self::of(Semaphore::fair_on_platform(permits))
    }

    /// Never freed, so that an access after its end is noticed.
    fn of(semaphore: Semaphore<Loom>) -> &'static Self {
        let semaphore = ManuallyDrop::new(semaphore);
        let shared: &Self = Box::leak(Box::new(Self { semaphore, value: UnsafeCell::new(0) }));
        let _ = Loom::bucket(shared.key());
        shared
    }

    fn key(&self) -> usize {
        (&raw const *self.semaphore).addr()
    }

    /// Writes, as a thread that no other is beside. Returns how often that was done before.
    fn write(&self) -> u32 {
        self.value.with_mut(|value| {
            // SAFETY: the caller has all permits.
            unsafe {
                *value += 1;
                *value - 1
            }
        })
    }

    /// Has all of the so many permits for a moment.
    fn section(&self, permits: u32) {
        self.semaphore.acquire_many(permits);
        self.write();
        self.semaphore.release(permits);
    }

    /// From now on the semaphore is gone: a later access is noticed.
    fn free(&self) {
        // SAFETY: no thread uses it any more, which is what is checked; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.semaphore).cast_mut()) };
    }

    fn end(&self, available: u32) {
        assert_eq!(self.semaphore.available(), available);
        self.free();
    }
}

#[test]
fn two_sections_each_of_two_threads() {
    explore_all(3, 1, |shared| {
        let other = spawn(|| (0..2).for_each(|_| shared.section(1)));
        (0..2).for_each(|_| shared.section(1));
        join(other);
        shared.end(1);
    });
}

#[test]
fn a_section_each_of_three_threads() {
    explore_all(2, 2, |shared| {
        let [first, second] = [0; 2].map(|_| spawn(|| shared.section(2)));
        shared.section(2);
        join(first);
        join(second);
        shared.end(2);
    });
}

#[test]
fn a_waiter_polls_before_it_sleeps() {
    let section_each = |shared: &'static Shared| {
        let other = spawn(|| shared.section(1));
        shared.section(1);
        join(other);
        shared.end(1);
    };
    explore(POLLS, 4, move || section_each(Shared::new(1)));
    explore(POLLS, 4, move || section_each(Shared::fair(1)));
}

/// What a thread did before a release is seen by a thread that is granted the permit by a later release of
/// another thread.
#[test]
fn a_grant_happens_after_all_releases_that_it_needed() {
    explore_all(3, 0, |shared| {
        let first = spawn(|| {
            shared.write();
            shared.semaphore.release(1);
        });
        let second = spawn(|| shared.semaphore.release(1));
        shared.semaphore.acquire_many(2);
        assert_eq!(shared.write(), 1);
        join(first);
        join(second);
        shared.end(0);
    });
}

/// A thread acquires by a load and a compare-exchange what was released beside a thread in the line.
#[test]
fn a_permit_that_is_too_little_for_a_waiter_is_anothers() {
    explore(SLEEPS, 2, || {
        let shared = Shared::new(0);
        let waiter = spawn(|| shared.semaphore.acquire_many(2));
        while parking::waiting::<Loom>(shared.key()) == 0 {
            Loom::yield_now();
        }
        let other = spawn(|| {
            shared.write();
            shared.semaphore.release(1);
        });
        while !shared.semaphore.try_acquire() {
            Loom::yield_now();
        }
        assert_eq!(shared.write(), 1);
        join(other);
        shared.semaphore.release(2);
        join(waiter);
        shared.end(0);
    });
}

/// The thread that was granted the permit frees the semaphore at once.
#[test]
fn a_granted_thread_frees_it() {
    explore_all(6, 0, |shared| {
        let other = spawn(|| shared.semaphore.release(1));
        shared.semaphore.acquire();
        shared.end(0);
        join(other);
    });
}

/// Two threads wait, both in the line if that is awaited, and two permits are released.
fn two_waiters(shared: &'static Shared, in_line: usize, releases: &[u32]) {
    let waiters = [0; 2].map(|_| spawn(|| shared.semaphore.acquire()));
    while parking::waiting::<Loom>(shared.key()) < in_line {
        Loom::yield_now();
    }
    for &permits in releases {
        shared.semaphore.release(permits);
    }
    waiters.into_iter().for_each(join);
    shared.end(0);
}

#[test]
fn two_waiters_and_one_release() {
    explore_all(2, 0, |shared| two_waiters(shared, 0, &[2]));
    explore_all(2, 0, |shared| two_waiters(shared, 2, &[2]));
}

#[test]
fn two_waiters_and_two_releases() {
    explore_all(2, 0, |shared| two_waiters(shared, 0, &[1, 1]));
    explore_all(2, 0, |shared| two_waiters(shared, 2, &[1, 1]));
}

#[test]
fn a_deadline_passes_at_any_time() {
    explore_all(4, 0, |shared| {
        let clock = spawn(|| pass_time(1));
        let waiter = spawn(|| shared.semaphore.try_acquire_by(SOON));
        shared.semaphore.release(1);
        let has_it = join(waiter);
        join(clock);
        shared.end(u32::from(!has_it));
    });
}

/// A thread whose deadline passes after it was woken leaves the permit to another in the line.
#[test]
fn a_thread_that_gives_up_takes_no_wake_along() {
    explore_all(2, 0, |shared| {
        let clock = spawn(|| pass_time(1));
        let hurried = spawn(|| shared.semaphore.try_acquire_by(SOON));
        let waiter = spawn(|| shared.semaphore.acquire());
        shared.semaphore.release(1);
        if join(hurried) {
            shared.semaphore.release(1);
        }
        join(waiter);
        join(clock);
        shared.end(0);
    });
}

/// The first wants two and gives up: the second has the one that there is, without a release.
#[test]
fn the_next_has_what_a_thread_that_gives_up_left() {
    explore_all(2, 1, |shared| {
        let hurried = spawn(|| shared.semaphore.try_acquire_many_by(2, SOON));
        while parking::waiting::<Loom>(shared.key()) == 0 {
            Loom::yield_now();
        }
        let clock = spawn(|| pass_time(1));
        shared.semaphore.acquire();
        join(clock);
        assert!(!join(hurried));
        shared.end(0);
    });
}
