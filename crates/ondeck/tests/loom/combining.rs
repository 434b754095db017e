//! The combining mutex: exclusion, delegated sections, the change of combiners, and its memory.

use loom::cell::UnsafeCell;
use ondeck::combining::{RawCombining, Request};

use crate::guarded::Guarded;
use crate::loom_platform::{Loom, join, spawn};
use crate::scenario::{POLLS, SLEEPS, explored};

type Mutex = Guarded<RawCombining<Loom>>;

/// A section: counts, and keeps the previous count.
struct Job {
    guarded: &'static Mutex,
    before: UnsafeCell<Option<u32>>,
}

/// # Safety
///
/// The pointer is to a job.
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
    /// Returns the number of previous sections.
    fn section(&'static self) -> u32 {
        let job = Job { guarded: self, before: UnsafeCell::new(None) };
        let request = Request::new(run, (&raw const job).cast_mut().cast());
        // SAFETY: the job lives until the section was run.
        unsafe { self.raw().perform(&request) };
        // SAFETY: the section was run.
        job.before.with(|before| unsafe { *before }).expect("the section was run")
    }
}

/// Sections of the first thread, and of each other one.
fn together(first: u32, others: &[u32]) {
    let guarded = Mutex::of(RawCombining::new());
    let sections = move |count: u32| (0..count).for_each(|_| _ = guarded.section());
    let threads: Vec<_> = others.iter().map(|&count| spawn(move || sections(count))).collect();
    sections(first);
    threads.into_iter().for_each(join);
    assert!(!guarded.raw().is_busy());
    assert_eq!(guarded.section(), first + others.iter().sum::<u32>());
    guarded.free();
}

/// The last of this number of users frees the mutex at once.
fn freed_by_the_last(users: u32) {
    let guarded = Mutex::of(RawCombining::new());
    let section = move || {
        if guarded.section() + 1 == users {
            guarded.free();
        }
    };
    let others: Vec<_> = (1..users).map(|_| spawn(section)).collect();
    section();
    others.into_iter().for_each(join);
}

explored! {
    fn two_threads on SLEEPS, 4 => || together(2, &[2]);
    fn two_threads_that_spin on POLLS, 4 => || together(1, &[1]);
    /// The first thread is the combiner. It runs the section of the second, and makes the third the next combiner.
    fn three_threads on SLEEPS, 3 => || together(1, &[1, 1]);
    fn the_last_of_two_frees_it on SLEEPS, 4 => || freed_by_the_last(2);
    fn the_last_of_three_frees_it on SLEEPS, 2 => || freed_by_the_last(3);
}
