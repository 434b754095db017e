//! Room on the disk, asked for page by page: a disk that is full ends no program.
//!
//! The file is mapped and mostly a hole. The first access to a page of a hole takes room on the disk, and if
//! there is none, or if the file was cut off, the kernel sends SIGBUS. So each page is asked for before its
//! first access: the kernel adds nothing to a word of it, by a call that says `EFAULT` instead. That takes
//! about as long as the fault that it stands for. What is there stays there, so it is asked for once.

use core::ptr;
use core::sync::atomic::Ordering;

use crate::layout::{File, PAGE};
use crate::sys;

/// The object, if the pages that it lies in can be accessed.
#[inline]
pub fn reach<'a, T>(file: &File, object: &'a T) -> Option<&'a T> {
    let start = ptr::from_ref(object).addr() - ptr::from_ref(file).addr();
    let pages = start / PAGE..=(start + size_of::<T>() - 1) / PAGE;
    for page in pages {
        // Relaxed: it says something of the page's presence, not of what is written there.
        let is_there = file.room.pages[page / 64].load(Ordering::Relaxed) >> (page % 64) & 1 != 0;
        if !is_there && !ask(file, page) {
            return None;
        }
    }
    Some(object)
}

#[cold]
#[inline(never)]
fn ask(file: &File, page: usize) -> bool {
    let address = ptr::from_ref(file).cast::<u8>().wrapping_add(page * PAGE);
    let is_there = sys::with_errno_kept(|| sys::can_write(address.cast()));
    if is_there {
        file.room.pages[page / 64].fetch_or(1 << (page % 64), Ordering::Relaxed);
    }
    is_there
}
