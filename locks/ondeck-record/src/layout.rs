//! The file of a recording, version 7, which the recorder maps and the reader reads.
//!
//! One file is for one process image. Its layout is fixed, so it needs no allocation, no index and
//! no trailer: it can be read while the process runs, and after the process ended in any way.
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
//!  tracks  │ Track[128]       by thread: bursts of its lock operations        │
//!          └────────────────────────────────────────────────────────────────┘
//!                             only in a file with bursts: see `Tracked`
//! ```
//!
//! Every field is an atomic in the machine's byte order, and zero means "nothing yet": a new file
//! is a hole of zeros, and pages that are never written take no space. The `dropped_*` fields of
//! the header count entries for which a table or the disk had no room.
//!
//! Times are in ticks of the clock that the header names. The reader converts them with two moments
//! at which ticks and nanoseconds were read together.
//!
//! A change to anything here raises [`VERSION`].

mod tracks;

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

pub use tracks::{
    Action, BURSTS, Burst, LONG, Long, OPERATIONS, Operation, SITES, Site, TRACKED_SIZE, TRACKS,
    Track, Tracked,
};

/// The first eight bytes of a file, as a number in the machine's byte order.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"ondeckPF");

/// The layout that this module describes.
pub const VERSION: u32 = 7;

/// The suffix of a recording's file name, after the process id and a number:
/// `4711.0.ondeck-profile`.
pub const EXTENSION: &str = "ondeck-profile";

/// Locks that a file has room for.
pub const LOCKS: usize = 8_192;
/// Places in the table that finds a lock: twice the number of locks, so that the search is short.
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
/// The most frames of one stack; further callers are left out.
pub const DEPTH: usize = 64;

/// The beginning of a line among the snapshots that has the build-id of the file in the line before
/// it.
pub const BUILD_ID: &[u8] = b"build-id ";

/// The precision of a histogram in bits: a bucket is at most 1/8 wide.
const PRECISION: u32 = 3;
/// Values from this power of two on go into the last bucket: more than an hour of ticks.
const LARGEST: u32 = 44;
/// Buckets of a histogram.
pub const BUCKETS: usize = ((LARGEST - PRECISION + 1) << PRECISION) as usize;

/// Returns the bucket that counts a time.
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

/// Returns the smallest time of a bucket, and the smallest time of the next.
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
    /// A `pthread_rwlock_t`, read or written: its acquisitions are not counted, and readers are not
    /// charged for waits.
    pub const RWLOCK: u32 = 257;
    /// A futex of the program, [observed](crate::observed): its entry is for one place that waits
    /// there, whose stack is in `created`. The other kinds from here on are observed also: their
    /// acquisitions are not counted.
    pub const FUTEX: u32 = 512;
    /// A `pthread_mutex_t` or `mtx_t` of the C library.
    pub const OBSERVED_MUTEX: u32 = 513;
    /// A `pthread_rwlock_t` of the C library.
    pub const OBSERVED_RWLOCK: u32 = 514;
    /// A `pthread_cond_t` or `cnd_t`: holders are those that notified.
    pub const CONDVAR: u32 = 515;
    /// A `sem_t`: holders are those that posted.
    pub const SEMAPHORE: u32 = 516;
    /// A `pthread_barrier_t`: holders are those that arrived later.
    pub const BARRIER: u32 = 517;
    /// Calls of sched_yield(2), one entry for each place; no thread is charged for them.
    pub const YIELD: u32 = 518;
}

/// The role of a thread in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Role {
    /// It owned the lock while others waited; the sample's time is the sum of their waits.
    Holder = 0,
    /// It waited for the lock.
    Waiter = 1,
}

