//! The page by which another process switches recording on and off: `ONDECK_CONTROL` names its file.
//!
//! ```text
//! 0   magic   "ondeckCP"
//! 8   wanted  0 as the environment says, 1 on, 2 off
//! 12  -
//! 16  folder  where recordings go, ended by a zero; empty for that of the environment
//! ```
//!
//! The process reads the page when it finds a lock taken, so the switch takes effect at the next
//! contended lock of each process.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// The first eight bytes of a page, as a number of the machine's byte order.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"ondeckCP");

/// The length of the file.
pub const SIZE: usize = 4096;

/// What the page asks for.
pub mod wanted {
    /// What `ONDECK_PROFILE` says.
    pub const ENVIRONMENT: u32 = 0;
    /// Recording.
    pub const ON: u32 = 1;
    /// No recording.
    pub const OFF: u32 = 2;
}

/// The page.
#[repr(C, align(4096))]
pub struct Control {
    /// [`MAGIC`].
    pub magic: AtomicU64,
    /// One of [`wanted`].
    pub wanted: AtomicU32,
    /// Zero.
    pub unused: AtomicU32,
    /// A folder for recordings.
    pub folder: [AtomicU8; 4080],
}

const _: () = assert!(size_of::<Control>() == SIZE);
