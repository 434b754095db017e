//! The file of a recording, version 4: what the recorder maps, and what the reader reads.
//!
//! One file is one process image. It has a fixed layout, so that it needs no allocation, no index and no
//! end: it can be read while the process runs, and after the process ended in whatever way.
//!
//! ```text
//! 0        ┌────────────────────────────────────────────────────────────────┐
//!          │ Header     magic, version, size; process; clock; costs; drops  │
//!          ├────────────────────────────────────────────────────────────────┤
//!  room    │ u64[512]         a bit for each page that the disk has room for  │
//!          ├────────────────────────────────────────────────────────────────┤
//!  places  │ Place[16384]     by a lock's address, open addressing: its entry │
//!          ├────────────────────────────────────────────────────────────────┤
//!  locks   │ Lock[8192]       appended; its totals, its two histograms, its   │
//!          │                  account of waiting threads                      │
//!          ├────────────────────────────────────────────────────────────────┤
//!  samples │ Sample[65536]    by (lock, role, stack): how often, how long     │
//!          ├────────────────────────────────────────────────────────────────┤
//!  stacks  │ Stack[32768]     by hash; where its frames are                   │
//!          ├────────────────────────────────────────────────────────────────┤
//!  frames  │ u64[1048576]     return addresses, innermost first, appended     │
//!          ├────────────────────────────────────────────────────────────────┤
//!  ranges  │ (from, to)[8192] what addresses were mapped at the last snapshot │
//!          ├────────────────────────────────────────────────────────────────┤
//!  maps    │ u8[1 MiB]        lines of /proc/self/maps, snapshots appended    │
//!          ├────────────────────────────────────────────────────────────────┤
//!  tracks  │ Track[128]       by thread: bursts of what it did with locks     │
//!          └────────────────────────────────────────────────────────────────┘
//!                             only in a file with bursts: see `Tracked`
//! ```
//!
//! Every field is an atomic of the machine's byte order, and zero means "nothing yet": a new file is a
//! hole of zeros, and pages that are never written take no space. A table that is full counts what it
//! could not take in `dropped_*` of the header.
//!
//! Times are ticks of the clock that the header names. The reader converts them by two moments at which
//! ticks and nanoseconds were read together.
//!
//! A change to anything here raises [`VERSION`].

use core::mem::offset_of;
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// The first eight bytes of a file, as a number of the machine's byte order.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"ondeckPF");

/// The layout that this module describes.
pub const VERSION: u32 = 4;

/// How a recording's file is named behind the process id and a number: `4711.0.ondeck-profile`.
pub const EXTENSION: &str = "ondeck-profile";

/// Locks that a file has room for.
pub const LOCKS: usize = 8_192;
/// Places in the table by which a lock is found: twice as many, so that the search is short.
pub const PLACES: usize = 2 * LOCKS;
/// Places in the table of samples.
pub const SAMPLES: usize = 65_536;
/// Places in the table of stacks.
pub const STACKS: usize = 32_768;
/// Return addresses that all stacks together have room for.
pub const FRAMES: usize = 1 << 20;
/// Ranges of addresses that a snapshot of the mappings has room for.
pub const RANGES: usize = 8_192;
/// Bytes for the snapshots of the mappings.
pub const MAPS: usize = 1 << 20;
/// The most frames of one stack; callers further out are left off.
pub const DEPTH: usize = 64;

/// Threads whose operations are recorded.
pub const TRACKS: usize = 128;
/// Bursts that are kept of a thread.
pub const BURSTS: usize = 16;
/// Operations of a burst.
pub const OPERATIONS: usize = 512;
/// Call sites that a thread remembers the stacks of; a power of two.
pub const SITES: usize = 64;

/// Bits of a value that a bucket of a histogram keeps: a bucket is at most 1/8 wide.
const PRECISION: u32 = 3;
/// Values from this power of two on are in the last bucket: more than an hour of ticks.
const LARGEST: u32 = 44;
/// Buckets of a histogram.
pub const BUCKETS: usize = ((LARGEST - PRECISION + 1) << PRECISION) as usize;

