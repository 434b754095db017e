//! Checks in the kernel's data whether a thread sleeps.

use crate::until::until;

/// Returns the kernel's number of the calling thread.
pub fn name() -> u32 {
    // A direct system call, because musl's function does not notice every fork.
    // SAFETY: gettid has no preconditions.
    unsafe { libc::syscall(libc::SYS_gettid) as u32 }
}

/// Returns whether the thread of this number, in this process or the first of another one, sleeps
/// in the kernel.
pub fn is_asleep(name: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{name}/stat")).expect("it lives");
    // The state follows the thread's name, which is in parentheses.
    stat.contains(") S ")
}

/// Waits until the thread of this number [is asleep](is_asleep).
pub fn until_asleep(name: u32) {
    until(|| is_asleep(name));
}
