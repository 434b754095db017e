//! The unlock mode of a bucket: the one word that every unlock loads after the store that unlocks.
//!
//! ```text
//!            the first unlock in a bucket, if fences are asymmetric
//!   LOOK ──────────────────────────────────────────────────────────► SKIP
//!    ▲                                                              ▲    │ a lock's record is armed:
//!    │ a thread that parks, once the          the last armed record │    │ store, heavy fence before
//!    │ kernel refuses heavy fences            is taken from its lock│    ▼ the first thread sleeps
//!    └────────────────────────────────────────────────────────────── SOME
//! ```
//!
//! | word | an unlock, after its store |
//! |---|---|
//! | `LOOK` | full fence, then reads the lock's record |
//! | `SKIP` | is done: no record of this bucket is armed |
//! | `SOME` | is done unless its lock has a record; else reads it |
//!
//! Zero is `LOOK`, which is right when nothing is known: in a table that was never used, in one that a
//! fork has wiped, and on a machine without asymmetric fences, where it is never left.
//!
//! Written under the bucket's lock. Memory is freed and used again, so a record may be that of another
//! lock at the same address by now. That costs that lock a look, and nothing else.

use crate::platform::{AtomicInt, Host, Ordering};

/// Every unlock of the bucket looks, behind a full fence of its own.
pub(crate) const LOOK: usize = 0;
/// No record of the bucket is armed.
pub const SKIP: usize = 1;
/// Some records of the bucket are armed.
pub(super) const SOME: usize = 2;

/// Whether an unlock of the lock at `address` has to look, by the unlock mode of its bucket.
///
/// Relaxed: see `publish.rs`.
#[inline]
pub(crate) fn concerns<P: Host>(address: usize) -> bool {
    match P::unlock_mode(address).load(Ordering::Relaxed) {
        SKIP => false,
        LOOK => true,
        _ => P::bucket(address).record(address).is_some(),
    }
}
