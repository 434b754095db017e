//! The unlock mode of a bucket: the one word that every unlock loads after the store that unlocks.
//!
//! ```text
//!            the first unlock in a bucket, if fences are asymmetric
//!   LOOK ──────────────────────────────────────────────────────────► SKIP
//!    ▲                                                              ▲    │ a lock's record is armed:
//!    │ a thread that parks, once the          the last armed record │    │ store, heavy fence before
//!    │ kernel refuses heavy fences            is taken from its lock│    ▼ the first thread sleeps
//!    └────────────────────────────────────────────────────────────── SOME ◄──► ASKED
//! ```
//!
//! Also a poller leaves `LOOK`, where a lock is contended from the first; for `SOME`, if a thread is parked.
//!
//! | word | an unlock, after its store |
//! |---|---|
//! | `LOOK` | full fence, then reads the lock's record |
//! | `SKIP` | is done: no record of this bucket is armed |
//! | `SOME` | is done unless its lock has a record; else reads it |
//! | `ASKED` | the same; and before its store it reads whether the record asks for the lock |
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
pub(crate) const SOME: usize = 2;
/// As `SOME`, and an owner is asked to hand its lock over.
pub(super) const ASKED: usize = 3;

/// Whether an unlock of the lock at `address` has to look, by the unlock mode of its bucket.
///
/// Acquire: an unlock that leaves out its fence because the mode is `LOOK` no more sees the records of all threads
/// that parked while it was, with a full fence only. For the rest see `publish.rs`.
#[inline]
pub(crate) fn concerns<P: Host>(address: usize) -> bool {
    match P::unlock_mode(address).load(Ordering::Acquire) {
        SKIP => false,
        LOOK => true,
        _ => P::bucket(address).record(address).is_some(),
    }
}
