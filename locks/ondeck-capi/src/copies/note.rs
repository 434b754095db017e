//! The note in an object that has a copy of this library: its format, and how to find it.
//!
//! ```text
//! namesz = 7    descsz = 8    type = 1
//! "ondeck\0" and one byte of padding
//! the distance from here to the object's `Copy`, 8 bytes
//! ```
//!
//! A distance rather than an address, because notes are not relocated.

use core::ptr;

use super::{Copy, OWN};

core::arch::global_asm!(
    ".pushsection .note.ondeck,\"a\",@note",
    ".balign 4",
    ".long 7",
    ".long 8",
    ".long 1",
    ".asciz \"ondeck\"",
    ".balign 4",
    ".quad {own} - .",
    ".popsection",
    own = sym OWN,
);

const NAME: [u8; 8] = *b"ondeck\0\0";
const KIND: u32 = 1;

/// The head of a note.
#[repr(C)]
struct Head {
    name_size: u32,
    content_size: u32,
    kind: u32,
}

/// Returns the copy that a segment of notes refers to, if one of the notes is ours.
///
/// # Safety
///
/// `segment` is a loaded segment of notes of a loaded object.
pub(super) unsafe fn find(segment: &[u8]) -> Option<*const Copy> {
    /// The parts of a note begin at multiples of this. Segments with another alignment contain none
    /// of our notes.
    const ALIGN: usize = 4;
    let mut at = 0;
    while let Some(bytes) = segment.get(at..at + size_of::<Head>()) {
        // SAFETY: the segment has that number of bytes left, and any bytes are a valid head.
        let head: Head = unsafe { ptr::read_unaligned(bytes.as_ptr().cast()) };
        let name = at + size_of::<Head>();
        let content = name + (head.name_size as usize).next_multiple_of(ALIGN);
        if head.kind == KIND && head.name_size == 7 && segment.get(name..content) == Some(&NAME) {
            let start: *const u8 = segment.get(content..content + size_of::<isize>())?.as_ptr();
            // SAFETY: the segment has that number of bytes left.
            let distance: isize = unsafe { ptr::read_unaligned(start.cast()) };
            return Some(start.wrapping_offset(distance).cast());
        }
        at = content + (head.content_size as usize).next_multiple_of(ALIGN);
    }
    None
}
