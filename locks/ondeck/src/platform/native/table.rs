//! The parking table of the process.
//!
//! In the child of a fork the waiters of the parent do not exist, but their nodes would still be
//! linked, and a bucket may have been locked by a thread that is gone. On Linux the kernel wipes
//! the table in the child (madvise(2), `MADV_WIPEONFORK`): zeros are a table that was never used.
//! That needs no handler and no allocation, and also works for a fork that the C library does not
//! see. If the kernel refuses it, and on other Unix systems, a handler of pthread_atfork(3) does
//! the same.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::Native;
use crate::parking::{BUCKETS, Bucket, Node, bucket_of};
use crate::platform::system::System;

/// On Linux the table is page-aligned and consists of whole pages, because the kernel wipes pages:
/// no other data may be in them. Elsewhere it consists of whole cache lines, because other systems'
/// program formats allow no such alignment.
#[cfg_attr(any(target_os = "linux", target_os = "android"), repr(C, align(65536)))]
#[cfg_attr(not(any(target_os = "linux", target_os = "android")), repr(C, align(4096)))]
struct Table {
    unlock_modes: [AtomicUsize; BUCKETS],
    buckets: [Bucket<Native>; BUCKETS],
}

/// Exported, so that the linker refuses two copies of this crate in one object, which would
/// otherwise have a table each. The number changes with the layout.
// SAFETY: no other symbol of any library has this name.
#[unsafe(export_name = "ondeck_parking_table_6")]
// SAFETY: as in `wipe`: zeros are a table that was never used. They cost nothing in the program's
// file.
static TABLE: Table = unsafe { core::mem::zeroed() };

const _: () = assert!(Node::<Native>::HAS_NO_PADDING);

#[inline(always)]
pub(super) fn unlock_mode(address: usize) -> &'static AtomicUsize {
    &TABLE.unlock_modes[bucket_of(address)]
}

#[inline]
pub(super) fn bucket(address: usize) -> &'static Bucket<Native> {
    protect_once();
    &TABLE.buckets[bucket_of(address)]
}

/// Ensures that the child of a fork finds the table empty.
#[inline]
pub(super) fn protect_once() {
    /// Relaxed: a second protection is harmless, and a fork by this thread comes after its own
    /// call.
    static PROTECTED: AtomicBool = AtomicBool::new(false);
    if !PROTECTED.load(Ordering::Relaxed) {
        protect();
        PROTECTED.store(true, Ordering::Relaxed);
    }
}

#[cold]
fn protect() {
    let start = (&raw const TABLE).cast_mut().cast();
    Native::wipe_in_children(start, size_of::<Table>(), wipe);
}

/// Runs in the child, on its only thread.
extern "C" fn wipe() {
    let table = (&raw const TABLE).cast_mut();
    // SAFETY: all fields are atomics, for which zero is a valid value, in memory that is writable;
    // there is no other thread.
    unsafe { table.write_bytes(0, 1) };
}
