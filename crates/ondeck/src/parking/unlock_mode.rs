//! The unlock mode of a bucket: the one word that every unlock loads after it has released its lock.
//!
//! ```text
//!            the first unlock in a bucket, if fences are asymmetric
//!   LOOK ──────────────────────────────────────────────────────────► SKIP
//!    ▲                                                              ▲    │ a lock gets a record:
//!    │ a thread that parks, once the                its record is   │    │ store, heavy fence before
//!    │ kernel refuses heavy fences                  taken from it   │    ▼ the first thread sleeps
//!    ├───────────────────────────────────────────────────────── the lock's address
//!    │                                                              ▲    │
//!    │                                       all but one are gone   │    ▼ a second lock gets one
//!    └───────────────────────────────────────────────────────────── SEVERAL
//! ```
//!
//! | word | an unlock, after the store that released its lock |
//! |---|---|
//! | `LOOK` | full fence, then reads the lock's record |
//! | `SKIP` | is done: no lock of this bucket has a record |
//! | an address | is done unless its own lock is at that address; else reads the record |
//! | `SEVERAL` | reads the records of the bucket |
//!
//! Zero is `LOOK`, which is right when nothing is known: in a table that was never used, in one that a
//! fork has wiped, and on a machine without asymmetric fences, where it is never left.
//!
//! Written under the bucket's lock. Memory is freed and used again, so a word or a record may name an
//! address at which there is another lock by now. That costs that lock a look, and nothing else.

/// Every unlock of the bucket looks, behind a full fence of its own.
pub(crate) const LOOK: usize = 0;
/// No lock of the bucket has a record.
pub(crate) const SKIP: usize = 1;
/// More than one lock of the bucket has a record.
pub(crate) const SEVERAL: usize = 2;

/// Whether an unlock of the lock at `address` has to look, by the unlock mode of its bucket.
///
/// No lock is at the address 0, 1 or 2: the first page of a process is never mapped.
#[inline(always)]
pub(crate) fn concerns(mode: usize, address: usize) -> bool {
    mode != SKIP && (mode == address || mode <= SEVERAL)
}

