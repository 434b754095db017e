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
//! After the unlock: nothing is touched. The uncontended unlock is a compare-exchange. With waiters,
//! one store frees queue and lock together, after the thread to wake was taken off the queue. Later
//! steps touch that thread's record only.

use std::cell::UnsafeCell;

use ondeck::platform::Native;

use crate::{CondvarKind, LockInfo, Origin, RawCondvar, RawLock, Waiting};

/// `absl::Mutex`.
// SAFETY, as a lock: in its exclusive mode it is a mutex.
#[derive(Debug)]
pub struct AbseilMutex {
    /// The C++ object; the shim asserts that it has this size and alignment.
    word: UnsafeCell<usize>,
}

unsafe extern "C" {
    fn ondeck_zoo_abseil_init(storage: *mut usize);
    fn ondeck_zoo_abseil_lock(mutex: *mut usize);
    fn ondeck_zoo_abseil_try_lock(mutex: *mut usize) -> bool;
    fn ondeck_zoo_abseil_unlock(mutex: *mut usize);
    fn ondeck_zoo_abseil_destroy(mutex: *mut usize);
    fn ondeck_zoo_abseil_condvar_init(storage: *mut usize);
    fn ondeck_zoo_abseil_condvar_wait(condvar: *mut usize, mutex: *mut usize);
    fn ondeck_zoo_abseil_condvar_signal(condvar: *mut usize);
    fn ondeck_zoo_abseil_condvar_signal_all(condvar: *mut usize);
    fn ondeck_zoo_abseil_condvar_destroy(condvar: *mut usize);
}

// SAFETY: the mutex is made to be used from many threads, and is reached only by its own functions.
unsafe impl Sync for AbseilMutex {}

raw_lock! {
    unsafe impl RawLock<Native> for AbseilMutex {
        INFO: LockInfo {
            name: "abseil",
            origin: Origin::Peer,
            waiting: Waiting::SpinsThenSleeps,
            condvar: CondvarKind::Own,
            source: "Abseil 20220623, absl::Mutex, by call through a C function",
            teaches: "At most one woken thread on its way: most throughput, least equal shares",
            ..LockInfo::USUAL
        },
        Context: (),
        Condvar: AbseilCondvar,
        new: {
            let mutex = Self { word: UnsafeCell::new(0) };
            // SAFETY: the storage fits. Moving the object afterwards, which C++ forbids, is sound while
            // no thread has used it: it is a word that holds 0, and nothing points to it.
            unsafe { ondeck_zoo_abseil_init(mutex.word.get()) };
            mutex
        },
        // SAFETY: the mutex is initialized, and not held by this thread.
        lock: |this, ()| unsafe { ondeck_zoo_abseil_lock(this.word.get()) },
        // SAFETY: as in `lock`.
        try_lock: |this, ()| unsafe { ondeck_zoo_abseil_try_lock(this.word.get()) },
        // SAFETY: the mutex is held by this thread.
        unlock: |this, ()| unsafe { ondeck_zoo_abseil_unlock(this.word.get()) },
        is_idle: |this| *this.word.get_mut() == 0,
    }
}

impl Drop for AbseilMutex {
    fn drop(&mut self) {
        // SAFETY: no other thread has the mutex any more.
        unsafe { ondeck_zoo_abseil_destroy(self.word.get()) };
    }
}

/// `absl::CondVar`.
// SAFETY, as a condition variable: it is one for `absl::Mutex`.
#[derive(Debug)]
pub struct AbseilCondvar {
    /// The C++ object; the shim asserts that it has this size and alignment.
    word: UnsafeCell<usize>,
}

// SAFETY: it is made to be used from many threads, and is reached only by its own functions.
unsafe impl Sync for AbseilCondvar {}

raw_condvar! {
    unsafe impl RawCondvar<Native, AbseilMutex> for AbseilCondvar {
        new: {
            let condvar = Self { word: UnsafeCell::new(0) };
            // SAFETY: the storage fits; moving it afterwards is sound as for the mutex.
            unsafe { ondeck_zoo_abseil_condvar_init(condvar.word.get()) };
            condvar
        },
        // SAFETY: both are initialized, and the mutex is held by this thread.
        wait: |this, lock, ()| unsafe {
            ondeck_zoo_abseil_condvar_wait(this.word.get(), lock.word.get());
        },
        // SAFETY: the condition variable is initialized.
        notify_one: |this| unsafe { ondeck_zoo_abseil_condvar_signal(this.word.get()) },
        // SAFETY: as above.
        notify_all: |this| unsafe { ondeck_zoo_abseil_condvar_signal_all(this.word.get()) },
    }
}

impl Drop for AbseilCondvar {
    fn drop(&mut self) {
        // SAFETY: no other thread has the condition variable any more.
        unsafe { ondeck_zoo_abseil_condvar_destroy(self.word.get()) };
    }
}
