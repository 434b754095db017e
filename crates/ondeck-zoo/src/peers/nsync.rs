//! nsync's mutex.
//!
//! Source: nsync, `internal/mu.c`; Debian's 1.25.
//!
//! Teaches: the designated waker again, with a way out of starvation: a thread that was woken 30
//! times in vain makes newcomers queue behind it.
//!
//! ```text
//! word      readers | all false | condition | long wait | writer waits | designated waker | spinlock | waiting | writer
//! waiters   ring of the sleepers' records, under the spinlock bit
//! ```
//!
//! Its functions are C's, and out of line for C programs too: they are called directly.
//!
//! After release: a contended unlock touches the lock. It frees the mutex while it takes the
//! spinlock bit, so that others may acquire while it changes `waiters` and lets go of that bit. Even
//! so the last user may free the lock, as nsync promises in a comment: the unlock wakes a sleeper
//! only after its last access, and a lock with a sleeper is still in use.

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr;

use ondeck::platform::Linux;

use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// `nsync_mu`.
#[derive(Debug)]
pub struct NsyncMutex {
    mutex: UnsafeCell<Fields>,
}

/// `struct nsync_mu_s_` of `nsync_mu.h`; the shim asserts that the layout is the same.
#[derive(Debug)]
#[repr(C)]
struct Fields {
    word: u32,
    waiters: *mut c_void,
}

unsafe extern "C" {
    fn nsync_mu_init(mutex: *mut Fields);
    fn nsync_mu_lock(mutex: *mut Fields);
    fn nsync_mu_trylock(mutex: *mut Fields) -> c_int;
    fn nsync_mu_unlock(mutex: *mut Fields);
}

// SAFETY: the mutex is made to be used from many threads, and is reached only by its own functions.
unsafe impl Send for NsyncMutex {}
// SAFETY: as for `Send`.
unsafe impl Sync for NsyncMutex {}

// SAFETY: `nsync_mu` in its exclusive mode is a mutex.
unsafe impl RawLock<Linux> for NsyncMutex {
    const INFO: LockInfo = LockInfo {
        name: "nsync",
        origin: Origin::Peer,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Bounded,
        has_try_lock: true,
        touches_after_release: true,
        condvar: CondvarKind::Generic,
        source: "nsync 1.25, nsync_mu, by Mike Burrows, by call",
        teaches: "The designated waker, and newcomers that queue once somebody woke 30 times in vain",
    };

    type Context = ();
    type Condvar = SequenceCondvar<Linux>;

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
        unsafe { nsync_mu_lock(self.mutex.get()) };
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        // SAFETY: as in `lock`.
        unsafe { nsync_mu_trylock(self.mutex.get()) != 0 }
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // SAFETY: the mutex is held by this thread.
        unsafe { nsync_mu_unlock(self.mutex.get()) };
    }

    fn is_idle(&mut self) -> bool {
        let fields = self.mutex.get_mut();
        fields.word == 0 && fields.waiters.is_null()
    }
}
