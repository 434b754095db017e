//! The page by which another process switches recording on and off: `ONDECK_CONTROL` names its file.
//!
//! ```text
//! 0   magic   "ondeckCP"
//! 8   wanted  bits 0-1: 0 as the environment says, 1 on, 2 off; above them: how often it was switched on
//! 12  -
//! 16  folder  where recordings go, ended by a zero; empty for that of the environment
//! ```
//!
//! The process reads the page when it finds a lock taken, so the switch takes effect at the next
//! contended lock of each process. Each time that it is switched on has a number and a file of its own: a
//! process may miss that it was off between two of them.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// The first eight bytes of a page, as a number of the machine's byte order.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"ondeckCP");

/// The length of the file.
pub const SIZE: usize = 4096;

/// What the page asks for: the two lowest bits of the word.
pub mod wanted {
    /// What `ONDECK_PROFILE` says.
    pub const ENVIRONMENT: u32 = 0;
    /// Recording.
    pub const ON: u32 = 1;
    /// No recording.
    pub const OFF: u32 = 2;

    const BITS: u32 = 2;

    /// One of the above.
    #[inline]
    pub fn what(word: u32) -> u32 {
        word & ((1 << BITS) - 1)
    }

    /// How often it was switched on; 0 is the environment.
    #[inline]
    pub fn number(word: u32) -> u32 {
        word >> BITS
    }

    /// The word that switches on where this word is.
    pub fn on_after(word: u32) -> u32 {
        (number(word) + 1) << BITS | ON
    }

    /// The word that switches off where this word is.
    pub fn off_after(word: u32) -> u32 {
        number(word) << BITS | OFF
    }
}

/// The page.
#[repr(C, align(4096))]
pub struct Control {
    /// [`MAGIC`].
    pub magic: AtomicU64,
    /// A word of [`wanted`].
    pub wanted: AtomicU32,
    /// Zero.
    pub unused: AtomicU32,
    /// A folder for recordings.
    pub folder: [AtomicU8; 4080],
}

const _: () = assert!(size_of::<Control>() == SIZE);
