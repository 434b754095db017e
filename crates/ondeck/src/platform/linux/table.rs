//! The parking table of the process.
//!
//! In the child of a fork the waiters of the parent do not exist, but their nodes would still be
//! linked, and a bucket may have been locked by a thread that is gone. The kernel wipes the table
//! in the child (madvise(2), `MADV_WIPEONFORK`): zeros are a table that was never used. That needs
//! no handler, no allocation, and holds for a fork that the C library does not see. Where it is
//! refused a handler of pthread_atfork(3) does the same.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Linux, quietly};
use crate::parking::{BUCKETS, Bucket, bucket_of};

/// Page-aligned, and whole pages, because the kernel wipes pages: nothing else may lie in them.
#[repr(C, align(65536))]
struct Table {
    unlock_modes: [AtomicUsize; BUCKETS],
    buckets: [Bucket<Linux>; BUCKETS],
}

/// Exported, so that two copies of this crate which are linked into one object are refused by the linker
/// rather than having a table each. The number changes with the layout.
// SAFETY: no other symbol of any library has this name.
#[unsafe(export_name = "ondeck_parking_table_2")]
static TABLE: Table = Table {
    unlock_modes: [const { AtomicUsize::new(0) }; BUCKETS],
    buckets: [Bucket::EMPTY; BUCKETS],
};

#[inline(always)]
pub(super) fn unlock_mode(address: usize) -> &'static AtomicUsize {
    &TABLE.unlock_modes[bucket_of(address)]
}

#[inline]
pub(super) fn bucket(address: usize) -> &'static Bucket<Linux> {
    protect_once();
    &TABLE.buckets[bucket_of(address)]
}

/// Sees to it that the child of a fork finds the table empty.
#[inline]
pub(super) fn protect_once() {
    /// Relaxed: protecting twice does no harm, and a fork by this thread comes after its own call.
    static PROTECTED: AtomicBool = AtomicBool::new(false);
    if !PROTECTED.load(Ordering::Relaxed) {
        protect();
        PROTECTED.store(true, Ordering::Relaxed);
    }
}

#[cold]
fn protect() {
    let start = (&raw const TABLE).cast_mut().cast();
    // SAFETY: the range is the table's alone; the advice changes nothing in this process.
    let advise = || unsafe { libc::madvise(start, size_of::<Table>(), libc::MADV_WIPEONFORK) };
    let refused = quietly(advise).0 != 0;
    if refused {
        // SAFETY: the handler is a function of this library, which is never unloaded while locks
        // are in use. Without memory for it there is nothing to be done: forks then go without.
        quietly(|| unsafe { libc::pthread_atfork(None, None, Some(wipe)) });
    }
}

/// Runs in the child, whose only thread this is.
extern "C" fn wipe() {
    let table = (&raw const TABLE).cast_mut();
    // SAFETY: all fields are atomics, for which zero is a valid value, in memory that is writable;
    // there is no other thread.
    unsafe { table.write_bytes(0, 1) };
}