/// The head of a file.
#[repr(C, align(4096))]
pub struct Header {
    /// [`MAGIC`], written last: a file without it is unfinished.
    pub magic: AtomicU64,
    /// [`VERSION`].
    pub version: AtomicU32,
    /// The process.
    pub pid: AtomicU32,
    /// The length of the file in bytes.
    pub size: AtomicU64,
    /// The parent of the process at the beginning.
    pub parent: AtomicU32,
    /// The number of threads that have made a record.
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
    /// 1 if the process ended by `exit` or by returning from `main`, so that all counts are final.
    pub ended: AtomicU32,
    /// 1 if locks may have counted acquisitions before this file was made.
    pub counted_before: AtomicU32,
    /// 1 while a thread copies `/proc/self/maps`.
    pub copying_maps: AtomicU32,
    /// The number of times that `/proc/self/maps` was copied.
    pub snapshots: AtomicU32,
    /// The number of stacks that were recorded.
    pub stacks_taken: AtomicU64,
    /// The ticks that recording them took.
    pub stack_ticks: AtomicU64,
    /// The cost of a wait that is not recorded, in sixteenths of a tick.
    pub look_sixteenths: AtomicU64,
    /// Entries used in `locks`; may exceed its size.
    pub locks_used: AtomicU64,
    /// Return addresses used in `frames`; may exceed its size.
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
    /// Entries used in `tracks`; may exceed its size.
    pub tracks_used: AtomicU64,
    /// Accesses to pages for which the disk had no room.
    pub refused_pages: AtomicU64,
    /// The path of the program, ended by a zero.
    pub program: [AtomicU8; 1024],
    /// Its arguments, each ended by a zero; a long list is cut off.
    pub arguments: [AtomicU8; 2048],
}

/// The pages of the file for which the disk has room.
#[repr(C, align(4096))]
pub struct Room {
    /// A bit for each [`PAGE`] of the file.
    pub pages: [AtomicU64; 512],
}

/// The unit of [`Room`], in bytes: no system has smaller pages.
pub const PAGE: usize = 4_096;

/// The place of a lock's entry. Separate from the entries, so that the table that is searched at
/// random has few pages.
#[repr(C)]
pub struct Place {
    /// The lock's address; 0 in a free place.
    pub address: AtomicU64,
    /// The number of its entry, plus 1; 0 until it is known.
    pub entry: AtomicU64,
}

/// A lock, and everything that was recorded about it except stacks.
///
/// # The account
///
/// The time for which an owner kept threads waiting is the time integral of the number of waiting
/// threads, from the previous unlock to the owner's unlock. If each arrival at `t` subtracts `t`
/// from `area` and each acquisition at `t` adds it, that integral since the beginning is
/// `area + waiting × now`, where `waiting` is the current number of waiting threads; `charged` is
/// the amount already charged to previous owners. So all charges plus `rest` equal the sum of all
/// waits. A thread that is recorded for `w` threads like it counts `w` times.
///
/// `begun` and `done` count changes: if both are equal before and after a read, the fields in
/// between were read consistently.
#[repr(C, align(64))]
pub struct Lock {
    /// Its address; 0 until the entry is used.
    pub address: AtomicU64,
    /// Its [`kind`].
    pub kind: AtomicU32,
    /// The number of the stack that initialized it, or that waits at a futex, plus 1; 0 if that is
    /// not known.
    pub created: AtomicU32,
    /// Changes of the account that have begun.
    pub begun: AtomicU32,
    /// Changes of the account that are done.
    pub done: AtomicU32,
    /// Threads that wait.
    pub waiting: AtomicU64,
    /// The integral less `waiting × now`, modulo 2^64.
    pub area: AtomicU64,
    /// The ticks that owners have been charged with.
    pub charged: AtomicU64,
    /// When the first of the waiting threads arrived, or when the last recorded unlock was.
    pub since: AtomicU64,
    /// An offset to subtract from the count of acquisitions, modulo 2^64: the lock's count when it
    /// was first seen here, less the counts of earlier locks at this address.
    pub acquisitions_before: AtomicU64,
    /// Acquisitions, as counted in the lock itself when it was last recorded.
    pub acquisitions: AtomicU64,
    /// Records made, of waits and of holds.
    pub events: AtomicU64,
    /// The ticks that making them took, without their stacks.
    pub event_ticks: AtomicU64,
    /// The ticks that no owner was charged with: threads waited while the lock was free, or while
    /// an owner held it that no record represents. `charged` includes them.
    pub rest: AtomicU64,
    /// The hold during which a thread parked, identified by the lock's count of acquisitions.
    pub turn: AtomicU64,
    /// A moment at which that hold had already begun.
    pub turn_since: AtomicU64,
    /// Not 0 if the next unlock must be recorded, for a lock that has no room for this flag itself.
    pub request: AtomicU32,
    /// The number of times that another lock was initialized at this address.
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
    /// The threads that took part, by their number modulo 256.
    pub threads: [AtomicU64; 4],
    /// The histogram of waits.
    pub wait_times: [AtomicU64; BUCKETS],
    /// The histogram of recorded holds.
    pub hold_times: [AtomicU64; BUCKETS],
    /// The first name that the program was seen to give it, or to give a lock that had its address
    /// before; zeros if there is none, and at the end. A long name is cut off.
    pub name: [AtomicU8; 48],
}

