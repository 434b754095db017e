//! Stacks by frame pointers, for systems whose unwinder takes locks. Code that keeps frame pointers
//! (`-fno-omit-frame-pointer`, `-C force-frame-pointers`) links its frames, each of which is
//! `[the caller's frame, the return address]`.
//!
//! Other code uses the register for arbitrary values. So a word is read only if it is certainly on
//! the calling thread's own stack, above the previous frame; a chain that leads elsewhere ends
//! there.

use crate::frames::Frames;
use crate::layout::File;
use crate::maps;

/// Bytes of a frame's two words.
const LINK: usize = 16;

/// Adds the callers of the calling function, if the register holds a frame of this stack.
#[inline(always)]
pub fn take(file: &File, frames: &mut Frames) {
    let here = 0_u8;
    let start = (&raw const here).addr();
    if let Some(end) = end_of_stack(file, start) {
        // SAFETY: all memory from a variable of this function to `end` is the calling thread's
        // stack.
        unsafe { walk(register(), start, end, frames) };
    }
}

/// Follows the chain that begins at `frame`.
///
/// # Safety
///
/// The memory from `start` to `end` can be read.
unsafe fn walk(mut frame: usize, start: usize, end: usize, frames: &mut Frames) {
    let mut least = start;
    while frame >= least && frame.is_multiple_of(align_of::<usize>()) && frame <= end - LINK {
        let link = core::ptr::with_exposed_provenance::<[usize; 2]>(frame);
        // SAFETY: the word is aligned, and between `start` and `end`.
        let [next, address] = unsafe { link.read_volatile() };
        if !frames.push(address as u64) {
            return;
        }
        least = frame + LINK;
        frame = next;
    }
}

/// Returns an upper bound of the end of the calling thread's stack, on which `start` is. `None` on
/// a stack of another kind, such as a signal's or a coroutine's.
fn end_of_stack(file: &File, start: usize) -> Option<usize> {
    maps::see(file, start as u64);
    let mapped = maps::range_of(file, start as u64)?;
    // The C library puts a thread's control block on top of its stack; the kernel puts random bytes
    // on top of the first thread's stack. Both live as long as the thread. SAFETY: getauxval(3)
    // only reads what the kernel gave the process.
    let random = unsafe { libc::getauxval(libc::AT_RANDOM) } as usize;
    [own_memory(), random]
        .into_iter()
        .filter(|end| *end >= start + LINK && (*end as u64) < mapped.1)
        .min()
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn register() -> usize {
    let frame: usize;
    // SAFETY: copies a register.
    unsafe { core::arch::asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack)) };
    frame
}

#[cfg(target_arch = "x86_64")]
fn own_memory() -> usize {
    let address: usize;
    // SAFETY: the first word of a thread's control block is its address (System V ABI for
    // thread-local storage, 3.4.6).
    unsafe { core::arch::asm!("mov {}, fs:[0]", out(reg) address, options(readonly, nostack)) };
    address
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn register() -> usize {
    let frame: usize;
    // SAFETY: copies a register.
    unsafe { core::arch::asm!("mov {}, x29", out(reg) frame, options(nomem, nostack)) };
    frame
}

#[cfg(target_arch = "aarch64")]
fn own_memory() -> usize {
    let address: usize;
    // SAFETY: copies a register.
    unsafe { core::arch::asm!("mrs {}, tpidr_el0", out(reg) address, options(nomem, nostack)) };
    address
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn register() -> usize {
    0
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn own_memory() -> usize {
    0
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::boxed::Box;
    use std::vec::Vec;

    use super::*;

    fn walked(words: &[usize], first: usize) -> Vec<u64> {
        let (start, end) = (words.as_ptr().addr(), words.as_ptr_range().end.addr());
        let mut frames = Frames::new();
        // SAFETY: the words can be read.
        unsafe { walk(start + first * 8, start, end, &mut frames) };
        frames.addresses().to_vec()
    }

    #[test]
    fn a_chain_is_followed_upwards_to_its_end() {
        let mut words = [0_usize; 12];
        let at = |index: usize, words: &[usize; 12]| words.as_ptr().addr() + 8 * index;
        (words[2], words[3]) = (at(6, &words), 0x1111);
        (words[6], words[7]) = (at(8, &words), 0x2222);
        (words[8], words[9]) = (0, 0x3333);
        assert_eq!(walked(&words, 2), [0x1111, 0x2222, 0x3333]);
        assert_eq!(walked(&words, 6), [0x2222, 0x3333]);
    }

    #[test]
    fn what_is_no_frame_is_not_read() {
        let mut words = [0_usize; 12];
        let start = words.as_ptr().addr();
        for strange in [1, start + 1, start - 16, start + 8 * 11, usize::MAX - 7, start + 8 * 2] {
            // Not aligned, below, cut off by the end, beyond the end, and pointing to itself.
            (words[2], words[3]) = (strange, 0x1111);
            assert_eq!(walked(&words, 2), [0x1111], "{strange:#x}");
        }
        assert!(walked(&words, 11).is_empty());
    }

    #[test]
    fn the_end_of_each_thread_s_stack_is_above_its_frames() {
        // SAFETY: all fields are atomics, for which zeros are valid.
        let file = unsafe { Box::<File>::new_zeroed().assume_init() };
        maps::refresh(&file);
        let here = 0_u8;
        let start = (&raw const here).addr();
        assert!(end_of_stack(&file, start).is_some_and(|end| end > start && end - start < 1 << 27));
        let elsewhere = std::vec![0_u8; 1 << 20];
        assert_eq!(end_of_stack(&file, elsewhere.as_ptr().addr()), None, "as of a coroutine");
    }
}
