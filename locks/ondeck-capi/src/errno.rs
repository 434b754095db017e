//! The caller's errno.

use crate::system;

/// Runs `operation` and restores errno: like pthreads, the functions of this library return their
/// errors, and callers must not see the effects of the system calls inside.
pub(crate) fn keep<R>(operation: impl FnOnce() -> R) -> R {
    let errno = system::errno();
    // SAFETY: errno is thread-local, and lives as long as the thread.
    let before = unsafe { *errno };
    let result = operation();
    // SAFETY: as above.
    unsafe { *errno = before };
    result
}
