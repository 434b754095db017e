//! The parking table, which keeps the waiting threads of every lock outside of the locks.
//!
//! After its store, an unlock must not touch the lock: another thread may acquire it, unlock it and
//! free it. So the state that an unlock must read, whether a thread is parked and whether one polls
//! already, is in a static table keyed by the lock's address.
//!
//! ```text
//! address ─hash─► unlock mode[i]  one word: has an unlock any request to serve?
//!                 bucket[i]       queues of waiting threads
//! ```
//!
//! | file | what |
//! |---|---|
//! | `unlock_mode.rs` | the word that every unlock loads |
//! | `bucket.rs` | a bucket, and the guard of its lock |
//! | `history.rs` | the history of a contended mutex |
//! | `queue.rs` | the queues of a bucket |
//! | `node.rs` | a waiting thread |
//! | `futex.rs` | how a thread sleeps on a word |
//! | `sleep.rs` | how a thread with a node sleeps |
//! | `lock.rs` | the bucket's lock |
//! | `rest.rs` | a time for which threads do not try again what did not pay |
//! | `watches.rs` | whether waiters of condition variables and keys are notified soon |
//! | `visible.rs` | which locks threads read, for reader-writer locks |
//! | `park.rs` | for locks of other crates: [`park`], [`unpark`], [`requeue`] |
//! | `chosen.rs` | threads that are about to be woken |
//! | `line.rs` | for this crate's other locks: the queue of a key, under the bucket's lock |
//!
//! # An address is no identity
//!
//! Memory is freed and used again while an unlock is between its store and its look at the table.
//! The address of a mutex may then belong to another mutex, a condition variable, or a user's key.
//! Therefore:
//!
//! 1. A node records what it waits for: a lock, a condition variable, a key. Only nodes of the same
//!    kind are compared by address.
//! 2. An unlock does only what an unlock of any lock at that address may do: it makes one of that
//!    lock's threads compete for it, or acquires it on behalf of one and offers it.
//! 3. An unlock dereferences the pointer of a linked node and no other. A linked node proves that
//!    its mutex is in use.
//!
//! # Isolation
//!
//! The cost of a lock depends on its own waiters. An unlock of a lock that no thread waits for
//! reads the bucket's unlock mode, and searches it for its own tag if another lock has a request.
//! Queues are found by their first nodes, so the length of another queue does not matter. Roles and
//! times belong to a queue.
//!
//! Nothing here allocates, and no thread needs to be registered: a node lives on its thread's stack
//! while it waits. So these locks may be used inside a global allocator, in destructors of
//! thread-local values, and in threads that no runtime knows. The child of a fork finds the table
//! empty.

mod bucket;
mod chosen;
mod futex;
mod history;
mod line;
mod lock;
mod node;
mod park;
mod queue;
mod rest;
mod sleep;
pub(crate) mod unlock_mode;
mod visible;
mod watches;

pub use bucket::Bucket;
pub(crate) use bucket::Guard;
pub(crate) use chosen::Chosen;
pub(crate) use futex::sleep_while;
pub(crate) use history::{Arrival, History, TURN_NANOS};
#[cfg(feature = "internals")]
pub use line::waiting;
pub(crate) use line::{Line, Waited};
pub(crate) use node::{Distance, Kind, Node, is_known, place, status};
pub use park::{Choice, Parked, Requeue, Unparked, park, requeue, unpark};
pub(crate) use sleep::{Slice, end_of_sleep};
#[cfg(feature = "internals")]
pub use unlock_mode::QUIET as UNLOCK_MODE_QUIET;
pub(crate) use unlock_mode::{QUIET, Request};
pub use visible::{BIASES, Bias, Row, bias_of};

use crate::machine::{Estimates, Fences, Threads};

