//! `mtx_*` and `cnd_*`: the same objects under the names of C11. The waits are in `cancel.c`.
//!
//! The C library's `mtx_lock` calls its own `pthread_mutex_lock` directly, not through the table by
//! which an interposer is found. So all of them are here.

use core::ffi::c_int;
use core::ptr;

use libc::timespec;

use crate::cond::{
    ondeck_preload_cond_broadcast, ondeck_preload_cond_destroy, ondeck_preload_cond_init,
    ondeck_preload_cond_signal,
};
use crate::errno::{EBUSY, ETIMEDOUT};
use crate::init::ondeck_preload_mutex_destroy;
use crate::mutex::{
    ondeck_preload_mutex_lock, ondeck_preload_mutex_trylock, ondeck_preload_mutex_unlock,
};
use crate::object::{Cond, Mutex, RECURSIVE};
use crate::timed::ondeck_preload_mutex_timedlock;

const SUCCESS: c_int = 0;
const BUSY: c_int = 1;
const ERROR: c_int = 2;
const TIMED_OUT: c_int = 4;

/// `mtx_recursive` in the type of a mutex. All other bits are ignored, as in the C library.
const TYPE_RECURSIVE: c_int = 1;

/// Converts a result to C11's.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_c11_result(errno: c_int) -> c_int {
    match errno {
        0 => SUCCESS,
        EBUSY => BUSY,
        ETIMEDOUT => TIMED_OUT,
        _ => ERROR,
    }
}

/// `mtx_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mtx_init(mutex: *mut Mutex, type_: c_int) -> c_int {
    // SAFETY: the memory is the caller's, and zeros are a mutex.
    let shared = unsafe {
        mutex.write_bytes(0, 1);
        &*mutex
    };
    if type_ & TYPE_RECURSIVE != 0 {
        shared.set_kind(RECURSIVE);
    }
    SUCCESS
}

/// `mtx_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_mtx_destroy(mutex: &Mutex) {
    ondeck_preload_mutex_destroy(mutex);
}

/// Functions that do the same as the pthread ones, and return C11's name of the result.
macro_rules! same {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),+) is $pthread:ident;)+) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $name($($argument: $type),+) -> c_int {
            ondeck_preload_c11_result($pthread($($argument),+))
        }
    )+};
}

same! {
    /// `mtx_lock`.
    ondeck_preload_mtx_lock(mutex: &Mutex) is ondeck_preload_mutex_lock;
    /// `mtx_trylock`.
    ondeck_preload_mtx_trylock(mutex: &Mutex) is ondeck_preload_mutex_trylock;
    /// `mtx_timedlock`.
    ondeck_preload_mtx_timedlock(mutex: &Mutex, deadline: Option<&timespec>) is ondeck_preload_mutex_timedlock;
    /// `cnd_signal`.
    ondeck_preload_cnd_signal(cond: &Cond) is ondeck_preload_cond_signal;
    /// `cnd_broadcast`.
    ondeck_preload_cnd_broadcast(cond: &Cond) is ondeck_preload_cond_broadcast;
}

/// `mtx_unlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mtx_unlock(mutex: &Mutex) -> c_int {
    // SAFETY: as the caller promises.
    ondeck_preload_c11_result(unsafe { ondeck_preload_mutex_unlock(mutex) })
}

/// `cnd_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_cnd_init(cond: *mut Cond) -> c_int {
    // SAFETY: as the caller promises.
    ondeck_preload_c11_result(unsafe { ondeck_preload_cond_init(cond, ptr::null()) })
}

/// `cnd_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_cnd_destroy(cond: &Cond) {
    ondeck_preload_cond_destroy(cond);
}
