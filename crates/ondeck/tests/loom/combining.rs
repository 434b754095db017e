//! The combining mutex: exclusion, delegated sections, the change of combiners, and its memory.

use loom::cell::UnsafeCell;
use ondeck::combining::{RawCombining, Request};

use crate::guarded::Guarded;
use crate::loom_platform::{Loom, Setting, join, spawn};
use crate::scenario::{POLLS, SLEEPS, explore};

type Mutex = Guarded<RawCombining<Loom>>;

/// A section: counts, and keeps what was counted before.
struct Job {
    guarded: &'static Mutex,
    before: UnsafeCell<Option<u32>>,
}

/// # Safety
///
/// It is a job.
unsafe fn run(job: *mut ()) {
    // SAFETY: as the caller promises.
    let job = unsafe { &*job.cast::<Job>() };
    // Sections exclude each other.
    let before = job.guarded.count() - 1;
    job.before.with_mut(|place| {
        // SAFETY: its thread waits.
        let before = unsafe { (*place).replace(before) };
        assert_eq!(before, None, "a section is run once");
    });
}

impl Mutex {
    fn new() -> &'static Self {
        Self::of(RawCombining::new())
    }

    /// Returns how many sections there were before.
    fn section(&'static self) -> u32 {
        let job = Job { guarded: self, before: UnsafeCell::new(None) };
        let request = Request::new(run, (&raw const job).cast_mut().cast());
        // SAFETY: the job lives until the section was run.
        unsafe { self.raw().perform(&request) };
        // SAFETY: the section was run.
        job.before.with(|before| unsafe { *before }).expect("the section was run")
    }

    /// As one of so many users; the last one frees the mutex at once.
    fn section_of(&'static self, users: u32) {
        if self.section() + 1 == users {
            // SAFETY: no thread uses it any more, which is what is checked.
            unsafe { self.free() };
        }
    }

    fn end(&'static self, sections: u32) {
        assert!(!self.raw().is_busy());
        assert_eq!(self.section(), sections);
        // SAFETY: as above.
        unsafe { self.free() };
    }
}

/// Sections of the first thread, and of each other one.
fn together(setting: Setting, preemptions: usize, first: u32, others: &'static [u32]) {
    explore(setting, preemptions, move || {
        let guarded = Mutex::new();
        let sections = move |count: u32| (0..count).for_each(|_| _ = guarded.section());
        let threads: Vec<_> = others.iter().map(|&count| spawn(move || sections(count))).collect();
        sections(first);
        threads.into_iter().for_each(join);
        guarded.end(first + others.iter().sum::<u32>());
    });
}

#[test]
fn two_threads() {
    together(SLEEPS, 4, 2, &[2]);
}

#[test]
fn two_threads_that_spin() {
    together(POLLS, 4, 1, &[1]);
}

/// One is the combiner, does the section of the second, and tells the third that it combines.
#[test]
fn three_threads() {
    together(SLEEPS, 3, 1, &[1, 1]);
}

#[test]
fn the_last_of_two_frees_it() {
    explore(SLEEPS, 4, || {
        let guarded = Mutex::new();
        let other = spawn(|| guarded.section_of(2));
        guarded.section_of(2);
        join(other);
    });
}

#[test]
fn the_last_of_three_frees_it() {
    explore(SLEEPS, 2, || {
        let guarded = Mutex::new();
        let others = [0; 2].map(|_| spawn(|| guarded.section_of(3)));
        guarded.section_of(3);
        let [..] = others.map(join);
    });
}
