//! The note in an object that has a copy of this library: how it is written, and how it is found.
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

/// The copy that a segment of notes tells of, if one of them is ours.
///
/// # Safety
///
/// `segment` is a loaded segment of notes of a loaded object.
pub(super) unsafe fn find(segment: &[u8]) -> Option<*const Copy> {
    /// The parts of a note begin at multiples of this. Segments with notes of other alignment have
    /// none of ours.
    const ALIGN: usize = 4;
    let mut at = 0;
    while let Some(bytes) = segment.get(at..at + size_of::<Head>()) {
        // SAFETY: so many bytes are there, and any bytes are a head.
        let head: Head = unsafe { ptr::read_unaligned(bytes.as_ptr().cast()) };
        let name = at + size_of::<Head>();
        let content = name + (head.name_size as usize).next_multiple_of(ALIGN);
        if head.kind == KIND && head.name_size == 7 && segment.get(name..content) == Some(&NAME) {
            let start: *const u8 = segment.get(content..content + size_of::<isize>())?.as_ptr();
            // SAFETY: so many bytes are there.
            let distance: isize = unsafe { ptr::read_unaligned(start.cast()) };
            return Some(start.wrapping_offset(distance).cast());
        }
        at = content + (head.content_size as usize).next_multiple_of(ALIGN);
    }
    None
}
