//! What the pthread functions return.

use std::ffi::c_int;
use std::io;

/// Goes on if a pthread function returned 0.
///
/// Anything else from a correctly used lock is a bug, of ours or of the machine's: a test and a
/// branch never taken is what a careful C program pays for knowing.
#[inline(always)]
pub(super) fn check(code: c_int, function: &'static str) {
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
pub(super) fn acquired(code: c_int, function: &'static str) -> bool {
    if code != libc::EBUSY {
        check(code, function);
    }
    code == 0
}
