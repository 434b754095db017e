//! The build-id of a mapped file, read from the memory of the process that has it mapped.
//!
//! A path is not an identity: a deployment replaces the file while the program runs. The build-id
//! is in a note, which linkers place at the beginning of what is loaded (System V ABI, "Note
//! Section"; `ld --build-id`).

/// The longest build-id that is kept, in bytes; linkers make 8, 16 or 20.
const LONGEST: usize = 32;

const PT_NOTE: u32 = 4;
const NT_GNU_BUILD_ID: u32 = 3;
/// More program headers, and notes in each, than programs have.
const MOST: usize = 64;

/// A build-id.
#[derive(Clone, Copy, Debug)]
pub struct BuildId {
    bytes: [u8; LONGEST],
    length: usize,
}

impl BuildId {
    /// Returns its hexadecimal digits.
    pub fn digits(self) -> impl Iterator<Item = u8> {
        let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
        let bytes = self.bytes.into_iter().take(self.length);
        bytes.flat_map(move |byte| [digit(byte >> 4), digit(byte & 15)])
    }
}

/// Returns the build-id of the 64-bit file whose beginning is mapped at `start`. `read` copies
/// memory of the process from an address, and returns whether all of it is mapped.
pub fn build_id(start: u64, read: impl Fn(u64, &mut [u8]) -> bool) -> Option<BuildId> {
    let mut header = [0; 64];
    if !read(start, &mut header) || !header.starts_with(b"\x7fELF\x02") {
        return None;
    }
    let mut part = [0; 56];
    let mut place = start.checked_add(long(&header, 32))?;
    for _ in 0..half(&header, 56).min(MOST) {
        if !read(place, &mut part) {
            return None;
        }
        if word(&part, 0) == PT_NOTE
            && let Some(from) = start.checked_add(long(&part, 8))
            && let Some(found) = in_notes(from, long(&part, 32), long(&part, 48), &read)
        {
            return Some(found);
        }
        place = place.checked_add(part.len() as u64)?;
    }
    None
}

/// Returns it from the notes of one part of a file.
fn in_notes(
    from: u64,
    size: u64,
    align: u64,
    read: impl Fn(u64, &mut [u8]) -> bool,
) -> Option<BuildId> {
    let padded = |length: u32| u64::from(length).checked_next_multiple_of(align.max(4));
    let end = from.checked_add(size)?;
    let mut place = from;
    for _ in 0..MOST {
        let mut note = [0; 16];
        if place >= end || !read(place, &mut note) {
            return None;
        }
        let description = place.checked_add(padded(word(&note, 0).checked_add(12)?)?)?;
        let length = word(&note, 4);
        if word(&note, 8) == NT_GNU_BUILD_ID && note.ends_with(b"GNU\0") {
            let mut id = BuildId { bytes: [0; LONGEST], length: (length as usize).min(LONGEST) };
            return read(description, &mut id.bytes[..id.length]).then_some(id);
        }
        place = description.checked_add(padded(length)?)?;
    }
    None
}

fn half(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_ne_bytes([bytes[at], bytes[at + 1]]))
}

fn word(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    #[test]
    fn a_description_begins_at_the_alignment_of_its_notes() {
        // The sizes of the name and of the description, the type, the name; properties, and then a
        // build-id.
        let note =
            |kind: u32| [4, 8, kind, u32::from_ne_bytes(*b"GNU\0"), 0x0302_0100, 0x0706_0504];
        let words = [note(5), note(NT_GNU_BUILD_ID)].concat();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let read = |address: u64, to: &mut [u8]| {
            let found = bytes.get(address as usize..).and_then(|rest| rest.get(..to.len()));
            found.map(|found| to.copy_from_slice(found)).is_some()
        };
        for align in [0, 4, 8] {
            let id = in_notes(0, bytes.len() as u64, align, read).expect("the second note");
            assert_eq!(id.digits().collect::<Vec<_>>(), b"0001020304050607", "{align}");
        }
    }
}
