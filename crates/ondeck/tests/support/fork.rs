//! A copy of the process that runs a closure, must come to its end, and is waited for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::{Duration, Instant};

/// How the process is copied.
#[derive(Clone, Copy, Debug)]
#[allow(dead_code, reason = "not every test that forks does it in both ways")]
pub enum Fork {
    /// By the C library, with its handlers.
    Library,
    /// By the system call alone.
    Call,
}

/// Runs `child` in a forked child, which must come to its end.
pub fn fork(how: Fork, child: impl FnOnce()) {
    // SAFETY: the child uses the memory that it has a copy of, and ends without running the parent's
    // destructors. The C library's allocator works in it after its own fork; after the bare call
    // `child` must not allocate.
    let pid = unsafe {
        match how {
            Fork::Library => libc::fork(),
            Fork::Call => libc::syscall(libc::SYS_clone, libc::SIGCHLD, 0, 0, 0, 0) as i32,
        }
    };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        // A panic must not go on into the parent's tests.
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
            // SAFETY: a signal to our own child.
            unsafe { libc::kill(pid, libc::SIGKILL) };
            panic!("{how:?}: the child hangs in a lock");
        }
        thread::sleep(Duration::from_micros(100));
    }
}
