//! The objects that are loaded: programs and libraries, each with its name and the copy of this
//! library that it has.

use core::ffi::{CStr, c_int, c_void};
use core::slice;

use super::{Copy, note};

/// A loaded object.
#[derive(Clone, Copy)]
pub(super) struct Object {
    /// Empty for the program. Valid during the constructor, in which no object is unloaded.
    pub(super) name: &'static CStr,
    pub(super) copy: Option<*const Copy>,
}

/// Returns the copy that an object has, according to its headers; `base` is added to their
/// addresses.
///
/// # Safety
///
/// The object is loaded at `base`.
unsafe fn copy_of(base: u64, headers: &[libc::Elf64_Phdr]) -> Option<*const Copy> {
    headers.iter().filter(|header| header.p_type == libc::PT_NOTE).find_map(|header| {
        let start = base.wrapping_add(header.p_vaddr) as *const u8;
        // SAFETY: the caller promises that the object is in memory.
        unsafe { note::find(slice::from_raw_parts(start, header.p_memsz as usize)) }
    })
}

/// Calls `visit` for every loaded object of the caller's namespace.
pub(super) fn for_each(visit: &mut dyn FnMut(Object)) {
    let mut visit = visit;
    // SAFETY: the callback receives the pointer that is passed here, which lives until the call
    // returns.
    unsafe { libc::dl_iterate_phdr(Some(one), (&raw mut visit).cast()) };
}

unsafe extern "C" fn one(info: *mut libc::dl_phdr_info, _: usize, visit: *mut c_void) -> c_int {
    // SAFETY: the pointer that `for_each` passed, which no other code uses.
    let visit = unsafe { &mut *visit.cast::<&mut dyn FnMut(Object)>() };
    // SAFETY: the loader passes a valid description of a loaded object.
    let info = unsafe { &*info };
    let headers = if info.dlpi_phdr.is_null() {
        &[]
    } else {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) }
    };
    let name = if info.dlpi_name.is_null() {
        c""
    } else {
        // SAFETY: as above; the name stays while the object is loaded.
        unsafe { CStr::from_ptr(info.dlpi_name) }
    };
    // SAFETY: as above.
    let copy = unsafe { copy_of(info.dlpi_addr, headers) };
    visit(Object { name, copy });
    0
}
