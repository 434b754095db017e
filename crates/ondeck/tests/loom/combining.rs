//! The combining mutex: exclusion, delegated sections, the change of combiners, and its memory.

use std::mem::ManuallyDrop;

use loom::cell::UnsafeCell;
use ondeck::combining::{RawCombining, Request};

use crate::loom_platform::{Loom, Setting, join, spawn};
use crate::scenario::{POLLS, SLEEPS, explore};

/// A mutex, and a cell that it guards. Loom reports a race if exclusion or a happens-before edge is missing.
struct Guarded {
    // Dropped by hand: see `free`.
    mutex: ManuallyDrop<RawCombining<Loom>>,
    count: UnsafeCell<u32>,
}

// SAFETY: `count` is only touched in sections; loom checks that this is enough.
unsafe impl Sync for Guarded {}

/// A section: counts, and keeps what was counted before.
struct Job {
    guarded: &'static Guarded,
    before: UnsafeCell<Option<u32>>,
}

/// # Safety
///
/// It is a job.
unsafe fn run(job: *mut ()) {
    // SAFETY: as the caller promises.
    let job = unsafe { &*job.cast::<Job>() };
    let before = job.guarded.count.with_mut(|count| {
        // SAFETY: sections exclude each other.
        unsafe {
            *count += 1;
            *count - 1
        }
    });
    job.before.with_mut(|place| {
        // SAFETY: its thread waits.
        let before = unsafe { (*place).replace(before) };
        assert_eq!(before, None, "a section is run once");
    });
}

impl Guarded {
    /// Never freed, so that an access after its end is noticed.
    fn new() -> &'static Self {
        let mutex = ManuallyDrop::new(RawCombining::new());
        Box::leak(Box::new(Self { mutex, count: UnsafeCell::new(0) }))
    }

    /// Returns how many sections there were before.
    fn section(&'static self) -> u32 {
        let job = Job { guarded: self, before: UnsafeCell::new(None) };
        let request = Request::new(run, (&raw const job).cast_mut().cast());
        // SAFETY: the job lives until the section was run.
        unsafe { self.mutex.perform(&request) };
        // SAFETY: the section was run.
        job.before.with(|before| unsafe { *before }).expect("the section was run")
    }

    /// As one of so many users; the last one frees the mutex at once.
    fn section_of(&'static self, users: u32) {
        if self.section() + 1 == users {
            self.free();
        }
    }

    /// From now on the mutex is gone: a later access is noticed.
    fn free(&self) {
        // SAFETY: no thread uses it any more, which is what is checked; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.mutex).cast_mut()) };
    }

    fn end(&'static self, sections: u32) {
        assert!(!self.mutex.is_busy());
        assert_eq!(self.section(), sections);
        self.free();
    }
}

/// Sections of the first thread, and of each other one.
fn together(setting: Setting, preemptions: usize, first: u32, others: &'static [u32]) {
    explore(setting, preemptions, move || {
        let guarded = Guarded::new();
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
        let guarded = Guarded::new();
        let other = spawn(|| guarded.section_of(2));
        guarded.section_of(2);
        join(other);
    });
}

#[test]
fn the_last_of_three_frees_it() {
    explore(SLEEPS, 2, || {
        let guarded = Guarded::new();
        let others = [0; 2].map(|_| spawn(|| guarded.section_of(3)));
        guarded.section_of(3);
        let [..] = others.map(join);
    });
}
