//! What the environment asks for, read before `main`.
//!
//! A lock cannot read the environment when it first needs to: another thread may be changing it, by
//! `setenv` of the C library or `set_var` of the standard library, and a reader may then follow a
//! pointer to memory that is gone. So a constructor reads it, once, while the program or the shared
//! library that contains this crate is being loaded, and copies what it finds into statics. It makes
//! no system call and allocates nothing.
//!
//! * In a program, and in a library that is loaded with it, no other thread exists at that time.
//! * A library that is loaded later, by dlopen(3), reads what is there at that moment. The program
//!   must not change its environment meanwhile in another thread. Since version 2.41 of glibc it may.
//! * What a program puts into its own environment later changes nothing.
//! * Where constructors do not run, and for locks that are used by an earlier constructor, the
//!   defaults hold.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};

use crate::spin::Polling;

/// Whether `ONDECK_NO_MEMBARRIER` asks for full fences. Relaxed: written before whatever reads it,
/// but for threads of earlier constructors, which may see either.
static WITHOUT_MEMBARRIER: AtomicBool = AtomicBool::new(false);

/// Called by the loader.
///
/// The number is the order among constructors: those up to 100 are the C library's, those without a
/// number come last. Locks that other constructors use are therefore told in time.
///
/// The linker takes this along although nothing refers to it: it is `used`, and stands in the same
/// object file as a static that every lock needs.
#[used]
#[unsafe(link_section = ".init_array.00101")]
static CONSTRUCTOR: extern "C" fn() = read;

extern "C" fn read() {
    if let Some(spin) = variable(c"ONDECK_SPIN") {
        Polling::default().overridden(spin).install();
    }
    let without = !matches!(variable(c"ONDECK_NO_MEMBARRIER"), None | Some(b"" | b"0"));
    WITHOUT_MEMBARRIER.store(without, Ordering::Relaxed);
}

fn variable(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the name ends with a zero byte. No thread changes the environment meanwhile, see above.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: getenv returns null or a string that ends with a zero byte; the caller is done with it
    // before a thread can change it.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) }.to_bytes())
}

/// Whether membarrier(2) may be used, if the kernel has it.
pub(super) fn allows_membarrier() -> bool {
    !WITHOUT_MEMBARRIER.load(Ordering::Relaxed)
}
