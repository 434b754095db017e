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
//! * Where constructors do not run, as in WebAssembly, and for locks that are used by an earlier constructor, the
//!   defaults hold.

use core::sync::atomic::{AtomicBool, Ordering};

/// Whether `ONDECK_NO_MEMBARRIER` asks for full fences. Relaxed: written before whatever reads it,
/// but for threads of earlier constructors, which may see either.
static WITHOUT_MEMBARRIER: AtomicBool = AtomicBool::new(false);

/// Called by the loader.
///
/// The number is the order among constructors: those up to 100 are the C library's, those without a
/// number come last. Locks that other constructors use are therefore told in time. Windows and Apple's systems
/// have an order of files only.
///
/// The linker takes this along although nothing refers to it: it is `used`, and stands in the same
/// object file as a static that every lock needs.
#[cfg(any(unix, windows))]
#[used]
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
#[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(all(unix, not(target_vendor = "apple")), unsafe(link_section = ".init_array.00101"))]
static CONSTRUCTOR: extern "C" fn() = read;

#[cfg(any(unix, windows))]
extern "C" fn read() {
    use crate::platform::{Native, system::System};
    use crate::spin::Polling;
    Native::with_variable(c"ONDECK_SPIN", |spin| Polling::default().overridden(spin).install());
    Native::with_variable(c"ONDECK_NO_MEMBARRIER", |value| {
        WITHOUT_MEMBARRIER.store(!matches!(value, b"" | b"0"), Ordering::Relaxed);
    });
}

/// Whether heavy fences may be used, if the system has them.
pub(super) fn allows_membarrier() -> bool {
    !WITHOUT_MEMBARRIER.load(Ordering::Relaxed)
}
