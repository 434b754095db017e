//! The parking table: where the waiting threads of every lock are kept, outside of the locks.
//!
//! A lock that is unlocked must not be touched again: another thread may acquire it, unlock it and
//! free it in between. So everything that an unlock has to know, whether a thread is parked and
//! whether one polls already, is in a static table keyed by the lock's address.
//!
//! ```text
//! address ─hash─► unlock mode[i]  one word: is an unlock asked to do anything?
//!                 bucket[i]       queues of waiting threads
//! ```
//!
//! | file | what |
//! |---|---|
//! | `unlock_mode.rs` | the word that every unlock loads |
//! | `bucket.rs` | a bucket, and its lock held |
//! | `history.rs` | what is remembered of a contended mutex |
//! | `queue.rs` | the queues of a bucket |
//! | `node.rs` | a waiting thread |
//! | `shown.rs` | a bucket as checks of traces see it |
//! | `sleep.rs` | how a waiting thread sleeps |
//! | `lock.rs` | the bucket's lock |
//! | `watches.rs` | whether waiters of condition variables and keys are notified soon |
//! | `pair.rs` | two buckets at once, to move threads |
//! | `visible.rs` | which locks threads read, for reader-writer locks |
//! | `park.rs` | for locks of others: [`park`], [`unpark`], [`requeue`] |
//! | `tokens.rs` | the same with tokens: a thread that unparks chooses by what the parked ones brought along |
//! | `line.rs` | for this crate's other locks: the queue of a key, held |
//!
//! # An address is no identity
//!
//! Memory is freed and used again while an unlock is between its store and its look. What was a mutex
//! may be another mutex by then, a condition variable, or a key of a user's. Therefore:
//!
//! 1. A node says what it waits for: a lock, a condition variable, a key. Only nodes of the same kind
//!    are compared by address.
//! 2. An unlock only ever does what an unlock of whichever lock is at that address may do: it has one of
//!    that lock's threads compete for it, or acquires it on behalf of one and hands it over.
//! 3. An unlock dereferences the pointer of a linked node and no other. A linked node says that its
//!    mutex is in use.
//!
//! # Isolation
//!
//! What a lock costs depends on its own waiters. An unlock of a lock that no thread waits for compares
//! the bucket's unlock mode with its own address. Queues are found by their first nodes, so that the
//! length of another's does not matter. Roles and times belong to a queue.
//!
//! Nothing here allocates, and no thread needs to be registered: a node lives on its thread's stack
//! while it waits. So these locks may be used inside a global allocator, in destructors of
//! thread-local values, and in threads that no runtime knows of. The child of a fork finds the table
//! empty.

mod bucket;
mod history;
mod line;
mod lock;
mod node;
mod pair;
mod park;
mod queue;
mod shown;
mod sleep;
pub mod tokens;
pub(crate) mod unlock_mode;
mod visible;
mod watches;

pub use bucket::Bucket;
pub(crate) use bucket::Guard;
#[doc(hidden)]
pub use line::waiting;
pub(crate) use line::{Line, Waited};
pub(crate) use node::{Distance, Kind, Node, is_known, place, status};
pub(crate) use pair::Pair;
pub(crate) use park::Chosen;
pub use park::{Parked, Requeued, park, requeue, unpark};
#[doc(hidden)]
pub use shown::Shown;
pub(crate) use sleep::{Slice, end_of_sleep};
#[doc(hidden)]
pub use unlock_mode::QUIET as UNLOCK_MODE_QUIET;
pub(crate) use unlock_mode::{QUIET, Request};
pub(crate) use visible::Slot;
pub use visible::{BIASES, Bias, Row, bias_of};

use crate::machine::{Estimates, Fences, Threads};

/// A machine with a parking table: what this crate's own locks need of it.
///
/// A lock that keeps its waiters to itself, in its own words or in nodes that the waiters bring,
/// needs a [`Platform`](crate::platform::Platform) only. [`RawMutex`](crate::mutex::RawMutex),
/// [`RawCondvar`](crate::condvar::RawCondvar) and the functions of this module need a host.
///
/// A machine has to give the table. The rows of visible readers have defaults, which are right on every machine: it has
/// none.
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
/// * No two threads have the same [`row`](Self::row) at the same time, and [`rows`](Self::rows) has each
///   that the caller can know of: one that a thread stored to before a pair of a light fence of that
///   thread and a heavy fence of the caller.
/// * [`bias`](Self::bias) is a function of the address. Nothing but this crate changes rows and biases.
pub unsafe trait Host: Fences + Estimates + Threads {
    /// The word of the parking table that says what an unlock of the lock at `address` has to do
    /// after its store; see [`parking`](crate::parking).
    fn unlock_mode(address: usize) -> &'static Self::AtomicUsize;

    /// The bucket of the parking table for the lock at `address`.
    fn bucket(address: usize) -> &'static Bucket<Self>;

    /// The address by which the words of visible readers are chosen: the address itself on a real machine. A
    /// machine that is to behave alike in each run gives one that does not depend on where memory was allocated.
    ///
    /// A function of the address, and of no two addresses the same.
    #[inline(always)]
    fn name_of(address: usize) -> usize {
        address
    }

    /// Where the calling thread says which reader-writer locks it reads; `None` where threads cannot, or no
    /// longer: then locks count their readers.
    #[inline(always)]
    fn row() -> Option<&'static Row<Self>> {
        None
    }

    /// The rows of all threads that have had one.
    #[inline]
    fn rows() -> &'static [Row<Self>] {
        &[]
    }

    /// What writers say to visible readers of the lock at `address`; `None` where there are none.
    #[inline(always)]
    fn bias(_address: usize) -> Option<&'static Bias<Self>> {
        None
    }
}

/// Buckets of a real machine's table. A collision costs time, never correctness. The unlock modes of
/// 1,024 buckets are 8 KiB; of the buckets themselves a program touches those whose locks are
/// contended.
pub const BUCKETS: usize = 1 << BUCKET_BITS;
const BUCKET_BITS: u32 = 10;

/// The bucket of an address: Fibonacci hashing (Knuth, volume 3, section 6.4), because locks of an
/// array differ by one or a few bytes and heap addresses in their middle bits.
#[inline(always)]
pub const fn bucket_of(address: usize) -> usize {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    ((address as u64).wrapping_mul(GOLDEN) >> (u64::BITS - BUCKET_BITS)) as usize
}

/// Whether the moment `then` has come, on a tick counter that wraps.
pub(crate) fn has_come(now: usize, then: usize) -> bool {
    now.wrapping_sub(then).cast_signed() >= 0
}