/// The bucket that a time is counted in.
#[inline]
pub fn bucket_of(ticks: u64) -> usize {
    let small = 1 << PRECISION;
    if ticks < small {
        return ticks as usize;
    }
    let power = ticks.ilog2();
    if power >= LARGEST {
        return BUCKETS - 1;
    }
    let within = (ticks >> (power - PRECISION)) & (small - 1);
    (((power - PRECISION + 1) << PRECISION) + within as u32) as usize
}

/// The least time that is counted in a bucket, and the least one that is counted in the next.
pub fn bounds_of(bucket: usize) -> (u64, u64) {
    let low = |bucket: usize| {
        let (power, within) = (bucket >> PRECISION, bucket as u64 & ((1 << PRECISION) - 1));
        if power == 0 { within } else { ((1 << PRECISION) + within) << (power - 1) }
    };
    (low(bucket), low(bucket + 1))
}

/// Kinds of locks beyond glibc's `__kind` values 0 to 3.
pub mod kind {
    /// `PTHREAD_MUTEX_TIMED_NP`, the default of glibc's mutexes.
    pub const DEFAULT: u32 = 0;
    /// `PTHREAD_MUTEX_RECURSIVE`.
    pub const RECURSIVE: u32 = 1;
    /// `PTHREAD_MUTEX_ERRORCHECK`.
    pub const ERRORCHECK: u32 = 2;
    /// `PTHREAD_MUTEX_ADAPTIVE_NP`.
    pub const ADAPTIVE: u32 = 3;
    /// A mutex of the crate `ondeck`, one byte: its acquisitions are not counted.
    pub const ONDECK: u32 = 256;
    /// A `pthread_rwlock_t`, read or written: its acquisitions are not counted, and readers are charged with no wait.
    pub const RWLOCK: u32 = 257;
}

/// What a thread of a sample did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Role {
    /// It owned the lock while others waited; its time is the sum of theirs.
    Holder = 0,
    /// It waited for the lock.
    Waiter = 1,
}

/// The head of a file.
#[repr(C, align(4096))]
pub struct Header {
    /// [`MAGIC`], written last: a file without it was not finished.
    pub magic: AtomicU64,
    /// [`VERSION`].
    pub version: AtomicU32,
    /// The process.
    pub pid: AtomicU32,
    /// The length of the file in bytes.
    pub size: AtomicU64,
    /// The parent of the process at the beginning.
    pub parent: AtomicU32,
    /// Threads that a record was made of.
    pub threads: AtomicU32,
    /// Ticks at the beginning, together with the next two.
    pub start_ticks: AtomicU64,
    /// `CLOCK_MONOTONIC` at the beginning, in nanoseconds.
    pub start_monotonic: AtomicU64,
    /// `CLOCK_REALTIME` at the beginning, in nanoseconds.
    pub start_realtime: AtomicU64,
    /// Ticks a second as measured at the beginning.
    pub rate: AtomicU64,
    /// Ticks at a later moment, together with the next one; 0 if there was none.
    pub later_ticks: AtomicU64,
    /// `CLOCK_MONOTONIC` at that moment.
    pub later_monotonic: AtomicU64,
    /// 1 if the process ended as a program does, so that all counts are its last ones.
    pub ended: AtomicU32,
    /// 1 if locks may have counted acquisitions before this file was made.
    pub counted_before: AtomicU32,
    /// 1 while a thread copies `/proc/self/maps`.
    pub copying_maps: AtomicU32,
    /// How often `/proc/self/maps` was copied.
    pub snapshots: AtomicU32,
    /// Stacks that were taken.
    pub stacks_taken: AtomicU64,
    /// Ticks that taking them took.
    pub stack_ticks: AtomicU64,
    /// What a wait costs that is not recorded, in sixteenths of a tick.
    pub look_sixteenths: AtomicU64,
    /// Entries used in `locks`; may be more than there are.
    pub locks_used: AtomicU64,
    /// Return addresses used in `frames`; may be more than there are.
    pub frames_used: AtomicU64,
    /// Ranges in `ranges`.
    pub ranges_used: AtomicU64,
    /// Bytes used in `maps`.
    pub maps_used: AtomicU64,
    /// Waits and holds of locks that found no place.
    pub dropped_locks: AtomicU64,
    /// Stacks that found no place.
    pub dropped_stacks: AtomicU64,
    /// Samples that found no place.
    pub dropped_samples: AtomicU64,
    /// Snapshots of the mappings that found no room.
    pub dropped_maps: AtomicU64,
    /// Entries used in `tracks`; may be more than there are.
    pub tracks_used: AtomicU64,
    /// The path of the program, ended by a zero.
    pub program: [AtomicU8; 1024],
    /// Its arguments, each ended by a zero; the end of many is cut off.
    pub arguments: [AtomicU8; 2048],
}

