//! Stacks, recorded by the unwinder of the compiler's runtime library.
//!
//! `_Unwind_Backtrace` of libgcc finds a frame's tables by glibc's `_dl_find_object`, which takes
//! no lock and allocates nothing (glibc 2.35, GCC 12). Older versions take the loader's lock, which
//! a measured thread may hold. With those versions stacks are recorded by frame pointers, for code
//! that keeps them.

use core::ffi::{c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicU8, Ordering};

use crate::frames::Frames;
use crate::layout::{DEPTH, File};
use crate::{frame_pointers, sys};

unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIPInfo(context: *mut c_void, is_before: *mut c_int) -> usize;
    fn _Unwind_GetCFA(context: *mut c_void) -> usize;
}

const GO_ON: c_int = 0;
const END_OF_STACK: c_int = 5;

/// A stack, and the places of its return addresses.
pub struct Placed {
    pub frames: Frames,
    /// The address of the innermost return address, or of a variable of the function before which
    /// the stack begins: inner frames are left out, because only their names would tell them from
    /// the program's, and a program may have none.
    pub base: usize,
    /// Words from `base` to each of them; the largest number after the last.
    pub offsets: [u16; DEPTH],
    /// Whether each return address was found at its place, and all places fit.
    pub is_regular: bool,
}

impl Placed {
    /// A stack from the return address at `base` on, before it is taken.
    pub fn at(base: usize) -> Self {
        Self { frames: Frames::new(), base, offsets: [u16::MAX; DEPTH], is_regular: true }
    }
}

extern "C" fn each_placed(context: *mut c_void, stack: *mut c_void) -> c_int {
    // SAFETY: `take_placed` passes its own object, which no other code uses during the call.
    let stack = unsafe { &mut *stack.cast::<Placed>() };
    let mut is_before = 0;
    // SAFETY: the unwinder passes a context that is valid during the call.
    let (address, slot) = unsafe {
        let address = _Unwind_GetIPInfo(context, &raw mut is_before);
        (address, _Unwind_GetCFA(context).wrapping_sub(size_of::<usize>()))
    };
    let Placed { frames, base, offsets, is_regular } = stack;
    if slot < *base && frames.addresses().is_empty() {
        // A function of this library.
        return GO_ON;
    }
    let at = frames.addresses().len();
    if !frames.push(address as u64) {
        return END_OF_STACK;
    }
    let offset = slot.wrapping_sub(*base);
    // The frame below a signal handler has no return address. Its place must not even be read.
    *is_regular = *is_regular
        && is_before == 0
        && offset.is_multiple_of(size_of::<usize>())
        // SAFETY: a word of the calling thread's stack, from which the unwinder has taken the
        // address.
        && unsafe { ptr::with_exposed_provenance::<usize>(slot).read_volatile() } == address;
    match u16::try_from(offset / size_of::<usize>()) {
        Ok(offset) if offset != u16::MAX => offsets[at] = offset,
        _ => *is_regular = false,
    }
    GO_ON
}

/// Bytes that unwinding needs below it, with a third to spare.
const ROOM: usize = 4_096;

/// Takes the calling thread's stack. Returns whether it has any frame, and room to be unwound. The
/// result is in place because the stack may be that of a signal handler, with some thousand bytes.
#[inline(never)]
pub fn take_placed(file: &File, stack: &mut Placed) -> bool {
    if !sys::has_stack(ROOM) {
        return false;
    }
    if can_unwind() {
        // SAFETY: the callback casts the argument back to its type.
        unsafe { _Unwind_Backtrace(each_placed, ptr::from_mut(stack).cast()) };
    } else {
        stack.is_regular = false;
        sys::with_errno_kept(|| frame_pointers::take(file, &mut stack.frames));
    }
    !stack.frames.addresses().is_empty()
}

/// Returns the calling thread's stack from `base` on; see [`Placed`].
pub fn take(file: &File, base: usize) -> Option<Frames> {
    let mut stack = Placed::at(base);
    take_placed(file, &mut stack).then_some(stack.frames)
}

/// Triggers the initialization that the unwinder performs at its first use.
pub fn warm(file: &File) {
    take(file, 0);
}

fn can_unwind() -> bool {
    const UNKNOWN: u8 = 0;
    const YES: u8 = 1;
    const NO: u8 = 2;
    /// Relaxed: no other data depends on it, and each thread computes the same.
    static ANSWER: AtomicU8 = AtomicU8::new(UNKNOWN);
    if ANSWER.load(Ordering::Relaxed) == UNKNOWN {
        // SAFETY: the C library returns a string that is never freed.
        let version = unsafe { core::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        let answer = if is_since_2_35(version.to_bytes()) { YES } else { NO };
        ANSWER.store(answer, Ordering::Relaxed);
    }
    ANSWER.load(Ordering::Relaxed) == YES
}

fn is_since_2_35(version: &[u8]) -> bool {
    let number = |text: &[u8]| {
        text.iter().take_while(|digit| digit.is_ascii_digit()).fold(0_u32, |number, digit| {
            number.saturating_mul(10).saturating_add(u32::from(digit - b'0'))
        })
    };
    let dot = version.iter().position(|byte| *byte == b'.').unwrap_or(version.len());
    let minor = version.get(dot + 1..).unwrap_or_default();
    (number(version), number(minor)) >= (2, 35)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        for version in [&b"2.35"[..], b"2.36-9+deb12u10", b"2.100", b"3.0"] {
            assert!(is_since_2_35(version));
        }
        for version in [&b"2.34"[..], b"2.4", b"1.99", b""] {
            assert!(!is_since_2_35(version));
        }
    }

    #[test]
    fn a_stack_ends_where_the_thread_began() {
        // SAFETY: all fields are atomics, for which zeros are valid.
        let file = unsafe { std::boxed::Box::<File>::new_zeroed().assume_init() };
        let frames = take(&file, 0).expect("this C library is 2.35 or later");
        let here = 0_u8;
        let outer = take(&file, (&raw const here).addr()).expect("a stack");
        let [all, outer] = [&frames, &outer].map(Frames::addresses);
        assert!(all.len() > outer.len() && all.ends_with(outer), "{all:x?}, {outer:x?}");
        assert!(all.iter().all(|address| *address != 0));
    }

    #[test]
    fn a_stack_with_no_room_left_is_not_unwound() {
        /// Returns the number of calls until there is no room for more.
        fn deeper(file: &File, left: usize) -> usize {
            let used = core::hint::black_box([0_u8; 1024]);
            if left == 0 || take(file, 0).is_none() {
                return usize::from(used[0]);
            }
            1 + deeper(file, left - 1)
        }
        extern "C" fn measure(found: *mut libc::c_void) -> *mut libc::c_void {
            // SAFETY: all fields are atomics, for which zeros are valid.
            let file = unsafe { std::boxed::Box::<File>::new_zeroed().assume_init() };
            // SAFETY: the caller's number, which lives until the thread has ended.
            unsafe { *found.cast::<usize>() = deeper(&file, 1_000) };
            ptr::null_mut()
        }
        let mut found = 0_usize;
        let mut attributes = core::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
        let mut thread = 0;
        // SAFETY: the attributes are initialized first, and the thread ends before `found` does.
        unsafe {
            libc::pthread_attr_init(attributes.as_mut_ptr());
            libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), 64 << 10);
            let to = (&raw mut found).cast();
            assert_eq!(libc::pthread_create(&raw mut thread, attributes.as_ptr(), measure, to), 0);
            libc::pthread_join(thread, ptr::null_mut());
        }
        assert!((1..64).contains(&found), "{found}");
    }
}
