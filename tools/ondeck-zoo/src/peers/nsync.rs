//! nsync's mutex.
//!
//! Source: nsync, `internal/mu.c`; Debian's 1.25.
//!
//! Teaches: the designated waker again, with a bound on starvation. After 30 wakes without an
//! acquisition, a thread makes arriving threads queue after it.
//!
//! ```text
//! word      readers | all false | condition | long wait | writer waits | designated waker | spinlock | waiting | writer
//! waiters   ring of the waiters' records, under the spinlock bit
//! ```
//!
//! Its condition variable is also nsync's, `internal/cv.c`, which moves a notified waiter to the
//! mutex's ring if the mutex is locked.
//!
//! Its functions are C's, and out of line also for C programs, so they are called directly.
//!
//! After the unlock: a contended unlock touches the lock. It frees the mutex while it takes the
//! spinlock bit, so other threads may acquire the mutex while it changes `waiters` and clears that
//! bit. Even so the last user may free the lock, as nsync promises in a comment: the unlock wakes a
//! thread only after its last access, and a lock with a sleeping thread is still in use.

use std::ffi::{c_int, c_void};

use ondeck::platform::Native;

use super::cpp_mutex::{Storage, cpp_mutex};
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawCondvar, RawLock, Waiting};

cpp_mutex! {
    /// `nsync_mu`.
    NsyncMutex([usize; 2] = [0; 2]) {
        lock: nsync_mu_lock, nsync_mu_trylock, nsync_mu_unlock;
        info: LockInfo {
            name: "nsync",
            fairness: Fairness::Bounded,
            touches_after_release: true,
            condvar: CondvarKind::Own,
            source: "nsync 1.25, nsync_mu, by Mike Burrows, by call",
            teaches: "The designated waker, and arriving threads queue behind a waiter woken 30 times in vain",
        },
    }

    /// `nsync_cv`.
    NsyncCondvar { wait: nsync_cv_wait, one: nsync_cv_signal, all: nsync_cv_broadcast }
}
