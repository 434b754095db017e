//! Reader-writer locks written in C and C++.
//!
//! Sources, of Debian 12: Abseil 20220623, `absl/synchronization/mutex.cc`; nsync 1.25,
//! `internal/mu.c`.
//!
//! Abseil's and nsync's mutexes are also reader-writer locks: the same words also count readers.
//! The notes of the mutexes' files on calls, on moving and on the search for cycles also apply
//! here.
//!
//! Abseil's are called through C functions, `cpp/shim.cc`.
//!
//! After the unlock: the lock is touched, as far as is known.

use std::ffi::{c_int, c_void};

use ondeck::platform::Native;

use crate::peers::cpp_mutex::Storage;
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawRwLock, Waiting};

unsafe extern "C" {
    fn ondeck_zoo_abseil_prepare();
}

/// Every lock here is initialized with zeros, as in its library. C++ requires a call of the
/// constructor, which stores zeros and nothing else.
macro_rules! cpp_rwlocks {
    ($(
        $(#[$doc:meta])*
        $Lock:ident[$words:literal] {
            read: $read:ident, $try_read:ident, $unlock_read:ident;
            write: $write:ident, $try_write:ident, $unlock_write:ident;
            $(new: $new:expr,)?
            idle: $idle:expr,
            info: LockInfo { $($fact:tt)* },
        }
    )*) => {
        unsafe extern "C" {
            $(
                fn $read(lock: *mut c_void);
                fn $try_read(lock: *mut c_void) -> c_int;
                fn $unlock_read(lock: *mut c_void);
                fn $write(lock: *mut c_void);
                fn $try_write(lock: *mut c_void) -> c_int;
                fn $unlock_write(lock: *mut c_void);
            )*
        }

        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $Lock(Storage<[usize; $words]>);

            // SAFETY, as a lock: its library specifies it as one.
            raw_rwlock! {
                unsafe impl RawRwLock<Native> for $Lock {
                    INFO: LockInfo {
                        origin: Origin::Peer,
                        condvar: CondvarKind::Without,
                        $($fact)*
                    },
                    new: {
                        $($new;)?
                        Self(Storage::new([0; $words]))
                    },
                    // SAFETY: zeros are an initialized lock, which this thread does not hold.
                    read: |this, ()| unsafe { $read(this.0.pointer()) },
                    // SAFETY: as in `read`.
                    try_read: |this, ()| unsafe { $try_read(this.0.pointer()) != 0 },
                    // SAFETY: this thread is a reader.
                    unlock_read: |this, ()| unsafe { $unlock_read(this.0.pointer()) },
                    // SAFETY: as in `read`.
                    write: |this, ()| unsafe { $write(this.0.pointer()) },
                    // SAFETY: as in `read`.
                    try_write: |this, ()| unsafe { $try_write(this.0.pointer()) != 0 },
                    // SAFETY: this thread is the writer.
                    unlock_write: |this, ()| unsafe { $unlock_write(this.0.pointer()) },
                    is_idle: |this| {
                        let idle: fn(&[usize; $words]) -> bool = $idle;
                        idle(this.0.get_mut())
                    },
                }
            }
        )*
    };
}

cpp_rwlocks! {
    /// `absl::Mutex` with `ReaderLock`.
    AbseilRwLock[1] {
        read: ondeck_zoo_abseil_read, ondeck_zoo_abseil_try_read, ondeck_zoo_abseil_unlock_read;
        write: ondeck_zoo_abseil_write, ondeck_zoo_abseil_try_write, ondeck_zoo_abseil_unlock_write;
        // SAFETY: it has no preconditions.
        new: unsafe { ondeck_zoo_abseil_prepare() },
        idle: |words| *words == [0],
        info: LockInfo {
            name: "abseil_rwlock",
            waiting: Waiting::SpinsThenSleeps,
            touches_after_release: true,
            source: "Abseil 20220623, absl::Mutex with ReaderLock, by call through a C function",
            teaches: "A mutex that counts readers in the word in which it has its queue",
            ..LockInfo::USUAL
        },
    }

    /// `nsync_mu` with `nsync_mu_rlock`.
    NsyncRwLock[2] {
        read: nsync_mu_rlock, nsync_mu_rtrylock, nsync_mu_runlock;
        write: nsync_mu_lock, nsync_mu_trylock, nsync_mu_unlock;
        idle: |words| *words == [0; 2],
        info: LockInfo {
            name: "nsync_rwlock",
            waiting: Waiting::SpinsThenSleeps,
            fairness: Fairness::Bounded,
            touches_after_release: true,
            source: "nsync 1.25, nsync_mu with nsync_mu_rlock, by Mike Burrows, by call",
            teaches: "Arriving readers wait behind a waiting writer, and a waiter woken in vain goes first",
        },
    }
}
