//! Initialization and destruction.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use crate::errno::EBUSY;
use crate::mutex::try_lock;
use crate::object::{Kind, Mutex};
use crate::real;
use crate::recorded;

/// `pthread_mutex_init`.
///
/// The bytes are written whatever they were: an allocator initializes its mutexes anew in the child of a
/// fork, where other threads have left them locked.
///
/// # Safety
///
/// As of the C library's function: `mutex` points to memory for a mutex, `attributes` to attributes or
/// nowhere.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mutex_init(
    mutex: *mut Mutex,
    attributes: *const c_void,
) -> c_int {
    if attributes.is_null() {
        // SAFETY: the memory is the caller's, and zeros are a mutex.
        unsafe { mutex.write_bytes(0, 1) };
        // SAFETY: it was initialized just now.
        recorded::note_creation(unsafe { &*mutex });
        return 0;
    }
    // The C library knows what attributes mean, and refuses some. What it writes is a mutex of ours, too:
    // zeros, and the kind.
    // SAFETY: the C library's function, with what its caller gave.
    let result = unsafe { real::mutex_init(mutex, attributes) };
    if result == 0 {
        // SAFETY: it was initialized just now.
        let shared = unsafe { &*mutex };
        shared.forget_elision();
        if shared.kind() != Kind::Libc {
            recorded::note_creation(shared);
        }
    }
    result
}

/// `pthread_mutex_destroy`.
///
/// # Safety
///
/// As of the C library's function: `mutex` points to a mutex.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mutex_destroy(mutex: *mut Mutex) -> c_int {
    // SAFETY: the caller's mutex is there.
    let shared = unsafe { &*mutex };
    if shared.kind() == Kind::Libc {
        if shared.has_users() {
            return EBUSY;
        }
        // SAFETY: the C library's function, with what its caller gave.
        return unsafe { real::mutex_destroy(mutex) };
    }
    if shared.has_users() || !try_lock(shared) {
        return EBUSY;
    }
    // No thread may want it any more, so that none is to be woken: an unlock would only take the lock of the
    // parking table's bucket, in which a thread of asynchronous cancellation must not be. Its bytes are then as
    // a program may leave them that initializes it by hand.
    shared.byte().store(0, Ordering::Release);
    shared.set_destroyed();
    0
}