/// Which pages of the file were written once.
#[repr(C, align(4096))]
pub struct Room {
    /// A bit for each [`PAGE`] of the file.
    pub pages: [AtomicU64; 512],
}

/// The unit of [`Room`], in bytes: no system has smaller pages.
pub const PAGE: usize = 4_096;

/// Where the entry of a lock is. Apart from the entries, so that the pages of a table that is searched at
/// random are few.
#[repr(C)]
pub struct Place {
    /// The lock's address; 0 in a free place.
    pub address: AtomicU64,
    /// The number of its entry, plus 1; 0 until that is known.
    pub entry: AtomicU64,
}

/// A lock, and everything that was recorded of it except stacks.
///
/// # The account
///
/// How long threads were kept waiting by an owner is the time integral of the number of threads that
/// wait, from the unlock before to the owner's own. With `waiting` threads now, that integral since the
/// beginning is `area + waiting × now`, if each arrival at `t` subtracts `t` from `area` and each
/// acquisition at `t` adds it; `charged` is what owners before have been charged with. So all charges
/// together, and `rest`, are all waits together. A thread that is recorded for `w` threads like it counts `w` times.
///
/// `begun` and `done` count changes: when both are the same before and after, what lies between was read
/// whole.
#[repr(C, align(64))]
pub struct Lock {
    /// Its address; 0 until the entry is used.
    pub address: AtomicU64,
    /// Its [`kind`].
    pub kind: AtomicU32,
    /// The number of the stack that initialized it, plus 1; 0 if that is not known.
    pub created: AtomicU32,
    /// Changes of the account that have begun.
    pub begun: AtomicU32,
    /// Changes of the account that are done.
    pub done: AtomicU32,
    /// Threads that wait.
    pub waiting: AtomicU64,
    /// The integral less `waiting × now`, modulo 2^64.
    pub area: AtomicU64,
    /// What owners have been charged with, in ticks.
    pub charged: AtomicU64,
    /// When the first of the waiting threads came, or the last recorded unlock.
    pub since: AtomicU64,
    /// What the count of acquisitions is less by, modulo 2^64: what the lock had counted before it was first
    /// seen here, less what locks had counted that were at this address before.
    pub acquisitions_before: AtomicU64,
    /// Acquisitions, as counted in the lock itself when it was last recorded.
    pub acquisitions: AtomicU64,
    /// Records made, of waits and of holds.
    pub events: AtomicU64,
    /// Ticks that making them took, without their stacks.
    pub event_ticks: AtomicU64,
    /// What no owner was charged with, in ticks: threads waited while the lock was free, or while an owner held it that
    /// no record stands for. `charged` includes it.
    pub rest: AtomicU64,
    /// The hold that a thread was seen to have when another one parked, by the lock's count of
    /// acquisitions.
    pub turn: AtomicU64,
    /// Since when that hold has lasted at least.
    pub turn_since: AtomicU64,
    /// Not 0 if the next unlock is to be recorded, of a lock that has no room for that itself.
    pub request: AtomicU32,
    /// How often another lock was initialized at this address.
    pub reused: AtomicU32,
    /// Waits that have ended.
    pub waits: AtomicU64,
    /// Their ticks.
    pub wait_ticks: AtomicU64,
    /// The longest one that was recorded.
    pub wait_longest: AtomicU64,
    /// Waits that ended at their deadline without the lock.
    pub timeouts: AtomicU64,
    /// Holds that were recorded because threads waited at their end.
    pub holds: AtomicU64,
    /// Their ticks.
    pub hold_ticks: AtomicU64,
    /// The longest one.
    pub hold_longest: AtomicU64,
    /// Which threads took part, by their number modulo 256.
    pub threads: [AtomicU64; 4],
    /// How many waits were how long.
    pub wait_times: [AtomicU64; BUCKETS],
    /// How many of the recorded holds were how long.
    pub hold_times: [AtomicU64; BUCKETS],
}

