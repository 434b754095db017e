//! The reader-writer lock: exclusion, wakes, deadlines, changes between its modes, and its memory.

use ondeck::platform::Platform;
use ondeck::rwlock::RawRwLock;

use crate::loom_platform::{Fences, Loom, Setting, join, spawn};
use crate::rwlock_scenario::{
    Does::{
        self, Downgrades, DowngradesToUpgradable, Reads, ReadsTwice, ReadsUntil, Tries, Upgrades,
        UpgradesUntil, Writes, WritesFairly, WritesUntil,
    },
    Lock, together,
};
use crate::scenario::{OVERDUE, POLLS, SLEEPS, explore};

#[test]
fn a_reader_and_a_writer() {
    together(SLEEPS, 5, Reads, &[Writes]);
}

#[test]
fn a_reader_and_a_writer_that_spin() {
    together(POLLS, 4, Reads, &[Writes]);
}

#[test]
fn two_writers() {
    together(SLEEPS, 5, Writes, &[Writes]);
}

#[test]
fn three_writers() {
    together(SLEEPS, 2, Writes, &[Writes, Writes]);
}

#[test]
fn two_writers_and_a_reader() {
    together(SLEEPS, 2, Writes, &[Writes, Reads]);
}

#[test]
fn two_readers_and_a_writer() {
    together(SLEEPS, 2, Writes, &[Reads, Reads]);
}

#[test]
fn two_readers_and_a_writer_that_hands_it_over() {
    together(SLEEPS, 2, WritesFairly, &[Reads, Reads]);
}

#[test]
fn a_reader_and_a_writer_that_are_handed_it() {
    together(SLEEPS, 2, WritesFairly, &[Reads, Writes]);
}

#[test]
fn an_upgradable_reader_and_a_writer_that_are_handed_it() {
    together(SLEEPS, 2, WritesFairly, &[Upgrades, Writes]);
}

#[test]
fn overdue_threads_are_handed_it() {
    together(OVERDUE, 2, Writes, &[Writes, Reads]);
}

#[test]
fn overdue_readers_are_handed_it_together() {
    together(OVERDUE, 2, Writes, &[Reads, Reads]);
}

#[test]
fn a_reader_that_reads_twice_waits_for_no_waiting_writer() {
    together(SLEEPS, 5, ReadsTwice, &[Writes]);
}

#[test]
fn an_upgrade_waits_for_readers() {
    together(SLEEPS, 5, Upgrades, &[Reads]);
}

#[test]
fn two_upgrades() {
    together(SLEEPS, 4, Upgrades, &[Upgrades]);
}

#[test]
fn an_upgrade_a_reader_and_a_writer() {
    together(SLEEPS, 2, Upgrades, &[Reads, Writes]);
}

#[test]
fn a_downgrade_lets_readers_go_on() {
    together(SLEEPS, 2, Downgrades, &[Reads, Reads]);
}

#[test]
fn a_downgrade_a_reader_and_a_writer() {
    together(SLEEPS, 2, Downgrades, &[Reads, Writes]);
}

#[test]
fn a_downgrade_to_upgradable_a_reader_and_a_writer() {
    together(SLEEPS, 2, DowngradesToUpgradable, &[Reads, Writes]);
}

#[test]
fn a_writer_gives_up_beside_readers() {
    together(SLEEPS, 3, Reads, &[WritesUntil]);
}

#[test]
fn a_writer_gives_up_and_a_reader_waits_for_it() {
    together(SLEEPS, 2, Reads, &[WritesUntil, Reads]);
}

#[test]
fn a_reader_gives_up_and_a_writer_waits() {
    together(SLEEPS, 2, Writes, &[ReadsUntil, Writes]);
}

#[test]
fn a_writer_gives_up_and_another_waits() {
    together(SLEEPS, 2, Writes, &[WritesUntil, Writes]);
}

#[test]
fn an_upgrade_gives_up() {
    together(SLEEPS, 3, Reads, &[UpgradesUntil]);
}

/// A reader that is parked goes on when the writer has become the upgradable reader, which waits for that.
#[test]
fn a_parked_reader_goes_on_beside_the_upgradable_reader() {
    explore(SLEEPS, 2, || {
        let guarded = Lock::new();
        guarded.raw().lock_exclusive();
        let readers = [(); 2].map(|()| spawn(|| guarded.read()));
        // SAFETY: this thread owns the lock.
        unsafe { guarded.raw().downgrade_to_upgradable() };
        let _ = readers.map(join);
        // SAFETY: this thread is the upgradable reader.
        unsafe { guarded.raw().unlock_upgradable() };
        guarded.end(0);
    });
}

/// Parked readers go on beside each other: the one that was woken wakes the next, which the first waits for.
#[test]
fn a_woken_reader_wakes_the_next() {
    explore(SLEEPS, 2, || {
        let guarded = Lock::new();
        guarded.raw().lock_exclusive();
        let flag = &*Box::leak(Box::new(loom::sync::atomic::AtomicBool::new(false)));
        let first = spawn(move || {
            let held = guarded.raw().lock_shared();
            while !flag.load(loom::sync::atomic::Ordering::Relaxed) {
                Loom::yield_now();
            }
            guarded.unlock_shared(held);
        });
        let second = spawn(move || {
            let held = guarded.raw().lock_shared();
            flag.store(true, loom::sync::atomic::Ordering::Relaxed);
            guarded.unlock_shared(held);
        });
        guarded.unlock_exclusive();
        join(first);
        join(second);
        guarded.end(0);
    });
}

