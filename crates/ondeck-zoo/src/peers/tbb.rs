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

use std::ffi::{c_int, c_void};

use ondeck::platform::Native;

use super::cpp_mutex::{Storage, cpp_mutex};
use crate::{LockInfo, Origin, RawLock, Waiting};

cpp_mutex! {
    /// `tbb::mutex`.
    TbbMutex(u8 = 0) {
        lock: ondeck_zoo_tbb_lock, ondeck_zoo_tbb_try_lock, ondeck_zoo_tbb_unlock;
        info: LockInfo {
            name: "tbb",
            source: "oneTBB 2021.8, tbb::mutex, by call through a C function",
            teaches: "The byte knows no waiters: every unlock is a full fence and a look into a table",
            ..LockInfo::USUAL
        },
    }
}
