//! A loaded object: its name, and the copy of this library that it has.

use core::ffi::CStr;
use core::slice;

use super::{Copy, note};

/// A loaded object.
#[derive(Clone, Copy)]
pub(super) struct Object {
    /// Empty for the program. Valid during the constructor, in which no object is unloaded.
    pub(super) name: &'static CStr,
    pub(super) copy: Option<*const Copy>,
}

/// The copy that an object has, by its headers; `base` is what is added to their addresses.
///
/// # Safety
///
/// The object is loaded there.
pub(super) unsafe fn copy_of(base: u64, headers: &[libc::Elf64_Phdr]) -> Option<*const Copy> {
    headers.iter().filter(|header| header.p_type == libc::PT_NOTE).find_map(|header| {
        let start = base.wrapping_add(header.p_vaddr) as *const u8;
        // SAFETY: as the caller promises, it is in memory.
        unsafe { note::find(slice::from_raw_parts(start, header.p_memsz as usize)) }
    })
}
