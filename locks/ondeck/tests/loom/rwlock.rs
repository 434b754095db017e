//! The reader-writer lock: exclusion, wakes, deadlines, changes between its modes, and its memory.

use loom::sync::atomic::{AtomicUsize, Ordering};
use ondeck::rwlock::RawRwLock;

use crate::loom_platform::{Fences, Setting, join, spawn};
use crate::rwlock_scenario::{
    Does::{
        self, Downgrades, DowngradesToUpgradable, Reads, ReadsTwice, ReadsUntil, Tries, Upgrades,
        UpgradesUntil, Writes, WritesFairly, WritesUntil,
    },
    Lock, together,
};
use crate::scenario::{OVERDUE, POLLS, SLEEPS, explored, until_asleep};

/// A parked reader continues when the writer has become the upgradable reader, which waits for
/// that.
fn parked_beside_the_upgradable_reader() {
    let guarded = Lock::new();
    guarded.raw().lock_exclusive();
    let readers = [(); 2].map(|()| spawn(|| guarded.read()));
    // SAFETY: this thread owns the lock.
    unsafe { guarded.raw().downgrade_to_upgradable() };
    let _ = readers.map(join);
    // SAFETY: this thread is the upgradable reader.
    unsafe { guarded.raw().unlock_upgradable() };
    guarded.end(0);
}

/// The unlock wakes the reader only, and the reader wakes the writer that parked after it.
fn a_reader_wakes_a_writer() {
    let guarded = Lock::new();
    guarded.raw().lock_exclusive();
    let first = spawn(|| guarded.read());
    until_asleep(1);
    let second = spawn(|| guarded.write());
    until_asleep(2);
    guarded.unlock_exclusive();
    join(first);
    join(second);
    guarded.end(1);
}

/// The last of two users frees the lock, if it is the writer.
fn freed_by_the_last(first: Does, second: Does) {
    let guarded = Lock::biased_if_possible();
    let users = &*Box::leak(Box::new(AtomicUsize::new(0)));
    let section = move |does: Does| {
        let lock = guarded.raw();
        // The count is under the lock, like the lock's data.
        let count = || users.fetch_add(1, Ordering::AcqRel) == 1;
        if does == Reads {
            let held = lock.lock_shared();
            count();
            guarded.unlock_shared(held);
            return;
        }
        lock.lock_exclusive();
        let last = count();
        guarded.unlock_exclusive();
        if last {
            // The other user counted itself before it unlocked, and this one owned the lock after
            // that.
            guarded.free();
        }
    };
    let other = spawn(move || section(second));
    section(first);
    join(other);
}