/// The last of two users frees the lock.
fn freed_by_the_last(setting: Setting, preemptions: usize, first: Does, second: Does) {
    explore(setting, preemptions, move || {
        let guarded = Lock::new();
        if setting.biased {
            guarded.raw().consider_bias();
            assert!(guarded.raw().is_biased());
        }
        let users = &*Box::leak(Box::new(loom::sync::atomic::AtomicUsize::new(0)));
        let section = move |does: Does| {
            let lock = guarded.raw();
            // The count is under the lock, as the lock's data would be.
            let held = if does == Reads {
                Some(lock.lock_shared())
            } else {
                lock.lock_exclusive();
                None
            };
            let last = users.fetch_add(1, loom::sync::atomic::Ordering::AcqRel) == 1;
            match held {
                Some(held) => guarded.unlock_shared(held),
                None => guarded.unlock_exclusive(),
            }
            last && does == Writes
        };
        let other = spawn(move || {
            if section(second) {
                // SAFETY: the other user counted itself before it unlocked, and this one owned the lock
                // after that.
                unsafe { guarded.free() };
            }
        });
        if section(first) {
            // SAFETY: as above.
            unsafe { guarded.free() };
        }
        join(other);
    });
}

#[test]
fn freed_after_the_last_reader_has_left() {
    freed_by_the_last(SLEEPS, 5, Reads, Writes);
}

#[test]
fn freed_after_the_last_writer_has_left() {
    freed_by_the_last(SLEEPS, 5, Writes, Writes);
}

/// The last user of a lock frees it, and another lock is at its address, whose writer waits for a reader
/// while the last reader of the first is still about to wake its own.
#[test]
fn another_lock_at_the_same_address() {
    explore(SLEEPS, 4, || {
        let guarded = Lock::new();
        let held = guarded.raw().lock_shared();
        let writer = spawn(move || {
            guarded.write();
            // SAFETY: the only other user has left, because this one owned the lock.
            unsafe { guarded.free() };
            let place = std::ptr::from_ref(guarded.raw()).cast_mut();
            // SAFETY: the lock that was there is gone.
            unsafe { place.write(RawRwLock::new()) };
            let held = guarded.raw().lock_shared();
            let writer = spawn(move || guarded.write());
            guarded.counted();
            guarded.unlock_shared(held);
            join(writer);
        });
        guarded.counted();
        guarded.unlock_shared(held);
        join(writer);
        guarded.end(2);
    });
}

/// The machine whose threads can be visible readers. Both halves of a pair of fences are full.
const BIASED: Setting = Setting { biased: true, ..SLEEPS };
/// The same; the light half is nothing.
const BIASED_ASYMMETRIC: Setting = Setting { fences: Fences::Asymmetric, ..BIASED };

#[test]
fn a_visible_reader_and_a_writer() {
    together(BIASED, 4, Reads, &[Writes]);
}

#[test]
fn a_visible_reader_and_a_writer_with_asymmetric_fences() {
    together(BIASED_ASYMMETRIC, 4, Reads, &[Writes]);
}

#[test]
fn a_visible_reader_without_membarrier() {
    together(Setting { fences: Fences::Refused, ..BIASED }, 3, Reads, &[Writes]);
}

#[test]
fn two_visible_readers_and_a_writer() {
    together(BIASED, 2, Writes, &[Reads, Reads]);
}

#[test]
fn a_visible_reader_and_two_writers() {
    together(BIASED, 2, Writes, &[Reads, Writes]);
}

#[test]
fn a_visible_reader_reads_twice() {
    together(BIASED, 3, ReadsTwice, &[Writes]);
}

/// Threads that wait awake beside parked ones, and one of these that is woken and waits awake again.
#[test]
fn two_writers_that_wait_awake() {
    together(Setting { biased: true, ..POLLS }, 2, Writes, &[Writes, Writes]);
}

#[test]
fn a_reader_and_a_writer_that_wait_awake() {
    together(Setting { biased: true, ..POLLS }, 2, Writes, &[Writes, Reads]);
}

#[test]
fn a_writer_that_waits_awake_gives_up() {
    together(Setting { biased: true, ..POLLS }, 1, Writes, &[WritesUntil, Writes]);
}

#[test]
fn an_upgrade_waits_for_a_visible_reader() {
    together(BIASED, 3, Upgrades, &[Reads]);
}

#[test]
fn an_attempt_beside_a_visible_reader() {
    together(BIASED, 3, Tries, &[Reads]);
}

#[test]
fn a_writer_gives_up_beside_a_visible_reader() {
    together(BIASED, 3, Reads, &[WritesUntil]);
}

#[test]
fn freed_after_the_last_visible_reader_has_left() {
    freed_by_the_last(BIASED, 3, Reads, Writes);
}

#[test]
fn freed_after_the_last_visible_reader_has_left_with_asymmetric_fences() {
    freed_by_the_last(BIASED_ASYMMETRIC, 3, Reads, Writes);
}
