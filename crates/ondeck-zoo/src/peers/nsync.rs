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

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr;

use ondeck::platform::Native;

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawCondvar, RawLock, Waiting};

/// `nsync_mu`.
// SAFETY, as a lock: in its exclusive mode it is a mutex.
#[derive(Debug)]
pub struct NsyncMutex {
    mutex: UnsafeCell<Fields>,
}

/// `struct nsync_mu_s_` of `nsync_mu.h` and `struct nsync_cv_s_` of `nsync_cv.h`, which are laid out
/// alike; the shim asserts that this is the same.
#[derive(Debug)]
#[repr(C)]
struct Fields {
    word: u32,
    waiters: *mut c_void,
}

impl Fields {
    const ZEROS: Self = Self { word: 0, waiters: ptr::null_mut() };
}

unsafe extern "C" {
    fn nsync_mu_init(mutex: *mut Fields);
    // Without the type, because `rwlocks/cpp_rwlocks.rs` also declares them so.
    fn nsync_mu_lock(mutex: *mut c_void);
    fn nsync_mu_trylock(mutex: *mut c_void) -> c_int;
    fn nsync_mu_unlock(mutex: *mut c_void);
    fn nsync_cv_init(condvar: *mut Fields);
    fn nsync_cv_wait(condvar: *mut Fields, mutex: *mut Fields);
    fn nsync_cv_signal(condvar: *mut Fields);
    fn nsync_cv_broadcast(condvar: *mut Fields);
}

// SAFETY: the mutex is made to be used from many threads, and is reached only by its own functions.
unsafe impl Send for NsyncMutex {}
// SAFETY: as for `Send`.
unsafe impl Sync for NsyncMutex {}

raw_lock! {
    unsafe impl RawLock<Native> for NsyncMutex {
        INFO: LockInfo {
            name: "nsync",
            origin: Origin::Peer,
            waiting: Waiting::SpinsThenSleeps,
            fairness: Fairness::Bounded,
            has_try_lock: true,
            touches_after_release: true,
            condvar: CondvarKind::Own,
            source: "nsync 1.25, nsync_mu, by Mike Burrows, by call",
            teaches: "The designated waker, and arriving threads queue behind a waiter woken 30 times in vain",
        },
        Context: (),
        Condvar: NsyncCondvar,
        new: {
            let mutex = Self { mutex: UnsafeCell::new(Fields::ZEROS) };
            // SAFETY: the storage fits. The header documents that zeros are an unlocked mutex at any
            // address, so it may move until it is used.
            unsafe { nsync_mu_init(mutex.mutex.get()) };
            mutex
        },
        // SAFETY: the mutex is initialized, and not held by this thread.
        lock: |this, ()| unsafe { nsync_mu_lock(this.mutex.get().cast()) },
        // SAFETY: as in `lock`.
        try_lock: |this, ()| unsafe { nsync_mu_trylock(this.mutex.get().cast()) != 0 },
        // SAFETY: the mutex is held by this thread.
        unlock: |this, ()| unsafe { nsync_mu_unlock(this.mutex.get().cast()) },
        is_idle: |this| {
            let fields = this.mutex.get_mut();
            fields.word == 0 && fields.waiters.is_null()
        },
    }
}

/// `nsync_cv`.
// SAFETY, as a condition variable: it is one for `nsync_mu`.
#[derive(Debug)]
pub struct NsyncCondvar {
    condvar: UnsafeCell<Fields>,
}

// SAFETY: it is made to be used from many threads, and is reached only by its own functions.
unsafe impl Send for NsyncCondvar {}
// SAFETY: as for `Send`.
unsafe impl Sync for NsyncCondvar {}

raw_condvar! {
    unsafe impl RawCondvar<Native, NsyncMutex> for NsyncCondvar {
        new: {
            let condvar = Self { condvar: UnsafeCell::new(Fields::ZEROS) };
            // SAFETY: the storage fits; it may move until it is used, as the mutex may.
            unsafe { nsync_cv_init(condvar.condvar.get()) };
            condvar
        },
        // SAFETY: both are initialized, and the mutex is held by this thread.
        wait: |this, lock, ()| unsafe { nsync_cv_wait(this.condvar.get(), lock.mutex.get()) },
        // SAFETY: the condition variable is initialized.
        notify_one: |this| unsafe { nsync_cv_signal(this.condvar.get()) },
        // SAFETY: as above.
        notify_all: |this| unsafe { nsync_cv_broadcast(this.condvar.get()) },
    }
}
