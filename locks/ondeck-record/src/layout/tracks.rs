//! The part of a file that has the operations of threads, one by one.

use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, AtomicU64};

use super::{File, PAGE};

/// The number of threads whose operations are recorded.
pub const TRACKS: usize = 128;
/// The number of bursts kept for a thread.
pub const BURSTS: usize = 16;
/// Operations of a burst.
pub const OPERATIONS: usize = 512;
/// The number of call sites whose stacks a thread remembers; a power of two.
pub const SITES: usize = 64;
/// The number of kinds of long sections that a thread has room for.
pub const LONG: usize = 16;

/// An operation of a thread on a lock or a condition variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Action {
    /// Locks a mutex.
    Lock = 1,
    /// Locks a reader-writer lock to read.
    Read = 2,
    /// Locks a reader-writer lock to write.
    Write = 3,
    /// Unlocks any of these.
    Unlock = 4,
    /// Unlocks a mutex, waits for a notification, and locks the mutex again. Its time is the time
    /// without the mutex.
    Wait = 5,
    /// Notifies the waiters of a condition variable.
    Notify = 6,
    /// Was blocked elsewhere: slept, or waited for another thread or for a device.
    Blocked = 7,
    /// Called sched_yield(2), perhaps several times.
    Yield = 8,
}

impl Action {
    /// Returns the action of that number.
    pub fn of(number: u32) -> Option<Self> {
        use Action::{Blocked, Lock, Notify, Read, Unlock, Wait, Write, Yield};
        [Lock, Read, Write, Unlock, Wait, Notify, Blocked, Yield]
            .into_iter()
            .find(|action| *action as u32 == number)
    }
}

/// One operation.
#[repr(C)]
pub struct Operation {
    /// Ticks of work since the previous operation.
    pub before: AtomicU64,
    /// Ticks that it took.
    pub took: AtomicU64,
    /// The address of the lock or the condition variable.
    pub object: AtomicU64,
    /// Its [`Action`].
    pub action: AtomicU32,
    /// The number of its call's stack, plus 1; 0 if that is not known.
    pub site: AtomicU32,
}

/// Consecutive operations of a thread.
#[repr(C)]
pub struct Burst {
    /// How many operations it has.
    pub used: AtomicU64,
    /// Acquisitions of the thread before its first.
    pub first: AtomicU64,
    /// When it began, in ticks.
    pub begun: AtomicU64,
    /// The operations.
    pub operations: [Operation; OPERATIONS],
}

/// A call site whose stack was recorded.
#[repr(C)]
pub struct Site {
    /// Its key; 0 in a free place.
    pub key: AtomicU64,
    /// The number of its stack, plus 1.
    pub stack: AtomicU64,
}

/// The sections of a lock that were long, from one call site. A section ends with the unlock of the
/// lock that began it; waits for other locks do not count.
#[repr(C)]
pub struct Long {
    /// The address of the lock; 0 in a free place.
    pub object: AtomicU64,
    /// The number of the call's stack, plus 1; 0 if that is not known.
    pub site: AtomicU64,
    /// The [`Action`] that began them.
    pub action: AtomicU64,
    /// The number of such sections.
    pub count: AtomicU64,
    /// Their ticks of work.
    pub worked: AtomicU64,
    /// The ticks in which the thread was blocked.
    pub blocked: AtomicU64,
}

/// A thread whose operations are recorded. Only that thread writes it.
///
/// The first fields are private to the thread; the reader needs `acquisitions`, `overhead`, `long`
/// and `bursts`.
#[repr(C, align(4096))]
pub struct Track {
    /// Locks that the thread has acquired, also outside of bursts.
    pub acquisitions: AtomicU64,
    /// Ticks between two operations, with no work in between.
    pub overhead: AtomicU64,
    /// Bursts that have begun.
    pub begun: AtomicU64,
    /// Acquisitions until the next burst.
    pub skip: AtomicU64,
    /// The average pause, in lengths of a burst.
    pub pause: AtomicU64,
    /// The burst that is being recorded, plus 1; 0 if none is.
    pub current: AtomicU64,
    /// When the last operation of that burst ended.
    pub last: AtomicU64,
    /// The thread's CPU time when it was last read, in nanoseconds.
    pub cpu: AtomicU64,
    /// When that was, in ticks.
    pub cpu_at: AtomicU64,
    /// The number of times that the thread had blocked at that moment.
    pub blocked: AtomicU64,
    /// The number of times that the thread had lost its CPU at that moment.
    pub preempted: AtomicU64,
    /// The lock that began the thread's section; 0 outside of sections.
    pub held: AtomicU64,
    /// The number of that call's stack, plus 1.
    pub held_site: AtomicU64,
    /// The [`Action`] that began it.
    pub held_action: AtomicU64,
    /// When the section began, in ticks.
    pub held_since: AtomicU64,
    /// Ticks of other operations in the section.
    pub held_other: AtomicU64,
    /// Ticks of work in the section, and ticks in which the thread was blocked, as far as they are
    /// in a burst.
    pub held_worked: AtomicU64,
    /// The second of these.
    pub held_blocked: AtomicU64,
    /// When the last section ended, in ticks.
    pub released: AtomicU64,
    /// The state of the random number generator.
    pub random: AtomicU64,
    /// Call sites.
    pub sites: [Site; SITES],
    /// All sections that took longer than 20 µs.
    pub long: [Long; LONG],
    /// The kept bursts: each burst that has begun is kept with the same probability.
    pub bursts: [Burst; BURSTS],
}

/// A file with the operations of threads.
#[repr(C)]
pub struct Tracked {
    /// The part that every file has.
    pub file: File,
    /// The threads.
    pub tracks: [Track; TRACKS],
}

/// The length of such a file.
pub const TRACKED_SIZE: usize = size_of::<Tracked>();
/// A thread requests the room for its first page, and for each burst.
const _: () = assert!(offset_of!(Track, bursts) <= PAGE);
