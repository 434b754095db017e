//! nsync's mutex.
//!
//! Source: nsync, `internal/mu.c`; Debian's 1.25.
//!
//! Teaches: the designated waker again, with a bound on starvation. A thread that was woken 30
//! times in vain makes arriving threads queue behind it.
//!
//! ```text
//! word      readers | all false | condition | long wait | writer waits | designated waker | spinlock | waiting | writer
//! waiters   ring of the waiters' records, under the spinlock bit
//! ```
//!
//! Its condition variable is nsync's too, `internal/cv.c`, which moves a notified waiter to the
//! mutex's ring if the mutex is locked.
//!
//! Its functions are C's, and out of line for C programs too, so they are called directly.
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

unsafe extern "C" {
    fn nsync_mu_init(mutex: *mut Fields);
    // Without the type, as `rwlocks/cpp_rwlocks.rs` declares them, too.
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

// SAFETY: `nsync_mu` in its exclusive mode is a mutex.
unsafe impl RawLock<Native> for NsyncMutex {
    const INFO: LockInfo = LockInfo {
        name: "nsync",
        origin: Origin::Peer,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Bounded,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Own,
        source: "nsync 1.25, nsync_mu, by Mike Burrows, by call",
        teaches: "The designated waker, and arriving threads queue behind a waiter woken 30 times in vain",
    };

    type Context = ();
    type Condvar = NsyncCondvar;

    fn new() -> Self {
        let fields = Fields { word: 0, waiters: ptr::null_mut() };
        let mutex = Self { mutex: UnsafeCell::new(fields) };
        // SAFETY: the storage fits. The header says that zeros are an unlocked mutex wherever they
        // stand, so it may move until it is used.
        unsafe { nsync_mu_init(mutex.mutex.get()) };
        mutex
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        // SAFETY: the mutex is initialized, and not held by this thread.
        unsafe { nsync_mu_lock(self.mutex.get().cast()) };
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        // SAFETY: as in `lock`.
        unsafe { nsync_mu_trylock(self.mutex.get().cast()) != 0 }
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // SAFETY: the mutex is held by this thread.
        unsafe { nsync_mu_unlock(self.mutex.get().cast()) };
    }

    fn is_idle(&mut self) -> bool {
        let fields = self.mutex.get_mut();
        fields.word == 0 && fields.waiters.is_null()
    }
}

/// `nsync_cv`.
#[derive(Debug)]
pub struct NsyncCondvar {
    condvar: UnsafeCell<Fields>,
}

// SAFETY: it is made to be used from many threads, and is reached only by its own functions.
unsafe impl Send for NsyncCondvar {}
// SAFETY: as for `Send`.
unsafe impl Sync for NsyncCondvar {}

// SAFETY: `nsync_cv` is a condition variable for `nsync_mu`.
unsafe impl RawCondvar<Native, NsyncMutex> for NsyncCondvar {
    fn new() -> Self {
        let fields = Fields { word: 0, waiters: ptr::null_mut() };
        let condvar = Self { condvar: UnsafeCell::new(fields) };
        // SAFETY: the storage fits; it may move until it is used, as the mutex may.
        unsafe { nsync_cv_init(condvar.condvar.get()) };
        condvar
    }

    unsafe fn wait(&self, lock: &NsyncMutex, (): &()) {
        // SAFETY: both are initialized, and the mutex is held by this thread.
        unsafe { nsync_cv_wait(self.condvar.get(), lock.mutex.get()) };
    }

    fn notify_one(&self) {
        // SAFETY: the condition variable is initialized.
        unsafe { nsync_cv_signal(self.condvar.get()) };
    }

    fn notify_all(&self) {
        // SAFETY: the condition variable is initialized.
        unsafe { nsync_cv_broadcast(self.condvar.get()) };
    }
}
