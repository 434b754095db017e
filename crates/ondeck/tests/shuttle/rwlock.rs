//! The reader-writer lock, by crowds that use it in every way.

use std::cell::Cell;

use ondeck::rwlock::RawRwLock;

use crate::scenario::{crew, explore, join, soon};
use crate::shuttle_platform::explore::keep;
use crate::shuttle_platform::{Shuttle, below, step};

/// A lock, and how many threads are inside.
struct Guarded {
    lock: RawRwLock<Shuttle>,
    readers: Cell<u32>,
    writers: Cell<u32>,
    /// How many writers there were.
    written: Cell<u32>,
}

// SAFETY: one thread of an execution runs at a time, and all run on one thread of the machine.
unsafe impl Sync for Guarded {}

fn change(count: &Cell<u32>, by: i32) {
    count.set(count.get().checked_add_signed(by).expect("as many leave as come"));
}

impl Guarded {
    fn new() -> &'static Self {
        let lock = RawRwLock::new();
        lock.consider_bias();
        keep(Self { lock, readers: Cell::new(0), writers: Cell::new(0), written: Cell::new(0) })
    }

    /// The section of a reader.
    fn reads(&self) {
        change(&self.readers, 1);
        assert_eq!(self.writers.get(), 0, "a reader beside a writer");
        step();
        assert_eq!(self.writers.get(), 0, "a writer beside a reader");
        change(&self.readers, -1);
    }

    /// The section of a writer.
    fn writes(&self) {
        assert_eq!((self.readers.get(), self.writers.get()), (0, 0), "a writer beside another");
        change(&self.writers, 1);
        step();
        assert_eq!((self.readers.get(), self.writers.get()), (0, 1), "another beside a writer");
        change(&self.writers, -1);
        change(&self.written, 1);
    }

    fn reads_somehow(&self) {
        let lock = &self.lock;
        if below(2) == 0 {
            lock.consider_bias();
        }
        let held = match below(6) {
            0 => lock.try_lock_shared(),
            1 => lock.try_lock_shared_until(soon()),
            2 => Some(lock.lock_shared_recursive()),
            _ => Some(lock.lock_shared()),
        };
        let Some(held) = held else { return };
        self.reads();
        if below(4) == 0 {
            let inner = lock.lock_shared_recursive();
            self.reads();
            // SAFETY: it was just returned.
            unsafe { lock.unlock_shared(inner) };
        }
        // SAFETY: it is what the lock has returned.
        unsafe { lock.unlock_shared(held) };
    }

    /// Returns how many sections of writers there were.
    fn writes_somehow(&self) -> u32 {
        let lock = &self.lock;
        let owner = match below(6) {
            0 => lock.try_lock_exclusive(),
            1 => lock.try_lock_exclusive_until(soon()),
            _ => {
                lock.lock_exclusive();
                true
            }
        };
        if !owner {
            return 0;
        }
        self.writes();
        // SAFETY: this thread owns the lock, and gives it up once.
        unsafe {
            match below(6) {
                0 => lock.unlock_exclusive_fair(),
                1 => {
                    let held = lock.downgrade();
                    self.reads();
                    lock.unlock_shared(held);
                }
                2 => {
                    lock.downgrade_to_upgradable();
                    self.reads();
                    lock.unlock_upgradable();
                }
                _ => lock.unlock_exclusive(),
            }
        }
        1
    }

    /// Returns how many sections of writers there were.
    fn upgrades_somehow(&self) -> u32 {
        let lock = &self.lock;
        if below(4) == 0 {
            if !lock.try_lock_upgradable_until(soon()) {
                return 0;
            }
        } else {
            lock.lock_upgradable();
        }
        self.reads();
        // SAFETY: this thread has the upgradable read lock, and gives it up once.
        unsafe {
            let owner = match below(4) {
                0 => lock.try_upgrade(),
                1 => lock.try_upgrade_until(soon()),
                2 => {
                    lock.upgrade();
                    true
                }
                _ => false,
            };
            if owner {
                self.writes();
                lock.unlock_exclusive();
                return 1;
            }
            if below(2) == 0 {
                lock.unlock_upgradable();
            } else {
                let held = lock.downgrade_upgradable();
                self.reads();
                lock.unlock_shared(held);
            }
        }
        0
    }
}

fn crowd(threads: usize) {
    let guarded = Guarded::new();
    let visits = move || {
        let visit = |_| match below(8) {
            0..4 => {
                guarded.reads_somehow();
                0
            }
            4..7 => guarded.writes_somehow(),
            _ => guarded.upgrades_somehow(),
        };
        (0..3).map(visit).sum::<u32>()
    };
    let written: u32 = join(crew(threads, visits)).into_iter().sum();
    assert_eq!(guarded.written.get(), written);
    assert!(!guarded.lock.is_locked(), "no thread has the lock");
    assert!(guarded.lock.try_lock_exclusive(), "nothing keeps a writer out");
    // SAFETY: this thread owns the lock.
    unsafe { guarded.lock.unlock_exclusive() };
}

#[test]
fn four_threads_by_every_way() {
    explore(2_000, || crowd(4));
}

#[test]
fn eight_threads_by_every_way() {
    explore(800, || crowd(8));
}
