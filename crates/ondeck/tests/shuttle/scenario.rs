//! What the tests share: a mutex with what it guards, and its threads.

use std::cell::Cell;
use std::mem::ManuallyDrop;

use ondeck::mutex::RawMutex;
use ondeck::platform::{Platform, Timestamp};
use shuttle::thread::JoinHandle;

use crate::shuttle_platform::explore::keep;
use crate::shuttle_platform::{self, Shuttle, TICK_NANOS, below, step};

/// Runs `scenario` so many times under each scheduler; after each all buckets are at rest.
pub fn explore(executions: usize, scenario: impl Fn() + Send + Sync + 'static) {
    shuttle_platform::explore::explore("", executions, move || {
        scenario();
        assert!(shuttle_platform::is_at_rest(), "a bucket is not at rest");
    });
}

/// What a lock guards: a number that counts entries, and whether a thread is inside.
#[derive(Default)]
pub struct Section {
    owned: Cell<bool>,
    count: Cell<u32>,
}

// SAFETY: one thread of an execution runs at a time, and all run on one thread of the machine.
unsafe impl Sync for Section {}

impl Section {
    /// Enters, counts while other threads run, and leaves. Returns the new count.
    pub fn enter(&self) -> u32 {
        self.change(|count| count + 1)
    }

    fn change(&self, change: impl FnOnce(u32) -> u32) -> u32 {
        assert!(!self.owned.replace(true), "two owners at once");
        step();
        let count = change(self.count.get());
        self.count.set(count);
        self.owned.set(false);
        count
    }

    /// The number of entries, at the end of all threads.
    pub fn entered(&self) -> u32 {
        self.count.get()
    }
}

/// A mutex, and what it guards.
pub struct Shared {
    // Dropped by hand: see `free`.
    mutex: ManuallyDrop<RawMutex<Shuttle>>,
    section: Section,
}

impl Shared {
    /// Its memory stays to the end of the execution, so that an access after its own end is noticed and is
    /// not undefined behaviour.
    pub fn new() -> &'static Self {
        let mutex = ManuallyDrop::new(RawMutex::new());
        keep(Self { mutex, section: Section::default() })
    }

    pub fn mutex(&self) -> &RawMutex<Shuttle> {
        &self.mutex
    }

    pub fn lock(&self) {
        self.mutex.lock();
    }

    /// Tries to lock the mutex in a way drawn at random.
    pub fn try_somehow(&self) -> bool {
        match below(8) {
            0 => self.mutex.try_lock(),
            1 | 2 => self.mutex.try_lock_until(soon()),
            _ => {
                self.mutex.lock();
                true
            }
        }
    }

    /// A section of the owner. Returns the new count.
    pub fn count(&self) -> u32 {
        self.section.enter()
    }

    /// What was counted; the caller owns the mutex.
    pub fn counted(&self) -> u32 {
        self.section.change(|count| count)
    }

    /// Counts one less; the caller owns the mutex.
    pub fn uncount(&self) {
        self.section.change(|count| count - 1);
    }

    pub fn unlock(&self) {
        // SAFETY: the scenarios call it when they own the mutex.
        unsafe { self.mutex.unlock() };
    }

    /// Unlocks the mutex in a way drawn at random, now and then after one more section. Returns how many
    /// more sections there were.
    pub fn unlock_somehow(&self) -> u32 {
        match below(8) {
            0 => {
                // SAFETY: as in `unlock`.
                unsafe { self.mutex.unlock_fair() };
                0
            }
            1 => {
                // SAFETY: as in `unlock`.
                unsafe { self.mutex.bump() };
                self.count();
                self.unlock();
                1
            }
            _ => {
                self.unlock();
                0
            }
        }
    }

    pub fn lock_and_count(&self) {
        self.lock();
        self.count();
        self.unlock();
    }

    /// At the end of all threads the mutex is free, and there were so many sections.
    pub fn end(&self, expected: u32) {
        assert_eq!(self.section.entered(), expected);
        assert!(!self.mutex.is_locked(), "no thread owns the mutex");
    }

    /// From now on the mutex is gone.
    ///
    /// # Safety
    ///
    /// No thread uses it any more. This function does not check that, but `Life` does.
    pub unsafe fn free(&self) {
        // SAFETY: as the caller promises, no reference to it is used any more; the memory stays.
        unsafe { std::ptr::drop_in_place((&raw const *self.mutex).cast_mut()) };
    }
}

/// A moment that has passed, or will in up to 30 ticks.
pub fn soon() -> Timestamp {
    let ticks = below(32) as u64;
    Timestamp::from_nanos(
        (Shuttle::now().as_nanos() + ticks * TICK_NANOS).saturating_sub(TICK_NANOS),
    )
}

/// Starts `count` threads with the same body.
pub fn crew<R: Send + 'static>(
    count: usize,
    body: impl Fn() -> R + Send + Copy + 'static,
) -> Vec<JoinHandle<R>> {
    (0..count).map(|_| shuttle::thread::spawn(body)).collect()
}

/// Joins all threads.
pub fn join<R>(threads: impl IntoIterator<Item = JoinHandle<R>>) -> Vec<R> {
    threads.into_iter().map(|thread| thread.join().expect("it ends")).collect()
}
