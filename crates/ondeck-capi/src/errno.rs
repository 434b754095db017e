//! The caller's errno.

use crate::system;

/// Runs `operation` and gives errno back its value: functions here return their errors, as those of
/// pthreads do, and the system calls in them are no business of their callers.
pub(crate) fn keep<R>(operation: impl FnOnce() -> R) -> R {
    let errno = system::errno();
    // SAFETY: it is this thread's own, and lives as long as the thread.
    let before = unsafe { *errno };
    let result = operation();
    // SAFETY: as above.
    unsafe { *errno = before };
    result
}