/// What threads with the same stack did with the same lock.
#[repr(C)]
pub struct Sample {
    /// [`sample_key`]; 0 in a free place.
    pub key: AtomicU64,
    /// How often.
    pub count: AtomicU64,
    /// For how long, in ticks.
    pub ticks: AtomicU64,
    /// The longest single time, in ticks.
    pub longest: AtomicU64,
}

/// A stack.
#[repr(C)]
pub struct Stack {
    /// A hash of its frames; 0 in a free place.
    pub hash: AtomicU64,
    /// Where its frames begin times 256, plus how many they are; 0 until they are written.
    pub place: AtomicU64,
}

/// What a thread does with a lock or a condition variable.
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
    /// Unlocks a mutex, waits for a notification, and has locked the mutex again. It took the time without the mutex.
    Wait = 5,
    /// Notifies the waiters of a condition variable.
    Notify = 6,
    /// Was blocked elsewhere: slept, or waited for another thread or for a device.
    Blocked = 7,
}

impl Action {
    /// The action of that number.
    pub fn of(number: u32) -> Option<Self> {
        [Self::Lock, Self::Read, Self::Write, Self::Unlock, Self::Wait, Self::Notify, Self::Blocked]
            .into_iter()
            .find(|action| *action as u32 == number)
    }
}

/// One operation.
#[repr(C)]
pub struct Operation {
    /// Ticks that the thread worked before it, since the operation before.
    pub before: AtomicU64,
    /// Ticks that it took.
    pub took: AtomicU64,
    /// The address of the lock or the condition variable.
    pub object: AtomicU64,
    /// Its [`Action`].
    pub action: AtomicU32,
    /// The number of the stack that it was called with, plus 1; 0 if that is not known.
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

/// A call site whose stack was taken.
#[repr(C)]
pub struct Site {
    /// What it is known by; 0 in a free place.
    pub key: AtomicU64,
    /// The number of its stack, plus 1.
    pub stack: AtomicU64,
}

/// A thread whose operations are recorded. Only that thread writes it.
///
/// The first fields are what the thread keeps to itself; the reader needs `acquisitions`, `overhead` and `bursts`.
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
    /// Bursts' lengths until then, on average.
    pub pause: AtomicU64,
    /// The burst that is being recorded, plus 1; 0 if none is.
    pub current: AtomicU64,
    /// When the last operation of that burst ended.
    pub last: AtomicU64,
    /// The thread's CPU time when it was last asked for, in nanoseconds.
    pub cpu: AtomicU64,
    /// When that was, in ticks.
    pub cpu_at: AtomicU64,
    /// How often the thread had blocked by then.
    pub blocked: AtomicU64,
    /// What chance is drawn from.
    pub random: AtomicU64,
    /// Call sites.
    pub sites: [Site; SITES],
    /// What is kept: of all bursts that have begun each with the same probability.
    pub bursts: [Burst; BURSTS],
}

