//! Stacks that a thread has unwound before, recognized without unwinding.
//!
//! Unwinding a stack takes microseconds, and a thread mostly waits in the same few places. So it
//! remembers for each of its last stacks where on the stack each return address was. If all of them
//! are still there, it is the same stack: some nanoseconds.
//!
//! The addresses are compared innermost first, and the first difference ends the comparison. So
//! each address is read only if all inner ones are equal: then the functions are the same, their
//! frames have the same size, and the next return address is at the same place. Code that changes
//! the size of a frame by itself (`alloca`) does not shrink the memory of a stack.

use core::ptr;
use core::sync::atomic::Ordering;

use crate::layout::{DEPTH, FRAMES, File};
use crate::stack::Placed;

/// The stacks that a thread remembers.
const STACKS: usize = 4;
const WORD: usize = size_of::<usize>();

/// A stack and its place.
#[derive(Clone, Copy)]
struct Known {
    /// The address of its innermost return address; 0 if there is none.
    base: usize,
    /// The number of the stack.
    number: u32,
    /// Words from `base` to each return address.
    offsets: [u16; DEPTH],
}

/// The stacks of a thread, all in one file.
pub struct Recall {
    next: u32,
    known: [Known; STACKS],
}

impl Recall {
    pub fn clear(&mut self) {
        self.known.iter_mut().for_each(|known| known.base = 0);
    }

    /// Returns the number of the stack whose innermost return address is at `base`, if it is known.
    pub fn find(&self, file: &File, base: usize) -> Option<u32> {
        self.known
            .iter()
            .filter(|known| known.base == base)
            .find(|known| known.is_there(file))
            .map(|known| known.number)
    }

    /// Returns whether the stack whose innermost return address is at `base` has another one at
    /// `slot`.
    pub fn has(&self, base: usize, slot: usize) -> bool {
        let known = self.known.iter().filter(|known| known.base == base);
        let mut offsets =
            known.flat_map(|known| known.offsets.iter().take_while(|at| **at != u16::MAX));
        let offset = slot.wrapping_sub(base) / WORD;
        slot >= base && offsets.any(|at| usize::from(*at) == offset)
    }

    /// Remembers a stack.
    pub fn keep(&mut self, number: u32, placed: &Placed) {
        if placed.is_regular {
            let place = self.next as usize % STACKS;
            self.next = self.next.wrapping_add(1);
            self.known[place] = Known { base: placed.base, number, offsets: placed.offsets };
        }
    }
}

impl Known {
    fn is_there(&self, file: &File) -> bool {
        let place = file.stacks[self.number as usize].place.load(Ordering::Acquire);
        let (at, count) = ((place >> 8) as usize, (place & 0xff) as usize);
        if count == 0 || count > DEPTH || at > FRAMES - count {
            return false;
        }
        file.frames[at..at + count].iter().zip(&self.offsets).all(|(frame, offset)| {
            let slot = self.base + usize::from(*offset) * WORD;
            // SAFETY: a word of the calling thread's own stack, because all inner return addresses
            // are equal.
            let address = unsafe { ptr::with_exposed_provenance::<u64>(slot).read_volatile() };
            address == frame.load(Ordering::Relaxed)
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::boxed::Box;

    use super::*;
    use crate::stack;

    #[test]
    fn a_stack_is_recognized_while_each_return_address_is_at_its_place() {
        // SAFETY: all fields are atomics, for which zeros are valid.
        let file = unsafe { Box::<File>::new_zeroed().assume_init() };
        // SAFETY: plain numbers.
        let mut recall = unsafe { Box::<Recall>::new_zeroed().assume_init() };
        let here = 0_usize;
        let base = (&raw const here).addr();
        assert_eq!(recall.find(&file, base), None);
        let mut placed = Placed::at(base);
        assert!(stack::take_placed(&file, &mut placed), "this C library is 2.35 or later");
        assert!(placed.is_regular);
        let (number, _) = placed.frames.keep(&file).expect("there is room");
        recall.keep(number, &placed);
        assert_eq!(recall.find(&file, base), Some(number));
        assert_eq!(recall.find(&file, base + WORD), None);
        let outermost = placed.frames.addresses().len() - 1;
        let slot = base + usize::from(placed.offsets[outermost]) * WORD;
        assert!(recall.has(base, slot) && !recall.has(base, slot + WORD));
        file.frames[outermost].store(1, Ordering::Relaxed);
        assert_eq!(recall.find(&file, base), None, "the outermost caller is another");
    }
}
