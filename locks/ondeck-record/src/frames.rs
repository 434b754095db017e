//! The frames of a stack, and the table that stores each stack once.

use core::sync::atomic::Ordering;

use crate::layout::{DEPTH, FRAMES, File, STACKS, place_of};
use crate::room;

/// A stack as recorded: return addresses, innermost first.
pub struct Frames {
    addresses: [u64; DEPTH],
    count: usize,
}

impl Frames {
    pub fn new() -> Self {
        Self { addresses: [0; DEPTH], count: 0 }
    }

    /// Adds a caller. Returns false if the stack ends here or has no room for more.
    pub fn push(&mut self, address: u64) -> bool {
        if self.count == DEPTH || address == 0 {
            return false;
        }
        self.addresses[self.count] = address;
        self.count += 1;
        true
    }

    /// The addresses, innermost first.
    pub fn addresses(&self) -> &[u64] {
        &self.addresses[..self.count]
    }

    /// FNV-1a (Fowler, Noll, Vo) over whole words, then mixed: a stack is looked up by this hash
    /// alone, and two of 30,000 stacks collide in 64 bits with a probability of 2^-35.
    pub fn hash(&self) -> u64 {
        let hash = self.addresses().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, word| {
            (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
        });
        (hash ^ hash >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1
    }

    /// Returns the `inner` innermost frames of a kept stack.
    pub fn of(file: &File, number: u32, inner: usize) -> Self {
        let place = file.stacks[number as usize].place.load(Ordering::Acquire);
        let (at, count) = ((place >> 8) as usize, (place & 0xff) as usize);
        let mut frames = Self::new();
        for frame in file.frames.iter().skip(at).take(count.min(inner)) {
            frames.push(frame.load(Ordering::Relaxed));
        }
        frames
    }

    /// Returns the number of this stack, and whether it is new; `None` if there is no room, which
    /// is counted.
    pub fn keep(&self, file: &File) -> Option<(u32, bool)> {
        /// If this number of consecutive places is occupied, the table is treated as full.
        const FAR: usize = 256;
        let hash = self.hash();
        let first = place_of(hash, STACKS);
        for step in 0..FAR {
            let place = (first + step) & (STACKS - 1);
            let Some(stack) = room::reach(file, &file.stacks[place]) else { break };
            let found = match stack.hash.load(Ordering::Acquire) {
                0 => stack.hash.compare_exchange(0, hash, Ordering::AcqRel, Ordering::Acquire),
                other => Err(other),
            };
            match found {
                Ok(_) => {
                    let at =
                        file.header.frames_used.fetch_add(self.count as u64, Ordering::Relaxed);
                    if at as usize + self.count > FRAMES {
                        break;
                    }
                    for (to, from) in file.frames[at as usize..].iter().zip(self.addresses()) {
                        if let Some(to) = room::reach(file, to) {
                            to.store(*from, Ordering::Relaxed);
                        }
                    }
                    // Release: publishes the frames that it refers to.
                    stack.place.store(at << 8 | self.count as u64, Ordering::Release);
                    return Some((place as u32, true));
                }
                Err(other) if other == hash => return Some((place as u32, false)),
                Err(_) => {}
            }
        }
        file.header.dropped_stacks.fetch_add(1, Ordering::Relaxed);
        None
    }
}