/// The whole file.
#[repr(C)]
pub struct File {
    /// Its head.
    pub header: Header,
    /// Which pages have room.
    pub room: Room,
    /// Where locks are.
    pub places: [Place; PLACES],
    /// The locks.
    pub locks: [Lock; LOCKS],
    /// The samples.
    pub samples: [Sample; SAMPLES],
    /// The stacks.
    pub stacks: [Stack; STACKS],
    /// Their frames.
    pub frames: [AtomicU64; FRAMES],
    /// The ranges of addresses of the last snapshot, ascending.
    pub ranges: [[AtomicU64; 2]; RANGES],
    /// The snapshots themselves: lines of `/proc/self/maps` that name a file or a purpose.
    pub maps: [AtomicU8; MAPS],
}

/// The length of a file in bytes. Most of it is a hole. A disk that could not take all of it gets no file.
pub const SIZE: usize = size_of::<File>();
/// The /dev/shm of a container has 64 MB.
const _: () = assert!(SIZE < 64 << 20);

/// A file with the operations of threads.
#[repr(C)]
pub struct Tracked {
    /// What every file has.
    pub file: File,
    /// The threads.
    pub tracks: [Track; TRACKS],
}

/// The length of such a file.
pub const TRACKED_SIZE: usize = size_of::<Tracked>();
/// A thread asks for the room of its first page, and for that of each burst.
const _: () = assert!(offset_of!(Track, bursts) <= PAGE);

/// The key of a sample.
#[inline]
pub fn sample_key(lock: usize, role: Role, stack: u32) -> u64 {
    1 << 63 | (role as u64) << 62 | (lock as u64) << 32 | u64::from(stack)
}

/// What [`sample_key`] was made of: the lock's number, the role, the stack's place.
pub fn of_sample_key(key: u64) -> (usize, Role, u32) {
    let role = if key >> 62 & 1 == 0 { Role::Holder } else { Role::Waiter };
    ((key >> 32) as usize & (LOCKS - 1), role, key as u32)
}

/// Where a table that is searched by `key` is looked at first.
#[inline]
pub fn place_of(key: u64, places: usize) -> usize {
    /// The golden ratio's: spreads what differs in low bits over the high ones.
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    (key.wrapping_mul(GOLDEN) >> 32) as usize & (places - 1)
}

/// Copies the text that begins at the start of `bytes`, up to `buffer`'s length; says how much.
pub fn copy(bytes: &[AtomicU8], buffer: &mut [u8]) -> usize {
    for (to, from) in buffer.iter_mut().zip(bytes) {
        *to = from.load(Ordering::Relaxed);
    }
    buffer.len().min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_time_is_within_the_bounds_of_its_bucket() {
        for power in 0..LARGEST {
            for ticks in [1_u64 << power, (1 << power) + (1 << power) / 3, (2 << power) - 1] {
                let (low, high) = bounds_of(bucket_of(ticks));
                assert!(low <= ticks && ticks < high, "{ticks} is not in {low}..{high}");
                assert!(ticks < 8 || (high - low) * 8 <= low, "{low}..{high} is wider than 1/8");
            }
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn a_key_says_what_it_was_made_of() {
        for (lock, role, stack) in
            [(0, Role::Holder, 0), (LOCKS - 1, Role::Waiter, STACKS as u32 - 1)]
        {
            let key = sample_key(lock, role, stack);
            assert_ne!(key, 0);
            assert_eq!(of_sample_key(key), (lock, role, stack));
        }
    }

    /// Readers of other builds find the fields where this version has them.
    #[test]
    fn the_layout_is_that_of_version_4() {
        assert_eq!((size_of::<Header>(), size_of::<Lock>()), (4096, 5632));
        assert_eq!((size_of::<Sample>(), size_of::<Stack>()), (32, 16));
        assert_eq!((size_of::<Operation>(), size_of::<Track>()), (32, 266_240));
        assert_eq!((SIZE, TRACKED_SIZE), (58_597_376, 92_676_096));
        assert!(TRACKED_SIZE / PAGE < 64 * size_of::<Room>() / 8);
    }
}
