//! Objects of the C library, and what its functions return.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::io;
use std::mem::MaybeUninit;

/// An object that threads share, and that only the C library's functions read and write.
#[derive(Debug)]
pub(crate) struct Object<T>(UnsafeCell<T>);

// SAFETY: such objects are made to be used from many threads.
unsafe impl<T> Send for Object<T> {}
// SAFETY: as for `Send`.
unsafe impl<T> Sync for Object<T> {}

impl<T> Object<T> {
    /// An object that `initialize` has initialized.
    ///
    /// # Safety
    ///
    /// `initialize` either initializes what its argument points to, or panics. The object may be moved until it is used.
    pub(crate) unsafe fn new(initialize: impl FnOnce(*mut T)) -> Self {
        let mut object = MaybeUninit::uninit();
        initialize(object.as_mut_ptr());
        // SAFETY: it is initialized, as the caller says.
        Self(UnsafeCell::new(unsafe { object.assume_init() }))
    }

    /// A pointer to it for the library's functions.
    #[inline(always)]
    pub(crate) fn get(&self) -> *mut T {
        self.0.get()
    }
}

/// Goes on if a pthread function returned 0.
///
/// Anything else from a correctly used lock is a bug, of ours or of the machine's: a test and a
/// branch never taken is what a careful C program pays for knowing.
#[inline(always)]
pub(crate) fn check(code: c_int, function: &'static str) {
    if code != 0 {
        failed(code, function);
    }
}

#[cold]
#[inline(never)]
fn failed(code: c_int, function: &'static str) -> ! {
    panic!("{function} returned {code}: {}", io::Error::from_raw_os_error(code));
}

/// Whether a `trylock` function acquired; any failure but "held" is a bug, as in [`check`].
#[inline(always)]
pub(crate) fn acquired(code: c_int, function: &'static str) -> bool {
    if code != libc::EBUSY {
        check(code, function);
    }
    code == 0
}

/// Checks what a function for destroying an object returned. EBUSY says that it is held: a bug, but not one that should
/// turn a panic into an abort.
pub(crate) fn destroyed(code: c_int, function: &'static str) {
    debug_assert!(code == 0 || std::thread::panicking(), "{function} returned {code}");
}
