//! What a thread logs of each of its sections, in memory that was allocated before.
//!
//! All sections of a lock write to two words that are guarded by that lock and by nothing else: a counter
//! from which each draws its ticket, and a stamp that each leaves for its successor. If two sections ran at
//! once, or one did not see what its predecessor wrote, the numbers show it.

use std::cell::UnsafeCell;

use fastrand::Rng;
use ondeck::platform::Host;

/// How a lock was acquired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// By `lock`.
    #[default]
    Lock,
    /// By one attempt.
    Attempt,
    /// By an attempt with a deadline.
    Deadline,
    /// By a wait at a condition variable. Only the notifier knows when the waiter began to wait for the lock.
    Condition,
    /// By a bump, after a waiter had its turn.
    Bump,
}

impl How {
    pub const ALL: [Self; 5] =
        [Self::Lock, Self::Attempt, Self::Deadline, Self::Condition, Self::Bump];
}

/// One section. Times are nanoseconds of the monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The lock's number.
    pub lock: u32,
    /// How many sections of that lock there were before.
    pub ticket: u32,
    /// The stamp that it found.
    pub found: u64,
    /// The stamp that it left.
    pub left: u64,
    /// When the thread began to want the lock.
    pub attempt: u64,
    /// When it had the lock.
    pub acquired: u64,
    /// When it was about to unlock.
    pub unlocked: u64,
    /// For how long at most the thread was ready to run during its wait and had no CPU, in microseconds.
    /// Known of long waits only.
    pub delayed: u32,
    pub how: How,
}

/// The sections of one thread, or of several threads one after the other, in their order.
#[derive(Debug)]
pub struct Log {
    sections: Vec<Section>,
    missed: usize,
}

impl Log {
    pub fn with_room_for(sections: usize) -> Self {
        Self { sections: Vec::with_capacity(sections), missed: 0 }
    }

    /// Whether there is hardly any room left.
    pub fn is_full(&self) -> bool {
        /// More sections than are logged between two calls of this.
        const RESERVE: usize = 16;
        self.sections.len() + RESERVE > self.sections.capacity()
    }

    pub fn push(&mut self, section: Section) {
        debug_assert!(self.sections.len() < self.sections.capacity(), "no allocation in a section");
        self.sections.push(section);
    }

    /// Notes an attempt that ended without the lock.
    pub fn miss(&mut self) {
        self.missed += 1;
    }

    /// How many such attempts there were.
    pub fn missed(&self) -> usize {
        self.missed
    }

    pub fn sections(&self) -> &[Section] {
        &self.sections
    }
}

impl From<Vec<Section>> for Log {
    fn from(sections: Vec<Section>) -> Self {
        Self { sections, missed: 0 }
    }
}

/// What a lock guards.
#[derive(Debug, Default)]
pub struct Guarded {
    next: UnsafeCell<u32>,
    stamp: UnsafeCell<u64>,
}

// SAFETY: only the owner of the lock accesses it, which is what the tests check.
unsafe impl Sync for Guarded {}

impl Guarded {
    /// Begins a section. The caller has just acquired the lock, which it has wanted since `attempt`.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock, until [`end`](Self::end) has returned.
    pub unsafe fn begin<P: Host>(&self, lock: usize, how: How, attempt: u64) -> Section {
        let acquired = P::now().as_nanos();
        // SAFETY: as the caller promises.
        let (ticket, found) = unsafe { (self.next.get().read(), self.stamp.get().read()) };
        Section { lock: lock as u32, ticket, found, attempt, acquired, how, ..Section::default() }
    }

    /// Ends a section. The caller is about to unlock.
    ///
    /// # Safety
    ///
    /// The calling thread has owned the lock since it began this section.
    pub unsafe fn end<P: Host>(&self, mut section: Section, rng: &mut Rng, log: &mut Log) {
        section.left = rng.u64(..);
        // SAFETY: as the caller promises.
        unsafe {
            self.next.get().write(section.ticket + 1);
            self.stamp.get().write(section.left);
        }
        section.unlocked = P::now().as_nanos();
        log.push(section);
    }

    /// How many sections there were.
    pub fn sections(&mut self) -> u32 {
        *self.next.get_mut()
    }
}