/// The events of threads with the same stack at the same lock.
#[repr(C)]
pub struct Sample {
    /// [`sample_key`]; 0 in a free place.
    pub key: AtomicU64,
    /// The number of events.
    pub count: AtomicU64,
    /// Their total time, in ticks.
    pub ticks: AtomicU64,
    /// The longest single event, in ticks.
    pub longest: AtomicU64,
}

/// A stack.
#[repr(C)]
pub struct Stack {
    /// A hash of its frames; 0 in a free place.
    pub hash: AtomicU64,
    /// The index of its first frame times 256, plus the number of frames; 0 until they are written.
    pub place: AtomicU64,
}

/// The whole file.
#[repr(C)]
pub struct File {
    /// Its head.
    pub header: Header,
    /// The pages that have room.
    pub room: Room,
    /// The places of locks.
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

/// The length of a file in bytes. Most of it is a hole. If the disk could not hold all of it, no
/// file is created.
pub const SIZE: usize = size_of::<File>();
/// The /dev/shm of a container has 64 MB.
const _: () = assert!(SIZE < 64 << 20);

/// Returns the key of a sample.
#[inline]
pub fn sample_key(lock: usize, role: Role, stack: u32) -> u64 {
    1 << 63 | (role as u64) << 62 | (lock as u64) << 32 | u64::from(stack)
}

/// Returns the parts of a [`sample_key`]: the lock's number, the role, the stack's place.
pub fn of_sample_key(key: u64) -> (usize, Role, u32) {
    let role = if key >> 62 & 1 == 0 { Role::Holder } else { Role::Waiter };
    ((key >> 32) as usize & (LOCKS - 1), role, key as u32)
}

/// Returns the place at which a search for `key` begins.
#[inline]
pub fn place_of(key: u64, places: usize) -> usize {
    /// Derived from the golden ratio: spreads differences in low bits over the high ones.
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    (key.wrapping_mul(GOLDEN) >> 32) as usize & (places - 1)
}

/// Copies the text at the start of `bytes`, up to `buffer`'s length. Returns its length.
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
    fn the_layout_is_that_of_version_7() {
        assert_eq!((size_of::<Header>(), size_of::<Lock>()), (4096, 5632));
        assert_eq!((size_of::<Sample>(), size_of::<Stack>()), (32, 16));
        assert_eq!((size_of::<Operation>(), size_of::<Track>()), (32, 266_240));
        assert_eq!((SIZE, TRACKED_SIZE), (58_597_376, 92_676_096));
        assert!(TRACKED_SIZE / PAGE < 64 * size_of::<Room>() / 8);
    }
}