/// The last user of a lock frees it, and another lock takes its address. The writer of the new lock
/// waits for a reader while the last reader of the old one is still about to wake its own writer.
fn another_lock() {
    let guarded = Lock::new();
    let held = guarded.raw().lock_shared();
    let writer = spawn(move || {
        guarded.write();
        // The only other user has left, because this one owned the lock.
        guarded.free();
        let place = std::ptr::from_ref(guarded.raw()).cast_mut();
        // SAFETY: the previous lock has ended.
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
}

/// The machine whose threads can be visible readers. Both halves of a pair of fences are full.
const BIASED: Setting = Setting { biased: true, ..SLEEPS };
/// The same; the light half is nothing.
const BIASED_ASYMMETRIC: Setting = Setting { fences: Fences::Asymmetric, ..BIASED };
const BIASED_POLLS: Setting = Setting { biased: true, ..POLLS };
const WITHOUT_MEMBARRIER: Setting = Setting { fences: Fences::Refused, ..BIASED };

explored! {
    fn a_reader_and_a_writer on SLEEPS, 5 => || together(Reads, &[Writes]);
    fn a_reader_and_a_writer_that_spin on POLLS, 4 => || together(Reads, &[Writes]);
    fn two_writers on SLEEPS, 5 => || together(Writes, &[Writes]);
    fn three_writers on SLEEPS, 2 => || together(Writes, &[Writes, Writes]);
    fn two_writers_and_a_reader on SLEEPS, 2 => || together(Writes, &[Writes, Reads]);
    fn two_readers_and_a_writer on SLEEPS, 2 => || together(Writes, &[Reads, Reads]);
    fn two_readers_and_a_writer_that_hands_it_over on SLEEPS, 2 => || together(WritesFairly, &[Reads, Reads]);
    fn a_reader_and_a_writer_that_are_handed_it on SLEEPS, 2 => || together(WritesFairly, &[Reads, Writes]);
    fn an_upgradable_reader_and_a_writer_that_are_handed_it on SLEEPS, 2 =>
        || together(WritesFairly, &[Upgrades, Writes]);
    fn overdue_threads_are_handed_it on OVERDUE, 2 => || together(Writes, &[Writes, Reads]);
    fn overdue_readers_are_handed_it_together on OVERDUE, 2 => || together(Writes, &[Reads, Reads]);
    fn a_reader_that_reads_twice_waits_for_no_waiting_writer on SLEEPS, 5 => || together(ReadsTwice, &[Writes]);
    fn an_upgrade_waits_for_readers on SLEEPS, 5 => || together(Upgrades, &[Reads]);
    fn two_upgrades on SLEEPS, 4 => || together(Upgrades, &[Upgrades]);
    fn an_upgrade_a_reader_and_a_writer on SLEEPS, 2 => || together(Upgrades, &[Reads, Writes]);
    fn a_downgrade_lets_readers_go_on on SLEEPS, 2 => || together(Downgrades, &[Reads, Reads]);
    fn a_downgrade_a_reader_and_a_writer on SLEEPS, 2 => || together(Downgrades, &[Reads, Writes]);
    fn a_downgrade_to_upgradable_a_reader_and_a_writer on SLEEPS, 2 =>
        || together(DowngradesToUpgradable, &[Reads, Writes]);
    fn a_writer_gives_up_beside_readers on SLEEPS, 3 => || together(Reads, &[WritesUntil]);
    fn a_writer_gives_up_and_a_reader_waits_for_it on SLEEPS, 2 => || together(Reads, &[WritesUntil, Reads]);
    fn a_reader_gives_up_and_a_writer_waits on SLEEPS, 2 => || together(Writes, &[ReadsUntil, Writes]);
    fn a_writer_gives_up_and_another_waits on SLEEPS, 2 => || together(Writes, &[WritesUntil, Writes]);
    fn an_upgrade_gives_up on SLEEPS, 3 => || together(Reads, &[UpgradesUntil]);
    fn freed_after_the_last_reader_has_left on SLEEPS, 5 => || freed_by_the_last(Reads, Writes);
    fn freed_after_the_last_writer_has_left on SLEEPS, 5 => || freed_by_the_last(Writes, Writes);
    fn a_visible_reader_and_a_writer on BIASED, 4 => || together(Reads, &[Writes]);
    fn a_visible_reader_and_a_writer_with_asymmetric_fences on BIASED_ASYMMETRIC, 4 => || together(Reads, &[Writes]);
    fn a_visible_reader_without_membarrier on WITHOUT_MEMBARRIER, 3 => || together(Reads, &[Writes]);
    fn two_visible_readers_and_a_writer on BIASED, 2 => || together(Writes, &[Reads, Reads]);
    fn a_visible_reader_and_two_writers on BIASED, 2 => || together(Writes, &[Reads, Writes]);
    fn a_visible_reader_reads_twice on BIASED, 3 => || together(ReadsTwice, &[Writes]);
    /// Threads that wait awake next to parked ones, and a parked one that is woken and waits awake
    /// again.
    fn two_writers_that_wait_awake on BIASED_POLLS, 2 => || together(Writes, &[Writes, Writes]);
    fn a_reader_and_a_writer_that_wait_awake on BIASED_POLLS, 2 => || together(Writes, &[Writes, Reads]);
    fn a_writer_that_waits_awake_gives_up on BIASED_POLLS, 1 => || together(Writes, &[WritesUntil, Writes]);
    fn an_upgrade_waits_for_a_visible_reader on BIASED, 3 => || together(Upgrades, &[Reads]);
    fn an_attempt_beside_a_visible_reader on BIASED, 3 => || together(Tries, &[Reads]);
    fn a_writer_gives_up_beside_a_visible_reader on BIASED, 3 => || together(Reads, &[WritesUntil]);
    fn freed_after_the_last_visible_reader_has_left on BIASED, 3 => || freed_by_the_last(Reads, Writes);
    fn freed_after_the_last_visible_reader_has_left_with_asymmetric_fences on BIASED_ASYMMETRIC, 3 =>
        || freed_by_the_last(Reads, Writes);
    fn a_parked_reader_goes_on_beside_the_upgradable_reader on SLEEPS, 2 => parked_beside_the_upgradable_reader;
    fn a_woken_reader_wakes_the_next on SLEEPS, 2 => a_reader_wakes_a_writer;
    fn another_lock_at_the_same_address on SLEEPS, 4 => another_lock;
}
