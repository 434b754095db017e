//! The assumptions that code inlined into a program makes about the library that the program loads.
//!
//! `docs/data/abi.md` specifies them. Any change there needs a new number. The number is part of
//! the table's name, so the loader finds no table for older code.

use core::ffi::c_char;

use ondeck::parking::{BUCKETS, UNLOCK_MODE_QUIET, bucket_of};

/// The number of the ABI of the inlined paths, which `ondeck_abi()` also returns. It is part of the
/// name of the parking table: if a program was compiled with another number, the linker or the
/// loader fails to find its table and reports that.
pub const ONDECK_ABI: u32 = 6;

/// The number of bits of an address's hash: the parking table begins with 2 to the power of this
/// unlock modes.
pub const ONDECK_BUCKET_BITS: u32 = 10;

/// The hash of an address is its product with this number, modulo 2 to the power of 64. The upper
/// bits of the hash select the bucket.
pub const ONDECK_BUCKET_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The unlock mode in which an inlined unlock needs no call of the library.
pub const ONDECK_UNLOCK_QUIET: usize = 0;

/// The word of a reader-writer lock that a thread writes, and no thread waits for.
pub const ONDECK_RWLOCK_WRITER: u32 = 1;

/// One reader in the word of a reader-writer lock.
pub const ONDECK_RWLOCK_READER: u32 = 256;

/// If one of these bits of the word is set, the library reads.
pub const ONDECK_RWLOCK_CLOSED: u32 = 0x8000_0041;

/// If this bit of the word is set, the library unlocks a read: the word may not count it.
pub const ONDECK_RWLOCK_BIASED: u32 = 0x40;

/// A reader that leaves, and finds `ONDECK_RWLOCK_LAST` in these bits of the word, has to wake a
/// writer.
pub const ONDECK_RWLOCK_LEAVING: u32 = 0xFFFF_FF20;

/// See `ONDECK_RWLOCK_LEAVING`.
pub const ONDECK_RWLOCK_LAST: u32 = 0x0120;

/// One permit in the word of a semaphore. A word that is less, as a signed number, has none for an
/// arriving thread.
pub const ONDECK_SEM_PERMIT: u32 = 4;

/// If this bit of the word is set, threads wait for permits.
pub const ONDECK_SEM_WAITED: u32 = 1;

/// The number of permits that a semaphore can have.
pub const ONDECK_SEM_MOST: u32 = 0x1FFF_FFFF;

/// The bit of a once's byte that is set when it is done.
pub const ONDECK_ONCE_DONE: u8 = 1;

const _: () = {
    let [writer, reader, closed, biased, leaving] = ondeck::rwlock::INLINED;
    assert!(writer == ONDECK_RWLOCK_WRITER && reader == ONDECK_RWLOCK_READER);
    assert!(closed == ONDECK_RWLOCK_CLOSED && leaving == ONDECK_RWLOCK_LEAVING);
    assert!(biased == ONDECK_RWLOCK_BIASED);
    assert!(ONDECK_RWLOCK_LAST == ONDECK_RWLOCK_READER | ONDECK_RWLOCK_LEAVING & 0xFF);
    let [waited, permit] = ondeck::semaphore::INLINED;
    assert!(waited == ONDECK_SEM_WAITED && permit == ONDECK_SEM_PERMIT);
    assert!(ondeck::semaphore::MOST_PERMITS == ONDECK_SEM_MOST);
    assert!(ondeck::once::DONE == ONDECK_ONCE_DONE);
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

/// Returns the number of this library's ABI: `ONDECK_ABI` of the matching header.
///
/// For programs that load the library by dlopen(3). The linker or the loader refuses any other
/// program that was compiled with another number.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_abi() -> u32 {
    ONDECK_ABI
}

/// Returns the version of this library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Prepares now what locks otherwise prepare at their first need: registers the process with
/// membarrier(2), has the kernel wipe the parking table in children of forks, and measures the rate
/// of the clock.
///
/// No program has to call this. It is for programs that cannot afford one slow unlock or wait. Any
/// thread may call it, at any time, and more than once. It takes microseconds in a process with one
/// thread, and milliseconds in others.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_prepare() {
    crate::errno::keep(ondeck::prepare);
}
