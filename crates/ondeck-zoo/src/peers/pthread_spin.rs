//! The C library's spinlock.
//!
//! Source: POSIX, `pthread_spin_lock`; glibc's `nptl/pthread_spin_lock.c` and, on x86-64,
//! `sysdeps/x86_64/nptl/pthread_spin_lock.S` (a locked decrement, then polls 1 PAUSE apart). It is
//! called through the dynamic linker's table, not inlined.
//!
//! Teaches: the pair of a spinlock with two function calls around it.
//!
//! After the unlock: nothing is touched. An unlock is one store.
//!
//! It is moved after its initialization, as the mutexes in `glibc.rs` are. Here that is plainly
//! sound: it is one `int`.

use std::cell::UnsafeCell;
use std::mem::MaybeUninit;

use ondeck::platform::Native;

use super::posix::{acquired, check};
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawLock, SequenceCondvar, Waiting};

/// `pthread_spinlock_t`.
#[derive(Debug)]
pub struct PthreadSpin {
    lock: UnsafeCell<libc::pthread_spinlock_t>,
}

// SAFETY: a pthread spinlock is made to be used from many threads, and is reached only through the
// functions that POSIX gives it.
unsafe impl Sync for PthreadSpin {}

// SAFETY: POSIX says so of a spinlock.
unsafe impl RawLock<Native> for PthreadSpin {
    const INFO: LockInfo = LockInfo {
        name: "pthread_spin",
        origin: Origin::Peer,
        waiting: Waiting::Spins,
        fairness: Fairness::Barging,
        has_try_lock: true,
        touches_after_release: false,
        condvar: CondvarKind::Generic,
        source: "POSIX threads in the GNU C library, pthread_spinlock_t",
        teaches: "A spinlock's pair with two function calls around it",
    };

    type Context = ();
    type Condvar = SequenceCondvar<Native>;

    fn new() -> Self {
        let mut lock = MaybeUninit::uninit();
        // SAFETY: the pointer is to a local, which is read after its initialization has succeeded.
        unsafe {
            check(
                libc::pthread_spin_init(lock.as_mut_ptr(), libc::PTHREAD_PROCESS_PRIVATE),
                "pthread_spin_init",
            );
            Self { lock: UnsafeCell::new(lock.assume_init()) }
        }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        // SAFETY: the lock is initialized.
        check(unsafe { libc::pthread_spin_lock(self.lock.get()) }, "pthread_spin_lock");
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        // SAFETY: the lock is initialized.
        acquired(unsafe { libc::pthread_spin_trylock(self.lock.get()) }, "pthread_spin_trylock")
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // SAFETY: the lock is initialized, and held by this thread.
        check(unsafe { libc::pthread_spin_unlock(self.lock.get()) }, "pthread_spin_unlock");
    }

    /// By locking and unlocking it: which number means "free" differs between architectures.
    fn is_idle(&mut self) -> bool {
        // SAFETY: the lock is initialized, and unlocked only if it was acquired.
        unsafe {
            let free = self.try_lock(&());
            if free {
                self.unlock(&());
            }
            free
        }
    }
}

impl Drop for PthreadSpin {
    fn drop(&mut self) {
        // SAFETY: no other thread has the lock any more.
        let code = unsafe { libc::pthread_spin_destroy(self.lock.get()) };
        debug_assert!(code == 0 || std::thread::panicking(), "pthread_spin_destroy: {code}");
    }
}
