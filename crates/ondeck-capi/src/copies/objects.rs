//! The objects that are loaded: programs and libraries, of all namespaces.

use core::ffi::{CStr, c_int, c_void};
use core::slice;

use super::namespaces;
use super::object::{Object, copy_of};

/// Shows every loaded object to `visit`, some of them twice.
pub(super) fn for_each(visit: &mut dyn FnMut(Object)) {
    let mut visit = visit;
    // SAFETY: the callback gets back the pointer that is given here, which lives until the call
    // returns.
    unsafe { libc::dl_iterate_phdr(Some(one), (&raw mut visit).cast()) };
    namespaces::for_each(visit);
}

unsafe extern "C" fn one(info: *mut libc::dl_phdr_info, _: usize, visit: *mut c_void) -> c_int {
    // SAFETY: what `for_each` has given, used by no other.
    let visit = unsafe { &mut *visit.cast::<&mut dyn FnMut(Object)>() };
    // SAFETY: the loader gives a valid description, that of a loaded object.
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
        // SAFETY: as above; it stays while the object is loaded.
        unsafe { CStr::from_ptr(info.dlpi_name) }
    };
    // SAFETY: as above.
    let copy = unsafe { copy_of(info.dlpi_addr, headers) };
    visit(Object { name, copy });
    0
}
