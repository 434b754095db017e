//! Whether a thread sleeps, by the kernel's word.

use std::thread;

/// The kernel's name of the calling thread.
pub fn name() -> u32 {
    // The call itself: musl's function does not know of every fork.
    // SAFETY: gettid has no preconditions.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// Waits until the thread of this name, of this process or the first of another one, sleeps in the kernel.
pub fn until_asleep(name: u32) {
    let stat = format!("/proc/{name}/stat");
    // After the thread's own name, which is in parentheses, comes the state.
    while !std::fs::read_to_string(&stat).expect("it lives").contains(") S ") {
        thread::yield_now();
    }
}
