//! The dugout: where waiters of every lock are kept, outside of the locks.
//!
//! A lock that is released must not be touched again: another thread may acquire it, release it and
//! free it in between. So everything that a release has to know, whether somebody sleeps and
//! whether somebody is awake already, lives in a static table keyed by the lock's address.
//!
//! ```text
//! address ─hash─► attention[i]  one byte: must a release look any further?
//!                 bucket[i]     who is awake, who sleeps
//! ```
//!
//! | file | what |
//! |---|---|
//! | `attention.rs` | the byte that lets most releases skip the rest, and its fences |
//! | `bucket.rs` | a bucket: its words, its list, its lock held |
//! | `node.rs` | a waiter |
//! | `lock.rs` | the bucket's lock |
//! | `pair.rs` | two buckets at once, to move waiters |
//! | `park.rs` | for locks of others: [`park`], [`unpark`], [`requeue`] |
//!
//! Nothing here allocates, and no thread needs to be registered: a node lives on its waiter's stack
//! while it waits. So these locks may be used inside a global allocator, in destructors of
//! thread-local values, and in threads that no runtime knows of. The child of a fork finds the table
//! empty.

pub(crate) mod attention;
mod bucket;
mod lock;
mod node;
mod pair;
mod park;

pub(crate) use attention::{announce, demand, meet_demand, relax};
pub use bucket::Bucket;
pub(crate) use bucket::{Guard, has_come};
pub(crate) use node::{Node, status};
pub(crate) use pair::Pair;
pub use park::{Parked, Requeued, park, requeue, unpark};

/// Buckets of a real machine's table. A collision costs time, never correctness; 1,024 buckets of
/// 64 bytes are 64 KiB, and their bytes of attention 16 cache lines.
pub const BUCKETS: usize = 1 << BUCKET_BITS;
const BUCKET_BITS: u32 = 10;

/// The bucket of an address: Fibonacci hashing (Knuth, volume 3, section 6.4), because locks of an
/// array differ by one or a few bytes and heap addresses in their middle bits.
#[inline(always)]
pub const fn bucket_of(address: usize) -> usize {
    const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
    ((address as u64).wrapping_mul(GOLDEN) >> (u64::BITS - BUCKET_BITS)) as usize
}