/// A machine with a parking table, for this crate's own locks.
///
/// A lock that keeps its waiters in its own words, or in nodes that the waiters bring, needs only a
/// [`Platform`](crate::platform::Platform). [`RawMutex`](crate::mutex::RawMutex),
/// [`RawCondvar`](crate::condvar::RawCondvar) and the functions of this module need a host.
///
/// A machine must provide the table. The rows of visible readers have defaults, which are right for
/// every machine: there are none.
///
/// # Safety
///
/// The locks of this crate rely on a host for memory safety: they follow pointers to nodes on the
/// stacks of other threads, which they find in the table.
///
/// * [`bucket`](Self::bucket) and [`unlock_mode`](Self::unlock_mode) are functions of the address:
///   every call by every thread returns the same object. Two addresses have the same word if and
///   only if they have the same bucket.
/// * A bucket begins as [`Bucket::new`], a word as 0, and nothing but this crate changes them. The
///   child of a fork that can use locks finds all of them as they began.
/// * No two threads have the same [`row`](Self::row) at the same time. A thread that gets the row
///   of another finds its slots empty, and all that the other did with the row happened before.
///   [`rows`](Self::rows) includes each row that the caller can know of: each that a thread stored
///   to before a light fence of that thread which pairs with a heavy fence of the caller.
/// * [`bias`](Self::bias) is a function of the address. Nothing but this crate changes rows and
///   biases.
pub unsafe trait Host: Fences + Estimates + Threads {
    /// Returns the unlock mode for the lock at `address`: a word of the parking table with the
    /// request that an unlock must serve after its store. See [`parking`](crate::parking).
    fn unlock_mode(address: usize) -> &'static Self::AtomicUsize;

    /// Returns the bucket of the parking table for the lock at `address`.
    fn bucket(address: usize) -> &'static Bucket<Self>;

    /// Returns the address by which the words of visible readers are chosen: on a real machine, the
    /// address itself. A machine whose runs must all be alike returns one that does not depend on
    /// where memory was allocated.
    ///
    /// It is an injective function of the address.
    #[inline(always)]
    fn name_of(address: usize) -> usize {
        address
    }

    /// Returns the row in which the calling thread publishes the reader-writer locks that it reads.
    /// Returns `None` where threads have no row, or no longer have one: then locks count their
    /// readers.
    #[inline(always)]
    fn row() -> Option<&'static Row<Self>> {
        None
    }

    /// Returns the row in which the calling thread may have published a lock that it now unlocks:
    /// also where [`row`](Self::row) no longer returns it.
    #[inline]
    fn kept_row() -> Option<&'static Row<Self>> {
        Self::row()
    }

    /// Returns the rows of all threads that have had one.
    #[inline]
    fn rows() -> &'static [Row<Self>] {
        &[]
    }

    /// Returns the word by which writers signal to visible readers of the lock at `address`; `None`
    /// where there are none.
    #[inline(always)]
    fn bias(_address: usize) -> Option<&'static Bias<Self>> {
        None
    }
}

/// The number of buckets of a real machine's table. A collision costs time, never correctness. The
/// unlock modes of 1,024 buckets take 8 KiB; of the buckets themselves, a program touches only
/// those with contended locks.
pub const BUCKETS: usize = 1 << BUCKET_BITS;
const BUCKET_BITS: u32 = 10;

/// Returns the bucket of an address: Fibonacci hashing (Knuth, volume 3, section 6.4), because
/// locks of an array differ by one or a few bytes, and heap addresses in their middle bits.
#[inline(always)]
pub const fn bucket_of(address: usize) -> usize {
    (hash_of(address) >> (u64::BITS - BUCKET_BITS)) as usize
}

#[inline(always)]
const fn hash_of(address: usize) -> u64 {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    (address as u64).wrapping_mul(GOLDEN)
}

/// Returns whether the moment `then` has come, on a tick counter that wraps.
pub(crate) fn has_come(now: usize, then: usize) -> bool {
    now.wrapping_sub(then).cast_signed() >= 0
}

/// Returns whether the two times are less than `ticks` apart. `then` may be later: it may come from
/// another CPU's counter, or have been read after `now`. A counter that has gone back far is not
/// near, and neither is one that has wrapped around.
pub(crate) fn is_near(now: usize, then: usize, ticks: usize) -> bool {
    now.wrapping_sub(then).cast_signed().unsigned_abs() < ticks
}
