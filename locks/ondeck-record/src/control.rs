//! The page by which another process switches recording on and off: `ONDECK_CONTROL` names its
//! file.
//!
//! ```text
//! 0   magic   "ondeckCP"
//! 8   wanted  bits 0-1: 0 as the environment says, 1 on, 2 off; above them: how often it was switched on
//! 12  -
//! 16  folder  where recordings go, ended by a zero; empty for that of the environment
//! ```
//!
//! The process reads the page when it finds a lock held, so the switch takes effect at the next
//! contended lock of each process. Each period of recording has its own number and file, because a
//! process may miss that recording was off between two of them.

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// The first eight bytes of a page, as a number in the machine's byte order.
pub const MAGIC: u64 = u64::from_ne_bytes(*b"ondeckCP");

/// The length of the file.
pub const SIZE: usize = 4096;

/// The request of the page: the two lowest bits of the word.
pub mod wanted {
    /// As `ONDECK_PROFILE` requests.
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

    /// Returns the number of times that it was switched on; 0 stands for the environment.
    #[inline]
    pub fn number(word: u32) -> u32 {
        word >> BITS
    }

    /// Returns the word that replaces this one to switch on.
    pub fn on_after(word: u32) -> u32 {
        (number(word) + 1) << BITS | ON
    }

    /// Returns the word that replaces this one to switch off.
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
