//! The biased mutex: exclusion beside the owner, revocations, wakes of the owner's unlock, and its memory.

use ondeck::biased::{Held, RawBiasedMutex};
use ondeck::platform::Host;

use crate::guarded::Guarded;
use crate::loom_platform::{Fences, Loom, Setting, join, pass_time, spawn};
use crate::scenario::{SLEEPS, SOON, explore, until_asleep};

/// The machine whose threads have rows. Both halves of a pair of fences are full.
const ROWS: Setting = Setting { biased: true, ..SLEEPS };
/// The same; the light half is nothing.
const ASYMMETRIC: Setting = Setting { fences: Fences::Asymmetric, ..ROWS };

type Mutex = Guarded<RawBiasedMutex<Loom>>;

impl Mutex {
    fn new() -> &'static Self {
        let guarded = Self::of(RawBiasedMutex::new());
        let _ = Loom::bucket(guarded.address());
        guarded
    }

    /// One that is biased to the calling thread, because one acquisition is a run on this machine.
    fn biased() -> &'static Self {
        let guarded = Self::new();
        guarded.section();
        assert!(guarded.raw().is_biased());
        guarded
    }

    /// Counts, and unlocks. Returns what was counted before.
    fn end_section(&self, held: Held<Loom>) -> u32 {
        let before = self.count() - 1;
        // SAFETY: it is what the acquisition returned.
        unsafe { self.raw().unlock(held) };
        before
    }

    fn section(&self) -> u32 {
        let held = self.raw().lock();
        self.end_section(held)
    }

    /// A section if the lock is to be had at once; returns how many there were.
    fn attempt(&self) -> u32 {
        self.raw().try_lock().map_or(0, |held| {
            self.end_section(held);
            1
        })
    }

    /// A section until a moment that comes; returns how many there were.
    fn section_until(&self) -> u32 {
        self.raw().try_lock_until(SOON).map_or(0, |held| {
            self.end_section(held);
            1
        })
    }

    /// As one of so many users; the last one frees the mutex at once.
    fn section_of(&self, users: u32) {
        if self.section() + 1 == users {
            // SAFETY: no thread uses it any more, which is what is checked.
            unsafe { self.free() };
        }
    }

    fn end(&self, sections: u32) {
        assert!(!self.raw().is_locked(), "no thread is inside");
        assert_eq!(self.section(), sections);
        // SAFETY: as above.
        unsafe { self.free() };
    }
}

fn owner_and_another(setting: Setting, preemptions: usize) {
    explore(setting, preemptions, || {
        let guarded = Mutex::biased();
        let other = spawn(|| guarded.section());
        guarded.section();
        join(other);
        guarded.end(3);
    });
}

#[test]
fn the_owner_and_another_thread() {
    owner_and_another(ROWS, 4);
}

#[test]
fn the_owner_and_another_thread_with_asymmetric_fences() {
    owner_and_another(ASYMMETRIC, 3);
}

/// The bias is revoked, and the lock biased to the other thread, whose own sections the first revokes.
#[test]
fn two_threads_that_become_the_owner_in_turn() {
    explore(ASYMMETRIC, 2, || {
        let guarded = Mutex::biased();
        let other = spawn(|| {
            guarded.section();
            guarded.section();
        });
        guarded.section();
        guarded.section();
        join(other);
        guarded.end(5);
    });
}

/// The owner comes late to find its bias gone, and empties its slot while another owner is inside.
#[test]
fn a_late_owner_and_the_next_one_and_a_third_thread() {
    explore(ROWS, 3, || {
        let guarded = Mutex::biased();
        let others = [0; 2].map(|_| spawn(|| guarded.section()));
        guarded.section();
        let [..] = others.map(join);
        guarded.end(4);
    });
}

/// Another thread sleeps until the owner has left: only the unlock can wake it.
#[test]
fn the_owner_wakes_the_thread_that_waits_for_it() {
    explore(ASYMMETRIC, 4, || {
        let guarded = Mutex::biased();
        let held = guarded.raw().lock();
        assert!(held.is_by_bias());
        let other = spawn(|| guarded.section());
        guarded.end_section(held);
        join(other);
        guarded.end(3);
    });
}

#[test]
fn an_attempt_beside_the_owner() {
    explore(ROWS, 3, || {
        let guarded = Mutex::biased();
        let other = spawn(|| guarded.attempt());
        guarded.section();
        let sections = join(other);
        guarded.section();
        guarded.end(3 + sections);
    });
}

#[test]
fn an_attempt_of_the_owner_beside_another_thread() {
    explore(ASYMMETRIC, 3, || {
        let guarded = Mutex::biased();
        let other = spawn(|| guarded.section());
        let sections = guarded.attempt();
        join(other);
        guarded.end(2 + sections);
    });
}

#[test]
fn a_deadline_passes_while_the_owner_is_inside() {
    explore(ROWS, 3, || {
        let guarded = Mutex::biased();
        let held = guarded.raw().lock();
        let clock = spawn(|| pass_time(1));
        let other = spawn(|| guarded.section_until());
        guarded.end_section(held);
        guarded.section();
        let sections = join(other);
        join(clock);
        guarded.end(3 + sections);
    });
}

/// Only its deadline ends the wait of a thread whose owner stays inside.
#[test]
fn a_deadline_passes_and_the_owner_stays_inside() {
    explore(ASYMMETRIC, 3, || {
        let guarded = Mutex::biased();
        let held = guarded.raw().lock();
        let other = spawn(|| guarded.section_until());
        until_asleep(1);
        pass_time(1);
        assert_eq!(join(other), 0);
        guarded.end_section(held);
        guarded.end(2);
    });
}

/// A thread gave up after it had revoked the bias; the next one still waits for the owner.
#[test]
fn a_thread_comes_after_one_that_gave_up() {
    explore(ROWS, 3, || {
        let guarded = Mutex::biased();
        let held = guarded.raw().lock();
        let hurried = spawn(|| guarded.section_until());
        let patient = spawn(|| guarded.section());
        pass_time(1);
        guarded.end_section(held);
        join(patient);
        let sections = join(hurried);
        guarded.end(3 + sections);
    });
}

#[test]
fn the_last_of_two_frees_it() {
    explore(ASYMMETRIC, 3, || {
        let guarded = Mutex::biased();
        let other = spawn(|| guarded.section_of(3));
        guarded.section_of(3);
        join(other);
    });
}

/// From some moment on heavy fences are refused, also while the owner comes in or leaves.
#[test]
fn heavy_fences_are_refused_later() {
    explore(Setting { fences: Fences::RefusedLater, ..ROWS }, 3, || {
        let guarded = Mutex::biased();
        let held = guarded.raw().lock();
        let other = spawn(|| guarded.section());
        let refuser = spawn(crate::loom_platform::refuse);
        guarded.end_section(held);
        join(other);
        join(refuser);
        guarded.end(3);
    });
}

/// The owner comes in without a fence, and the thread that revokes the bias has none for it.
#[test]
fn heavy_fences_are_refused_before_the_owner_comes() {
    explore(Setting { fences: Fences::RefusedLater, ..ROWS }, 3, || {
        let guarded = Mutex::biased();
        crate::loom_platform::refuse();
        let other = spawn(|| guarded.section());
        guarded.section();
        join(other);
        guarded.end(3);
    });
}

#[test]
fn without_membarrier_it_is_not_biased() {
    explore(Setting { fences: Fences::Refused, ..ROWS }, 3, || {
        let guarded = Mutex::new();
        let other = spawn(|| guarded.section());
        guarded.section();
        assert!(!guarded.raw().is_biased());
        join(other);
        guarded.end(2);
    });
}
