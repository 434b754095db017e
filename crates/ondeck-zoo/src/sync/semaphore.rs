//! Semaphores: so many threads at once.

use std::cell::UnsafeCell;
use std::ffi::c_uint;
use std::io;
use std::mem::MaybeUninit;
use std::sync::{Condvar, Mutex, PoisonError};

use super::PEER;
use crate::{Fairness, LockInfo, Origin, Waiting};

/// A counting semaphore.
pub trait RawSemaphore: Sized + Send + Sync + 'static {
    /// The facts of this semaphore.
    const INFO: LockInfo;

    /// One with so many permits.
    fn new(permits: u32) -> Self;

    /// Takes a permit; waits until there is one.
    fn acquire(&self);

    /// Gives a permit back, or adds one.
    fn release(&self);
}

/// What is to be done with every type of semaphore; see [`Visitor`](crate::Visitor).
pub trait SemaphoreVisitor {
    /// Called once for each.
    fn visit<S: RawSemaphore>(&mut self);
}

/// Shows every semaphore to `visitor`.
pub fn for_each_semaphore(visitor: &mut impl SemaphoreVisitor) {
    visitor.visit::<ondeck::Semaphore>();
    visitor.visit::<CondvarSemaphore>();
    #[cfg(target_env = "gnu")]
    visitor.visit::<GlibcSemaphore>();
}

/// This project's own.
impl RawSemaphore for ondeck::Semaphore {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_semaphore",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        fairness: Fairness::Fifo,
        touches_after_release: false,
        source: "this project, ondeck::Semaphore",
        teaches: "Permits go to the threads that wait in the order in which they came, and those are in a table",
        ..PEER
    };

    fn new(permits: u32) -> Self {
        Self::new(permits)
    }

    #[inline]
    fn acquire(&self) {
        self.acquire();
    }

    #[inline]
    fn release(&self) {
        self.release(1);
    }
}

/// A count behind `std::sync::Mutex`, with `std::sync::Condvar`: what a program writes whose library has no
/// semaphore.
#[derive(Debug)]
pub struct CondvarSemaphore {
    permits: Mutex<u32>,
    more: Condvar,
}

impl RawSemaphore for CondvarSemaphore {
    const INFO: LockInfo = LockInfo {
        name: "condvar_semaphore",
        origin: Origin::Literature,
        waiting: Waiting::SpinsThenSleeps,
        source: "C.A.R. Hoare, Monitors: An Operating System Structuring Concept (1974), over std's mutex",
        teaches: "What a semaphore of its own has to be better than: a lock and a notification for each release",
        ..PEER
    };

    fn new(permits: u32) -> Self {
        Self { permits: Mutex::new(permits), more: Condvar::new() }
    }

    #[inline]
    fn acquire(&self) {
        let mut permits = self.permits.lock().unwrap_or_else(PoisonError::into_inner);
        while *permits == 0 {
            permits = self.more.wait(permits).unwrap_or_else(PoisonError::into_inner);
        }
        *permits -= 1;
    }

    #[inline]
    fn release(&self) {
        *self.permits.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.more.notify_one();
    }
}

/// `sem_t` of the C library, unnamed.
///
/// It may move after its initialization as long as no thread waits: glibc keeps a count of permits and one
/// of waiters, and no pointer.
#[cfg(target_env = "gnu")]
#[derive(Debug)]
pub struct GlibcSemaphore(UnsafeCell<libc::sem_t>);

// SAFETY: it is made to be used from many threads, and is reached only by its own functions.
#[cfg(target_env = "gnu")]
unsafe impl Send for GlibcSemaphore {}
// SAFETY: as for `Send`.
#[cfg(target_env = "gnu")]
unsafe impl Sync for GlibcSemaphore {}

#[cfg(target_env = "gnu")]
impl RawSemaphore for GlibcSemaphore {
    const INFO: LockInfo = LockInfo {
        name: "glibc_semaphore",
        source: "The GNU C library, sem_t",
        teaches: "Permits and waiters in one word of 64 bits, so that a release knows whether to wake",
        ..PEER
    };

    fn new(permits: u32) -> Self {
        let mut semaphore = MaybeUninit::uninit();
        // SAFETY: the pointer is to a local, which is read only after its initialization has succeeded.
        unsafe {
            let code = libc::sem_init(semaphore.as_mut_ptr(), 0, permits as c_uint);
            assert_eq!(code, 0, "sem_init: {}", io::Error::last_os_error());
            Self(UnsafeCell::new(semaphore.assume_init()))
        }
    }

    #[inline]
    fn acquire(&self) {
        // A signal handler that ran meanwhile ends the wait without a permit.
        // SAFETY: the semaphore is initialized.
        while unsafe { libc::sem_wait(self.0.get()) } != 0 {
            let error = io::Error::last_os_error();
            assert_eq!(error.raw_os_error(), Some(libc::EINTR), "sem_wait: {error}");
        }
    }

    #[inline]
    fn release(&self) {
        // SAFETY: the semaphore is initialized.
        let code = unsafe { libc::sem_post(self.0.get()) };
        assert_eq!(code, 0, "sem_post: {}", io::Error::last_os_error());
    }
}

#[cfg(target_env = "gnu")]
impl Drop for GlibcSemaphore {
    fn drop(&mut self) {
        // SAFETY: no other thread has the semaphore any more. It fails for invalid ones only.
        let _ = unsafe { libc::sem_destroy(self.0.get()) };
    }
}
