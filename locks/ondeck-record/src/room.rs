//! Room on the disk, requested page by page, so that a full disk kills no program.
//!
//! The file is mapped and is mostly a hole. The first access to a page of a hole allocates room on
//! the disk, and if there is none, or if the file was truncated, the kernel sends SIGBUS. So each
//! page is requested before its first access: a system call adds 0 to a word of it, and fails with
//! `EFAULT` instead. That takes about as long as the page fault that it replaces. An allocated page
//! stays allocated, so it is requested once.

use core::ptr;
use core::sync::atomic::Ordering;

use crate::layout::{File, PAGE};
use crate::sys;

/// Returns the object, if its pages can be accessed.
#[inline]
pub fn reach<'a, T>(file: &File, object: &'a T) -> Option<&'a T> {
    let start = ptr::from_ref(object).addr() - ptr::from_ref(file).addr();
    let pages = start / PAGE..=(start + size_of::<T>() - 1) / PAGE;
    for page in pages {
        // Relaxed: the bit is about the page's presence, not about its contents.
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
    } else {
        file.header.refused_pages.fetch_add(1, Ordering::Relaxed);
    }
    is_there
}
