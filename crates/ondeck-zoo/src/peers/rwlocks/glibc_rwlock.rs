//! The C library's reader-writer lock in its two kinds.
//!
//! Source: glibc, `nptl/pthread_rwlock_common.c`; read at 2.36. It is called as C programs call it, through
//! the dynamic linker's table, not inlined.
//!
//! Teaches: phases of readers and of writers, each with a futex of its own. The default kind prefers readers:
//! a reader goes in beside others although writers wait, so that readers can keep writers out without
//! bound. The other kind lets an arriving reader wait behind a waiting writer.
//!
//! In a process that never started a thread glibc uses atomic instructions here, too, unlike in its mutex.
//!
//! Moving: `new` initializes the lock and then moves it. That is sound while no thread holds or waits for
//! the lock, as it is for glibc's mutex: the initialization stores the kind and zeros, and no pointer.
//!
//! After the unlock: the lock is touched, as far as is known: an unlock wakes waiters of either phase by
//! several words of the lock.

use std::cell::UnsafeCell;
use std::ffi::c_int;
use std::mem::MaybeUninit;

use ondeck::platform::Native;

use crate::peers::posix::{acquired, check};
use crate::{CondvarKind, Fairness, LockInfo, Origin, RawRwLock, Waiting};

/// `pthread_rwlockattr_setkind_np`'s, which libc does not name.
const PREFER_READER: c_int = 0;
const PREFER_WRITER_NONRECURSIVE: c_int = 2;

unsafe extern "C" {
    fn pthread_rwlockattr_setkind_np(
        attributes: *mut libc::pthread_rwlockattr_t,
        kind: c_int,
    ) -> c_int;
}

/// A lock of either kind, and the calls.
#[derive(Debug)]
struct Pthread {
    lock: UnsafeCell<libc::pthread_rwlock_t>,
}

// SAFETY: a pthread reader-writer lock is made to be used from many threads.
unsafe impl Send for Pthread {}
// SAFETY: as for `Send`; everything below goes through `&self` as in C.
unsafe impl Sync for Pthread {}

impl Pthread {
    fn new(kind: c_int) -> Self {
        let mut attributes = MaybeUninit::uninit();
        let attributes = attributes.as_mut_ptr();
        let mut lock = MaybeUninit::uninit();
        // SAFETY: the attributes are initialized first and destroyed last, both pointers are to
        // locals, and the lock is read only after its initialization has succeeded.
        unsafe {
            check(libc::pthread_rwlockattr_init(attributes), "pthread_rwlockattr_init");
            check(pthread_rwlockattr_setkind_np(attributes, kind), "pthread_rwlockattr_setkind_np");
            check(libc::pthread_rwlock_init(lock.as_mut_ptr(), attributes), "pthread_rwlock_init");
            check(libc::pthread_rwlockattr_destroy(attributes), "pthread_rwlockattr_destroy");
            Self { lock: UnsafeCell::new(lock.assume_init()) }
        }
    }

    #[inline(always)]
    fn read(&self) {
        // SAFETY: the lock is initialized.
        check(unsafe { libc::pthread_rwlock_rdlock(self.lock.get()) }, "pthread_rwlock_rdlock");
    }

    #[inline(always)]
    fn try_read(&self) -> bool {
        // SAFETY: the lock is initialized.
        let code = unsafe { libc::pthread_rwlock_tryrdlock(self.lock.get()) };
        acquired(code, "pthread_rwlock_tryrdlock")
    }

    #[inline(always)]
    fn write(&self) {
        // SAFETY: the lock is initialized.
        check(unsafe { libc::pthread_rwlock_wrlock(self.lock.get()) }, "pthread_rwlock_wrlock");
    }

    #[inline(always)]
    fn try_write(&self) -> bool {
        // SAFETY: the lock is initialized.
        let code = unsafe { libc::pthread_rwlock_trywrlock(self.lock.get()) };
        acquired(code, "pthread_rwlock_trywrlock")
    }

    /// # Safety
    ///
    /// The calling thread holds the lock, in either way.
    #[inline(always)]
    unsafe fn unlock(&self) {
        // SAFETY: the lock is initialized, and held by this thread.
        check(unsafe { libc::pthread_rwlock_unlock(self.lock.get()) }, "pthread_rwlock_unlock");
    }

    /// By acquiring it in both ways: a writer's attempt fails if there is a reader or writer.
    fn is_idle(&mut self) -> bool {
        // SAFETY: the lock is initialized, and held by this thread where it is unlocked.
        unsafe {
            let alone = self.try_write();
            if alone {
                self.unlock();
            }
            let shared = alone && self.try_read();
            if shared {
                self.unlock();
            }
            shared
        }
    }
}

impl Drop for Pthread {
    fn drop(&mut self) {
        // SAFETY: no other thread has the lock any more.
        let code = unsafe { libc::pthread_rwlock_destroy(self.lock.get()) };
        debug_assert!(code == 0 || std::thread::panicking(), "pthread_rwlock_destroy: {code}");
    }
}

macro_rules! glibc_rwlocks {
    ($(
        $(#[$doc:meta])*
        $Lock:ident($kind:expr) {
            name: $name:literal,
            source: $source:literal,
            teaches: $teaches:literal,
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $Lock(Pthread);

        // SAFETY: POSIX says so of a reader-writer lock.
        unsafe impl RawRwLock<Native> for $Lock {
            const INFO: LockInfo = LockInfo {
                name: $name,
                origin: Origin::Peer,
                waiting: Waiting::Sleeps,
                fairness: Fairness::Barging,
                has_try_lock: true,
                touches_after_release: true,
                condvar: CondvarKind::Without,
                source: $source,
                teaches: $teaches,
            };

            type Read = ();
            type Write = ();

            fn new() -> Self {
                Self(Pthread::new($kind))
            }

            #[inline]
            unsafe fn read(&self, (): &()) {
                self.0.read();
            }

            #[inline]
            unsafe fn try_read(&self, (): &()) -> bool {
                self.0.try_read()
            }

            #[inline]
            unsafe fn unlock_read(&self, (): &()) {
                // SAFETY: the caller promises the same.
                unsafe { self.0.unlock() };
            }

            #[inline]
            unsafe fn write(&self, (): &()) {
                self.0.write();
            }

            #[inline]
            unsafe fn try_write(&self, (): &()) -> bool {
                self.0.try_write()
            }

            #[inline]
            unsafe fn unlock_write(&self, (): &()) {
                // SAFETY: the caller promises the same.
                unsafe { self.0.unlock() };
            }

            fn is_idle(&mut self) -> bool {
                self.0.is_idle()
            }
        }
    )*};
}

glibc_rwlocks! {
    /// `pthread_rwlock_t` as `PTHREAD_RWLOCK_INITIALIZER` makes it.
    GlibcRwLock(PREFER_READER) {
        name: "glibc_rwlock",
        source: "The GNU C library, pthread_rwlock_t of the default kind, PTHREAD_RWLOCK_PREFER_READER_NP",
        teaches: "Readers go in although writers wait, and can keep them out without bound",
    }

    /// `pthread_rwlock_t` of the kind `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`.
    GlibcWriterRwLock(PREFER_WRITER_NONRECURSIVE) {
        name: "glibc_writer_rwlock",
        source: "The GNU C library, pthread_rwlock_t, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP",
        teaches: "Readers wait behind a waiting writer, and writers can keep them out without bound",
    }
}
