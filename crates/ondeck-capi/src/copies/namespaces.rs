//! The objects of other namespaces, which dl_iterate_phdr(3) does not show: those of dlmopen(3).
//!
//! glibc publishes them for debuggers since version 2.35 (`r_next` of `struct r_debug_extended`,
//! <link.h>). With an older one, and in programs without a loader, only the caller's own namespace
//! is looked at.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::mem::MaybeUninit;
use core::slice;

use super::object::{Object, copy_of};

/// `struct r_debug_extended` of <link.h>: a namespace.
#[repr(C)]
struct Namespace {
    version: c_int,
    objects: *const LinkMap,
    breakpoint: usize,
    state: c_int,
    loader: usize,
    /// Only from version 2 on.
    next: *const Self,
}

/// `struct link_map` of <link.h>: an object.
#[repr(C)]
struct LinkMap {
    base: u64,
    name: *const c_char,
    dynamic: *const c_void,
    next: *const Self,
}

/// The version of a loader that has several namespaces.
const WITH_NEXT: c_int = 2;

/// Shows every object of all namespaces to `visit`, if there are several.
pub(super) fn for_each(visit: &mut dyn FnMut(Object)) {
    let mut namespace = first();
    // SAFETY: null, or the loader's description, which does not change during a constructor.
    while let Some(described) = unsafe { namespace.as_ref() }
        && described.version >= WITH_NEXT
    {
        let mut object = described.objects;
        // SAFETY: as above.
        while let Some(map) = unsafe { object.as_ref() } {
            // SAFETY: as above.
            unsafe { one(map, visit) };
            object = map.next;
        }
        namespace = described.next;
    }
}

/// # Safety
///
/// The object is loaded.
unsafe fn one(map: &LinkMap, visit: &mut dyn FnMut(Object)) {
    let mut info = MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: it writes the description of the object that has this address.
    if unsafe { libc::dladdr(map.dynamic, info.as_mut_ptr()) } == 0 {
        return;
    }
    // SAFETY: dladdr has written it.
    let start = unsafe { info.assume_init() }.dli_fbase.cast_const();
    // SAFETY: an object begins with its ELF header, which the loader maps with the first segment;
    // it has read the magic number itself.
    let header = unsafe { &*start.cast::<libc::Elf64_Ehdr>() };
    if !header.e_ident.starts_with(b"\x7fELF") {
        return;
    }
    let headers = start.wrapping_byte_add(header.e_phoff as usize).cast();
    // SAFETY: the program headers are behind the ELF header, in the same segment.
    let headers = unsafe { slice::from_raw_parts(headers, header.e_phnum.into()) };
    // SAFETY: the loader's name of the object.
    let name = if map.name.is_null() { c"" } else { unsafe { CStr::from_ptr(map.name) } };
    // SAFETY: it is loaded, as the caller promises.
    let copy = unsafe { copy_of(map.base, headers) };
    visit(Object { name, copy });
}

/// The description of the first namespace; null without a loader.
///
/// Referred to weakly, because not every C library has it, nor every static program.
#[cfg(target_arch = "x86_64")]
fn first() -> *const Namespace {
    let address;
    // SAFETY: loads an entry of the global offset table.
    unsafe {
        core::arch::asm!(
            ".weak _r_debug",
            "mov {}, qword ptr [rip + _r_debug@GOTPCREL]",
            out(reg) address,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    address
}

#[cfg(target_arch = "aarch64")]
fn first() -> *const Namespace {
    let address;
    // SAFETY: loads an entry of the global offset table.
    unsafe {
        core::arch::asm!(
            ".weak _r_debug",
            "adrp {0}, :got:_r_debug",
            "ldr {0}, [{0}, :got_lo12:_r_debug]",
            out(reg) address,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    address
}
