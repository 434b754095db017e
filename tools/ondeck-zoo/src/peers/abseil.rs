//! Abseil's mutex.
//!
//! Source: Abseil, `absl/synchronization/mutex.cc`; Debian's 20220623.
//!
//! Teaches: the throughput with at most one woken thread in flight (the designated waker), and how
//! unequal the threads' shares then are.
//!
//! ```text
//! word: pointer to the newest waiter | spin (queue lock) | designated waker | writer waits | event | writer | wait | reader
//! ```
//!
//! It is called through C functions, `cpp/shim.cc`. Abseil's `Lock` and `Unlock` are also library
//! functions in C++, so a pair costs only two jumps more here than there. Compiling the shim for
//! link-time optimization across languages would remove them and inline nothing more.
//!
//! Making one of these turns off Abseil's search for lock cycles in the whole process. The search
//! belongs to debug builds, but Debian's library is one, and then it costs more than the mutex: a
//! pair takes 67 ns with it and 25 ns without, where a spinlock took 9.5 ns.
//!
//! Its condition variable is also Abseil's, `absl::CondVar`, which moves a notified waiter to the
//! mutex's queue if the mutex is locked.
//!
//! After the unlock: nothing is touched. The uncontended unlock is a compare-exchange. With
//! waiters, one store frees queue and lock together, after the thread to wake was taken off the
//! queue. Later steps touch that thread's record only.

use std::ffi::{c_int, c_void};

use ondeck::platform::Native;

use super::cpp_mutex::{Storage, cpp_mutex};
use crate::{CondvarKind, LockInfo, Origin, RawCondvar, RawLock, Waiting};

unsafe extern "C" {
    fn ondeck_zoo_abseil_prepare();
}

cpp_mutex! {
    /// `absl::Mutex`.
    AbseilMutex([usize; 1] = [0]) {
        lock: ondeck_zoo_abseil_write, ondeck_zoo_abseil_try_write, ondeck_zoo_abseil_unlock_write;
        // SAFETY: it has no preconditions.
        prepare: unsafe { ondeck_zoo_abseil_prepare() },
        info: LockInfo {
            name: "abseil",
            condvar: CondvarKind::Own,
            source: "Abseil 20220623, absl::Mutex, by call through a C function",
            teaches: "At most one woken thread on its way: most throughput, least equal shares",
            ..LockInfo::USUAL
        },
    }

    /// `absl::CondVar`.
    AbseilCondvar {
        wait: ondeck_zoo_abseil_condvar_wait,
        one: ondeck_zoo_abseil_condvar_signal,
        all: ondeck_zoo_abseil_condvar_signal_all
    }
}
