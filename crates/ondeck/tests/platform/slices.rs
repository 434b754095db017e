//! Time slices are extended where the kernel and the C library can do it, and nothing is done elsewhere.

use ondeck::platform::{Linux, Threads};

/// What the kernel says of the calling thread: 1 if it is on, 0 if it is off, -1 if there is no such thing.
fn kernel_says() -> i32 {
    const PR_RSEQ_SLICE_EXTENSION: libc::c_int = 79;
    const PR_RSEQ_SLICE_EXTENSION_GET: libc::c_ulong = 1;
    let nothing: libc::c_ulong = 0;
    // SAFETY: takes integers, and asks only.
    unsafe {
        libc::prctl(PR_RSEQ_SLICE_EXTENSION, PR_RSEQ_SLICE_EXTENSION_GET, nothing, nothing, nothing)
    }
}

/// The bytes of the area that the C library says are in use; 0 if it has none.
fn registered_bytes() -> u32 {
    // SAFETY: a name that ends with a zero.
    let size = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr()) };
    // SAFETY: if it is there it is a `const unsigned int`.
    if size.is_null() { 0 } else { unsafe { *size.cast::<u32>() } }
}

#[test]
fn a_thread_asks_only_where_the_kernel_has_it() {
    let before = kernel_says();
    // SAFETY: the pointer is to this thread's own errno.
    unsafe { *libc::__errno_location() = 77 };
    let asks = Linux::extend_slice();
    // SAFETY: as above.
    assert_eq!(unsafe { *libc::__errno_location() }, 77, "errno is the program's");
    if before < 0 || registered_bytes() <= 32 {
        assert!(!asks, "the kernel says {before}, {} bytes", registered_bytes());
    }
    // It is on from the first question on, and off in a thread that has not asked.
    assert_eq!(kernel_says(), if asks { 1 } else { before });
    assert!(!Linux::extend_slice(), "once, until it is given back");
    if asks {
        Linux::give_back_slice();
        assert!(Linux::extend_slice());
        Linux::give_back_slice();
    }
}

#[test]
fn threads_that_end_and_begin_ask_anew() {
    let asks = || {
        let asks = Linux::extend_slice();
        if asks {
            Linux::give_back_slice();
        }
        asks
    };
    let first = asks();
    for _ in 0..20 {
        assert_eq!(std::thread::spawn(asks).join().expect("no panic"), first);
    }
}
