//! The settings in the environment, read before `main`.
//!
//! A lock cannot read the environment when it first needs to: another thread may be changing it, by
//! `setenv` of the C library or `set_var` of the standard library, and a reader may then follow a
//! pointer to memory that is gone. So a constructor reads it, once, while the loader loads the
//! program or the shared library that contains this crate, and copies the settings into statics. It
//! makes no system call and allocates nothing.
//!
//! * In a program, and in a library that is loaded with it, no other thread exists at that time.
//! * A library that is loaded later, by dlopen(3), reads the environment of that moment. The
//!   program must not change its environment in another thread during the load. Since version 2.41
//!   of glibc it may.
//! * Later changes of the program to its own environment have no effect.
//! * If constructors do not run, as in WebAssembly, and for locks that an earlier constructor uses,
//!   the defaults hold.

use core::sync::atomic::{AtomicBool, Ordering};

/// Whether `ONDECK_NO_MEMBARRIER` asks for full fences. Relaxed: written before any read, except by
/// threads of earlier constructors, which may read either value.
static WITHOUT_MEMBARRIER: AtomicBool = AtomicBool::new(false);

/// Called by the loader.
///
/// The number is the order among constructors: numbers up to 100 are reserved for the C library,
/// and constructors without a number come last. So locks that other constructors use have the
/// settings in time. Windows and Apple's systems have only an order of files.
///
/// The linker includes this although nothing refers to it: it is `used`, and is in the same object
/// file as a static that every lock needs.
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

/// Returns whether heavy fences may be used, if the system has them.
pub(super) fn allows_membarrier() -> bool {
    !WITHOUT_MEMBARRIER.load(Ordering::Relaxed)
}
