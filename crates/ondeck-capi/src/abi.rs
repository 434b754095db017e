//! What code that was inlined into a program takes for granted of the library that the program
//! finds.
//!
//! `docs/data/abi.md` is the text of it. A change of anything there is a
//! new number, and the number is part of the table's name, so that the loader finds no table for
//! older code.

use core::ffi::c_char;

use ondeck::parking::{BUCKETS, UNLOCK_MODE_QUIET, bucket_of};

/// The number of the ABI of the inlined paths, which `ondeck_abi()` returns too. It is the number
/// in the name of the parking table: where a program was compiled with another one, no library is
/// found that has its table, and the linker or the loader says so.
pub const ONDECK_ABI: u32 = 6;

/// The number of bits of an address's hash: the parking table begins with 2 to the power of this
/// unlock modes.
pub const ONDECK_BUCKET_BITS: u32 = 10;

/// An address is multiplied by this, modulo 2 to the power of 64. The upper bits are its bucket.
pub const ONDECK_BUCKET_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The unlock mode with which an inlined unlock is done.
pub const ONDECK_UNLOCK_QUIET: usize = 0;

const _: () = {
    assert!(BUCKETS == 1 << ONDECK_BUCKET_BITS);
    assert!(ONDECK_UNLOCK_QUIET == UNLOCK_MODE_QUIET);
    #[cfg(target_pointer_width = "64")]
    let addresses = [1, 0x7fff_ffff_f001, 0x5555_5555_4032, usize::MAX];
    #[cfg(not(target_pointer_width = "64"))]
    let addresses = [1, usize::MAX];
    let mut next = 0;
    while next < addresses.len() {
        let product = (addresses[next] as u64).wrapping_mul(ONDECK_BUCKET_FACTOR);
        assert!(bucket_of(addresses[next]) as u64 == product >> (u64::BITS - ONDECK_BUCKET_BITS));
        next += 1;
    }
};

/// The number of the ABI that this library has: `ONDECK_ABI` of the header that belongs to it.
///
/// For programs that load the library by dlopen(3). Others are refused by the linker or the loader
/// if they were compiled with another one.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_abi() -> u32 {
    ONDECK_ABI
}

/// The version of this library, as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Does now what locks otherwise do when they first need it: registers the process with
/// membarrier(2), has the parking table wiped in children of forks, measures the rate of the clock.
///
/// No program has to call this. It is for those that cannot have one slow unlock or wait. Any
/// thread may call it, at any time, and more than once. It takes microseconds in a process with one
/// thread, and milliseconds in others.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_prepare() {
    crate::errno::keep(ondeck::prepare);
}
