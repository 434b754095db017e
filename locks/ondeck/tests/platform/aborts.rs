//! Cases that abort the process with a message, because continuing would be silently wrong.

use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::AtomicU32;

use ondeck::platform::{Linux, Platform};

use crate::again::{again, is_child};
use crate::keys;
use crate::seccomp::refuse_futexes;

/// Checks that the calling test, run in a child process, aborts with `message`.
fn aborts(message: &str) {
    let output = again(|_| ());
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{}: {told}", output.status);
    assert!(told.contains(message), "{told}");
}

#[test]
fn a_closure_of_park_panics_where_the_thread_can_be_found() {
    if is_child() {
        let word = AtomicU32::new(0);
        let key = (&raw const word).addr();
        let _ = keys::park::<Linux>(key, || true, || panic!("on purpose"), None);
    } else {
        aborts("ondeck: a closure of `park` panicked");
    }
}

/// A lock that treated an unknown failure as a wake would spin, or lose a wake.
#[test]
fn a_futex_cannot_be_waited_for() {
    if is_child() {
        refuse_futexes();
        let _ = Linux::futex_wait(&AtomicU32::new(0), 0, None);
    } else {
        aborts("ondeck: futex wait failed with errno 38\n");
    }
}

#[test]
fn a_futex_cannot_be_woken() {
    if is_child() {
        refuse_futexes();
        Linux::futex_wake(&AtomicU32::new(0), 1);
    } else {
        aborts("ondeck: futex wake failed with errno 38\n");
    }
}

#[test]
fn the_waiters_of_a_futex_cannot_be_moved() {
    if is_child() {
        refuse_futexes();
        Linux::futex_requeue(&AtomicU32::new(0), 0, 1, &AtomicU32::new(0), 1);
    } else {
        aborts("ondeck: futex requeue failed with errno 38\n");
    }
}

/// Replaces the C library's function, which `pthread_atfork` calls.
#[cfg(target_env = "gnu")]
mod atfork {
    use std::ffi::{c_int, c_void};
    use std::sync::atomic::{AtomicBool, Ordering};

    type Handler = Option<unsafe extern "C" fn()>;

    /// Whether registering a handler fails for lack of memory.
    pub static FAILS: AtomicBool = AtomicBool::new(false);

    // SAFETY: as for the C library's own function, which it calls.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn __register_atfork(
        prepare: Handler,
        parent: Handler,
        child: Handler,
        object: *mut c_void,
    ) -> c_int {
        type Register = unsafe extern "C" fn(Handler, Handler, Handler, *mut c_void) -> c_int;
        if FAILS.load(Ordering::Relaxed) {
            return libc::ENOMEM;
        }
        // SAFETY: the next function of this name is the C library's, which has this type.
        unsafe {
            let next = libc::dlsym(libc::RTLD_NEXT, c"__register_atfork".as_ptr());
            std::mem::transmute::<*mut c_void, Register>(next)(prepare, parent, child, object)
        }
    }
}

/// Its children would hang.
#[test]
#[cfg(target_env = "gnu")]
fn a_table_that_no_child_would_find_empty_is_not_used() {
    if is_child() {
        crate::seccomp::refuse(libc::SYS_madvise, libc::EINVAL);
        atfork::FAILS.store(true, std::sync::atomic::Ordering::Relaxed);
        ondeck::prepare();
    } else {
        aborts("ondeck: pthread_atfork failed with errno 12\n");
    }
}
