//! A reader-writer lock with a cell that it guards, and the actions of each thread of a scenario.

use ondeck::platform::Host;
use ondeck::rwlock::{RawRwLock, Shared};

use crate::guarded::Guarded;
use crate::loom_platform::{Loom, join, pass_time, spawn};
use crate::scenario::SOON;

/// A lock, and a cell that it guards. Loom reports a race if a writer's access to the cell is
/// concurrent with another access.
pub type Lock = Guarded<RawRwLock<Loom>>;

impl Lock {
    pub fn new() -> &'static Self {
        Self::of(RawRwLock::new())
    }

    /// Creates a lock that is biased, if threads of this machine can be visible readers.
    pub fn biased_if_possible() -> &'static Self {
        let guarded = Self::new();
        if Loom::row().is_some() {
            guarded.raw().consider_bias();
            assert!(guarded.raw().is_biased());
        }
        guarded
    }

    pub fn unlock_shared(&self, held: Shared<Loom>) {
        // SAFETY: the scenarios call it with a token that this lock returned.
        unsafe { self.raw().unlock_shared(held) };
    }

    pub fn unlock_exclusive(&self) {
        // SAFETY: the scenarios call it when they own the lock.
        unsafe { self.raw().unlock_exclusive() };
    }

    pub fn write(&self) -> u32 {
        self.raw().lock_exclusive();
        let count = self.count();
        self.unlock_exclusive();
        count
    }

    pub fn read(&self) -> u32 {
        let held = self.raw().lock_shared();
        let counted = self.counted();
        self.unlock_shared(held);
        counted
    }

    /// Checks that after the end of all threads the lock is free, and that there was this number of
    /// sections of writers.
    pub fn end(&self, expected: u32) {
        assert_eq!(self.counted(), expected);
        assert!(!self.raw().is_locked(), "no thread has the lock");
        assert!(self.raw().try_lock_exclusive(), "nothing keeps a writer out");
        self.unlock_exclusive();
        self.free();
    }
}

/// The action of a thread of a scenario.
#[derive(Clone, Copy, PartialEq)]
pub enum Does {
    Reads,
    Writes,
    /// Reads, and reads again within that read.
    ReadsTwice,
    /// Takes the upgradable read lock, and writes.
    Upgrades,
    /// Writes, and downgrades to a read.
    Downgrades,
    /// Writes, and downgrades to an upgradable read.
    DowngradesToUpgradable,
    WritesFairly,
    /// Only if the lock is free.
    Tries,
    /// With a deadline.
    WritesUntil,
    ReadsUntil,
    UpgradesUntil,
}
use Does::{
    Downgrades, DowngradesToUpgradable, Reads, ReadsTwice, ReadsUntil, Tries, Upgrades,
    UpgradesUntil, Writes, WritesFairly, WritesUntil,
};

impl Does {
    /// Returns the number of its sections as a writer.
    fn section(self, guarded: &Lock) -> u32 {
        let lock = guarded.raw();
        // SAFETY: the thread that makes each call below has the lock in the required way.
        unsafe {
            match self {
                Reads => _ = guarded.read(),
                ReadsTwice => {
                    let outer = lock.lock_shared();
                    let counted = guarded.counted();
                    lock.lock_shared_recursive_counted();
                    assert_eq!(guarded.counted(), counted);
                    guarded.unlock_shared(outer);
                    assert_eq!(guarded.counted(), counted);
                    lock.unlock_shared_counted();
                }
                Writes => _ = guarded.write(),
                WritesFairly => {
                    lock.lock_exclusive();
                    guarded.count();
                    lock.unlock_exclusive_fair();
                }
                Tries => {
                    if !lock.try_lock_exclusive() {
                        return 0;
                    }
                    guarded.count();
                    guarded.unlock_exclusive();
                }
                Upgrades => {
                    lock.lock_upgradable();
                    let before = guarded.counted();
                    lock.upgrade();
                    assert_eq!(guarded.count(), before + 1, "a writer came in between");
                    guarded.unlock_exclusive();
                }
                Downgrades => {
                    lock.lock_exclusive();
                    let count = guarded.count();
                    let held = lock.downgrade();
                    assert_eq!(guarded.counted(), count, "a writer came in between");
                    guarded.unlock_shared(held);
                }
                DowngradesToUpgradable => {
                    lock.lock_exclusive();
                    let count = guarded.count();
                    lock.downgrade_to_upgradable();
                    assert_eq!(guarded.counted(), count, "a writer came in between");
                    lock.unlock_upgradable();
                }
                WritesUntil => {
                    if !lock.try_lock_exclusive_until(SOON) {
                        return 0;
                    }
                    guarded.count();
                    guarded.unlock_exclusive();
                }
                ReadsUntil => {
                    if let Some(held) = lock.try_lock_shared_until(SOON) {
                        guarded.counted();
                        guarded.unlock_shared(held);
                    }
                }
                UpgradesUntil => {
                    lock.lock_upgradable();
                    let before = guarded.counted();
                    if !lock.try_upgrade_until(SOON) {
                        assert_eq!(guarded.counted(), before);
                        lock.unlock_upgradable();
                        return 0;
                    }
                    guarded.count();
                    guarded.unlock_exclusive();
                }
            }
        }
        u32::from(!matches!(self, Reads | ReadsTwice | ReadsUntil))
    }
}

/// Each thread performs one action; the first action runs on the model's own thread.
pub fn together(first: Does, others: &'static [Does]) {
    let guarded = Lock::biased_if_possible();
    let all = || others.iter().chain([&first]);
    let is_timed = |does: &Does| matches!(does, WritesUntil | ReadsUntil | UpgradesUntil);
    let clock = all().any(is_timed).then(|| spawn(|| pass_time(1)));
    let others: Vec<_> = others.iter().map(|&does| spawn(move || does.section(guarded))).collect();
    let mut sections = first.section(guarded);
    sections += others.into_iter().map(join).sum::<u32>();
    clock.into_iter().for_each(join);
    guarded.end(sections);
}
