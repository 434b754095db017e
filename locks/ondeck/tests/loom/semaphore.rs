//! The semaphore: permits are neither lost nor doubled, the order, deadlines, and the end of its
//! memory.

use ondeck::Semaphore;
use ondeck::platform::Platform;

use crate::guarded::Guarded;
use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::{LATE, POLLS, SLEEPS, SOON, explore};

/// Explores `scenario` with a semaphore whose threads compete, one whose waiting threads are all
/// overdue, and a fair one.
fn explore_all(preemptions: usize, permits: u32, scenario: fn(&'static Shared)) {
    explore(SLEEPS, preemptions, move || scenario(Shared::new(permits)));
    explore(LATE, preemptions, move || scenario(Shared::new(permits)));
    explore(SLEEPS, preemptions, move || scenario(Shared::fair(permits)));
}

/// A semaphore, and a cell that a thread with all of its permits may write.
type Shared = Guarded<Semaphore<Loom>>;

impl Shared {
    fn new(permits: u32) -> &'static Self {
        Self::of(Semaphore::on_platform(permits))
    }

    fn fair(permits: u32) -> &'static Self {
        Self::of(Semaphore::fair_on_platform(permits))
    }

    /// Holds all permits for a moment.
    fn section(&self, permits: u32) {
        self.raw().acquire_many(permits);
        self.count();
        self.raw().release(permits);
    }

    fn end(&self, available: u32) {
        assert_eq!(self.raw().available(), available);
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

/// A thread that is granted a permit by a later release of another thread sees the writes before
/// the first release.
#[test]
fn a_grant_happens_after_all_releases_that_it_needed() {
    explore_all(3, 0, |shared| {
        let first = spawn(|| {
            shared.count();
            shared.raw().release(1);
        });
        let second = spawn(|| shared.raw().release(1));
        shared.raw().acquire_many(2);
        assert_eq!(shared.count(), 2);
        join(first);
        join(second);
        shared.end(0);
    });
}

/// A thread acquires, by a load and a compare-exchange, a permit that was released while another
/// thread was in the queue.
#[test]
fn a_permit_that_is_too_little_for_a_waiter_is_anothers() {
    explore(SLEEPS, 2, || {
        let shared = Shared::new(0);
        let waiter = spawn(|| shared.raw().acquire_many(2));
        shared.until_waiting(1);
        let other = spawn(|| {
            shared.count();
            shared.raw().release(1);
        });
        while !shared.raw().try_acquire() {
            Loom::yield_now();
        }
        assert_eq!(shared.count(), 2);
        join(other);
        shared.raw().release(2);
        join(waiter);
        shared.end(0);
    });
}

/// The thread that was granted the permit frees the semaphore at once.
#[test]
fn a_granted_thread_frees_it() {
    explore_all(6, 0, |shared| {
        let other = spawn(|| shared.raw().release(1));
        shared.raw().acquire();
        shared.end(0);
        join(other);
    });
}

/// Two threads wait, both in the queue if the test waits for that, and two permits are released.
fn two_waiters(shared: &'static Shared, in_line: usize, releases: &[u32]) {
    let waiters = [0; 2].map(|_| spawn(|| shared.raw().acquire()));
    shared.until_waiting(in_line);
    for &permits in releases {
        shared.raw().release(permits);
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
        let waiter = spawn(|| shared.raw().try_acquire_by(SOON));
        shared.raw().release(1);
        let has_it = join(waiter);
        join(clock);
        shared.end(u32::from(!has_it));
    });
}

/// A thread whose deadline passes after it was woken leaves the permit to another one in the queue.
#[test]
fn a_thread_that_gives_up_takes_no_wake_along() {
    explore_all(2, 0, |shared| {
        let clock = spawn(|| pass_time(1));
        let hurried = spawn(|| shared.raw().try_acquire_by(SOON));
        let waiter = spawn(|| shared.raw().acquire());
        shared.raw().release(1);
        if join(hurried) {
            shared.raw().release(1);
        }
        join(waiter);
        join(clock);
        shared.end(0);
    });
}

/// The first thread wants two permits and gives up: the second acquires the only available one,
/// without a release.
#[test]
fn the_next_has_what_a_thread_that_gives_up_left() {
    explore_all(2, 1, |shared| {
        let hurried = spawn(|| shared.raw().try_acquire_many_by(2, SOON));
        shared.until_waiting(1);
        let clock = spawn(|| pass_time(1));
        shared.raw().acquire();
        join(clock);
        assert!(!join(hurried));
        shared.end(0);
    });
}
