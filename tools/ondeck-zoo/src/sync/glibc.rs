//! The GNU C library's semaphore, once and barrier, as C programs call them.

use std::cell::{Cell, UnsafeCell};
use std::ffi::{c_int, c_uint};
use std::io;
use std::ptr;

use ondeck::platform::Native;

use super::{PEER, RawBarrier, RawOnce, RawSemaphore};
use crate::LockInfo;
use crate::posix::{Object, check};

// Functions that `libc` does not declare.
unsafe extern "C" {
    fn pthread_once(once: *mut c_int, run: extern "C" fn()) -> c_int;
}

/// `sem_t` of the C library, unnamed.
///
/// It may move after its initialization while no thread waits: glibc keeps a count of permits and
/// one of waiters, and no pointer.
#[derive(Debug)]
pub struct GlibcSemaphore(Object<libc::sem_t>);

impl RawSemaphore<Native> for GlibcSemaphore {
    const INFO: LockInfo = LockInfo {
        name: "glibc_semaphore",
        source: "The GNU C library, sem_t",
        teaches: "Permits and waiters in one word of 64 bits, so that a release knows whether to wake",
        ..PEER
    };

    fn new(permits: u32) -> Self {
        // SAFETY: a failure panics.
        Self(unsafe {
            Object::new(|semaphore| {
                let code = libc::sem_init(semaphore, 0, permits as c_uint);
                assert_eq!(code, 0, "sem_init: {}", io::Error::last_os_error());
            })
        })
    }

    #[inline]
    fn acquire(&self) {
        // A signal handler that ran during the wait ends it without a permit.
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

/// `pthread_once_t` of the C library.
///
/// It runs a function without an argument. The function finds the closure in a thread-local
/// variable, which each call here sets, so a call costs one store more than in C.
#[derive(Debug)]
pub struct GlibcOnce(UnsafeCell<c_int>);

// SAFETY: it is made to be used from many threads, and is reached only by its own function.
unsafe impl Sync for GlibcOnce {}

thread_local! {
    /// The closure of the initialization that may run next on this thread.
    static INIT: Cell<Option<*mut dyn FnMut()>> = const { Cell::new(None) };
}

extern "C" fn run_once() {
    if let Some(init) = INIT.take() {
        // SAFETY: `call` has set it for this very call of `pthread_once`, and is borrowing the
        // closure.
        unsafe { (*init)() };
    }
}

impl RawOnce<Native> for GlibcOnce {
    const INFO: LockInfo = LockInfo {
        name: "glibc_once",
        source: "The GNU C library, pthread_once_t",
        teaches: "A call into the library for each call, and a futex that all waiters share",
        ..PEER
    };

    fn new() -> Self {
        // PTHREAD_ONCE_INIT.
        Self(UnsafeCell::new(0))
    }

    #[inline]
    fn call(&self, init: impl FnOnce()) {
        let mut init = Some(init);
        let mut init_once = || {
            if let Some(init) = init.take() {
                init();
            }
        };
        let closure: *mut (dyn FnMut() + '_) = &raw mut init_once;
        // SAFETY: only the lifetime changes. `run_once` uses the pointer before `pthread_once`
        // returns, or it is never used: the next call first sets another.
        #[expect(clippy::transmute_ptr_to_ptr, reason = "a cast cannot change a lifetime")]
        let closure: *mut (dyn FnMut() + 'static) = unsafe { std::mem::transmute(closure) };
        INIT.set(Some(closure));
        // SAFETY: the word was initialized like PTHREAD_ONCE_INIT.
        let code = unsafe { pthread_once(self.0.get(), run_once) };
        assert_eq!(code, 0, "pthread_once");
    }
}

/// `pthread_barrier_t` of the C library.
///
/// It may move after its initialization while no thread waits: glibc keeps numbers only. Its
/// destruction waits for threads that are leaving it.
#[derive(Debug)]
pub struct GlibcBarrier(Object<libc::pthread_barrier_t>);

impl RawBarrier<Native> for GlibcBarrier {
    const INFO: LockInfo = LockInfo {
        name: "glibc_barrier",
        source: "The GNU C library, pthread_barrier_t",
        teaches: "A count of arrivals and one futex for the phase: all are woken by one system call",
        ..PEER
    };

    fn new(threads: u32) -> Self {
        // SAFETY: a failure panics.
        Self(unsafe {
            Object::new(|barrier| {
                posix!(check: pthread_barrier_init(barrier, ptr::null(), threads as c_uint));
            })
        })
    }

    #[inline]
    fn wait(&self) -> bool {
        // SAFETY: the barrier is initialized.
        let code = unsafe { libc::pthread_barrier_wait(self.0.get()) };
        let leader = code == libc::PTHREAD_BARRIER_SERIAL_THREAD;
        assert!(leader || code == 0, "pthread_barrier_wait: {code}");
        leader
    }
}
