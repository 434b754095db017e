//! Runs a closure in a forked copy of the process, which has to end.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};
use std::{ptr, thread};

/// How the process is copied.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "not every test that forks uses both")]
pub enum Fork {
    /// By the C library, which calls its handlers.
    Library,
    /// By the system call alone.
    Call,
}

/// Runs `child` in a forked child, and waits for its end.
pub fn fork(how: Fork, child: impl FnOnce()) {
    // SAFETY: the child uses its copy of the memory, and ends without running the parent's
    // destructors. After the C library's fork its allocator works in the child; after the bare
    // system call `child` must not allocate.
    let pid = unsafe {
        match how {
            Fork::Library => libc::fork(),
            Fork::Call => libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as i32,
        }
    };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        // A panic must not unwind into the parent's tests.
        let status = i32::from(catch_unwind(AssertUnwindSafe(child)).is_err());
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(status) };
    }
    let start = Instant::now();
    let mut status = -1;
    loop {
        // SAFETY: waits for a child of ours, into a live integer.
        let ended = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) };
        if ended == pid {
            assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{how:?}: {status}");
            return;
        }
        if start.elapsed() > Duration::from_secs(30) {
            // SAFETY: a signal to this process's own child.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            panic!("{how:?}: the child hangs in a lock");
        }
        thread::sleep(Duration::from_micros(100));
    }
}

/// Runs `body` on this number of threads, and `last` on the calling one. Returns when all have
/// ended. For children of [`Fork::Library`].
///
/// Uses only the C library, which supports this. The standard library locks an internal mutex for
/// each thread that starts or ends; if that was locked at the fork, it stays locked in the child
/// forever.
pub fn with_threads<F: Fn() + Sync>(count: usize, body: &F, last: impl FnOnce()) {
    extern "C" fn start<F: Fn()>(body: *mut c_void) -> *mut c_void {
        // SAFETY: the pointer is to the `body` of `with_threads`, which lives until all threads are
        // joined.
        unsafe { (*body.cast::<F>())() };
        ptr::null_mut()
    }
    let threads: Vec<libc::pthread_t> = (0..count)
        .map(|_| {
            let mut thread = MaybeUninit::uninit();
            let body = ptr::from_ref(body).cast_mut().cast();
            // SAFETY: `start` takes the body, which other threads may use. A panic in it ends the
            // child.
            unsafe {
                let result =
                    libc::pthread_create(thread.as_mut_ptr(), ptr::null(), start::<F>, body);
                assert_eq!(result, 0, "a child has threads");
                thread.assume_init()
            }
        })
        .collect();
    last();
    for thread in threads {
        // SAFETY: the thread was created above and is joined once.
        let result = unsafe { libc::pthread_join(thread, ptr::null_mut()) };
        assert_eq!(result, 0, "it can be joined");
    }
}
