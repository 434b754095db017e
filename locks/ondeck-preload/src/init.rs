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
/// Overwrites the bytes regardless of their contents: an allocator reinitializes its mutexes in the
/// child of a fork, where other threads have left them locked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mutex_init(
    mutex: *mut Mutex,
    attributes: *const c_void,
) -> c_int {
    if attributes.is_null() {
        // SAFETY: the memory is the caller's, and zeros are a mutex.
        recorded::note_creation(unsafe {
            mutex.write_bytes(0, 1);
            &*mutex
        });
        return 0;
    }
    // The C library interprets attributes, and refuses some. It also writes a mutex of ours: zeros,
    // and the kind. SAFETY: the C library's function, with the caller's arguments.
    let result = unsafe { real::mutex_init(mutex, attributes) };
    if result == 0 {
        // SAFETY: the mutex was initialized just now.
        let shared = unsafe { &*mutex };
        shared.forget_elision();
        if shared.kind() != Kind::Libc {
            recorded::note_creation(shared);
        }
    }
    result
}

/// `pthread_mutex_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_mutex_destroy(mutex: &Mutex) -> c_int {
    if mutex.kind() == Kind::Libc {
        if mutex.has_users() {
            return EBUSY;
        }
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::mutex_destroy(mutex) };
    }
    if mutex.has_users() || !try_lock(mutex) {
        return EBUSY;
    }
    // No thread may want the mutex any more, so there is none to wake: an unlock would only take
    // the lock of the parking table's bucket, which a thread with asynchronous cancellation must
    // not hold. The bytes are then such as a program that initializes the mutex by hand may leave.
    mutex.byte().store(0, Ordering::Release);
    mutex.set_destroyed();
    0
}
