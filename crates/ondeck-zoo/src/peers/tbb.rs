//! oneTBB's mutex.
//!
//! Source: oneTBB, `oneapi/tbb/mutex.h` and `src/tbb/address_waiter.cpp`; Debian's 2021.8.
//!
//! Teaches: one byte shows only whether the lock is locked. A table keyed by address shows whether a
//! thread sleeps, and each unlock pays for that with a full fence.
//!
//! It is called through C functions, `cpp/shim.cc`, although C++ programs inline all of it but the read
//! of the table. So a pair costs two calls more here than there. Compiling the shim for link-time
//! optimization across languages (clang, with `-C linker-plugin-lto`) would remove them.
//!
//! After the unlock: nothing is touched. An unlock is an exchange; the table is read by address.

use std::cell::UnsafeCell;

use ondeck::platform::Native;

use crate::{LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// `tbb::mutex`.
// SAFETY, as a lock: its library specifies it as one.
#[derive(Debug)]
pub struct TbbMutex {
    /// The C++ object; the shim asserts that it has this size and alignment.
    flag: UnsafeCell<u8>,
}

unsafe extern "C" {
    fn ondeck_zoo_tbb_init(storage: *mut u8);
    fn ondeck_zoo_tbb_lock(mutex: *mut u8);
    fn ondeck_zoo_tbb_try_lock(mutex: *mut u8) -> bool;
    fn ondeck_zoo_tbb_unlock(mutex: *mut u8);
    fn ondeck_zoo_tbb_destroy(mutex: *mut u8);
}

// SAFETY: the mutex is made to be used from many threads, and is reached only by its own functions.
unsafe impl Sync for TbbMutex {}

raw_lock! {
    unsafe impl RawLock<Native> for TbbMutex {
        INFO: LockInfo {
            name: "tbb",
            origin: Origin::Peer,
            waiting: Waiting::SpinsThenSleeps,
            source: "oneTBB 2021.8, tbb::mutex, by call through a C function",
            teaches: "The byte knows no waiters: every unlock is a full fence and a look into a table",
            ..LockInfo::USUAL
        },
        Context: (),
        Condvar: SequenceCondvar<Native>,
        new: {
            let mutex = Self { flag: UnsafeCell::new(0) };
            // SAFETY: the storage fits. Moving the object afterwards, which C++ forbids, is sound while
            // no thread has used it: it is a byte that holds 0, and nothing points to it.
            unsafe { ondeck_zoo_tbb_init(mutex.flag.get()) };
            mutex
        },
        // SAFETY: the mutex is initialized, and not held by this thread.
        lock: |this, ()| unsafe { ondeck_zoo_tbb_lock(this.flag.get()) },
        // SAFETY: as in `lock`.
        try_lock: |this, ()| unsafe { ondeck_zoo_tbb_try_lock(this.flag.get()) },
        // SAFETY: the mutex is held by this thread.
        unlock: |this, ()| unsafe { ondeck_zoo_tbb_unlock(this.flag.get()) },
        is_idle: |this| *this.flag.get_mut() == 0,
    }
}

impl Drop for TbbMutex {
    fn drop(&mut self) {
        // SAFETY: no other thread has the mutex any more.
        unsafe { ondeck_zoo_tbb_destroy(self.flag.get()) };
    }
}
