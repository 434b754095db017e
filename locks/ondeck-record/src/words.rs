//! The words of a lock that the recorder uses, if the lock has room for them.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// The next unlock must be recorded.
pub const RECORD: u32 = 1;
/// Threads may be parked.
pub const WAIT: u32 = 2;

/// The words of a lock that has room for them. All are zero in a new lock.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// `RECORD` if the next unlock must be recorded, and `WAIT` if threads may be parked.
    pub request: &'a AtomicU32,
    /// Acquisitions, counted by owners while [`is_on`](crate::is_on).
    pub acquisitions: &'a AtomicU64,
    /// Unlocks that bypass the recorder; see [`lease`](crate::lease). None if the lock has no room
    /// for it.
    pub lease: Option<&'a AtomicU32>,
    /// The value that [`created`](crate::created) returned when the lock was initialized.
    pub created: &'a AtomicU32,
}
