//! The C library's reader-writer lock in its two kinds.
//!
//! Source: glibc, `nptl/pthread_rwlock_common.c`; read at 2.36. It is called as C programs call it,
//! through the dynamic linker's table, not inlined.
//!
//! Teaches: phases of readers and of writers, each with a futex. The default kind prefers readers:
//! a reader enters beside others although writers wait, so readers can keep writers out without
//! bound. In the other kind an arriving reader waits for a waiting writer.
//!
//! In a process that never started a thread glibc also uses atomic instructions here, unlike in its
//! mutex.
//!
//! Moving: `new` initializes the lock and then moves it. As with glibc's mutex that is sound while
//! no thread holds or waits for the lock: the initialization stores the kind and zeros, and no
//! pointer.
//!
//! After the unlock: the lock is not touched. An unlock hands a phase off by its last change of the
//! lock, for which all threads that wait for the phase have to wait, and then wakes them by the
//! word's address ("explicit hand-over" in the source).

use std::ffi::c_int;
use std::mem::MaybeUninit;

use ondeck::platform::Native;

use crate::posix::{Object, acquired, check};
use crate::{CondvarKind, LockInfo, Origin, RawRwLock, Waiting};

/// The values of `pthread_rwlockattr_setkind_np`, which libc does not name.
const PREFER_READER: c_int = 0;
const PREFER_WRITER_NONRECURSIVE: c_int = 2;

unsafe extern "C" {
    fn pthread_rwlockattr_setkind_np(
        attributes: *mut libc::pthread_rwlockattr_t,
        kind: c_int,
    ) -> c_int;
}

type Pthread = Object<libc::pthread_rwlock_t>;

fn pthread(kind: c_int) -> Pthread {
    let mut attributes = MaybeUninit::uninit();
    let attributes = attributes.as_mut_ptr();
    // SAFETY: the attributes are initialized first and destroyed last, the pointer refers to a
    // local; each failure panics. The lock may be moved like the mutex.
    unsafe {
        posix!(check: pthread_rwlockattr_init(attributes));
        check(pthread_rwlockattr_setkind_np(attributes, kind), "pthread_rwlockattr_setkind_np");
        let lock = Object::new(|lock| posix!(check: pthread_rwlock_init(lock, attributes)));
        posix!(check: pthread_rwlockattr_destroy(attributes));
        lock
    }
}

/// Ends a read or a write.
///
/// # Safety
///
/// The calling thread holds the lock, in either way.
#[inline(always)]
unsafe fn unlock(lock: &Pthread) {
    // SAFETY: the lock is initialized, and held by this thread.
    unsafe { posix!(check: pthread_rwlock_unlock(lock.get())) };
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

        // SAFETY, as a lock: POSIX specifies it as a reader-writer lock.
        raw_rwlock! {
            unsafe impl RawRwLock<Native> for $Lock {
                INFO: LockInfo {
                    name: $name,
                    origin: Origin::Peer,
                    waiting: Waiting::Sleeps,
                    condvar: CondvarKind::Without,
                    source: $source,
                    teaches: $teaches,
                    ..LockInfo::USUAL
                },
                new: Self(pthread($kind)),
                // SAFETY: the lock is initialized.
                read: |this, ()| unsafe { posix!(check: pthread_rwlock_rdlock(this.0.get())) },
                // SAFETY: the lock is initialized.
                try_read: |this, ()| unsafe { posix!(acquired: pthread_rwlock_tryrdlock(this.0.get())) },
                // SAFETY: the calling thread is a reader.
                unlock_read: |this, ()| unsafe { unlock(&this.0) },
                // SAFETY: the lock is initialized.
                write: |this, ()| unsafe { posix!(check: pthread_rwlock_wrlock(this.0.get())) },
                // SAFETY: the lock is initialized.
                try_write: |this, ()| unsafe { posix!(acquired: pthread_rwlock_trywrlock(this.0.get())) },
                // SAFETY: the calling thread is the writer.
                unlock_write: |this, ()| unsafe { unlock(&this.0) },
                // Acquires it in both ways: a writer's attempt fails if there is a reader or
                // writer. SAFETY: the lock is initialized, and held by this thread where it is
                // unlocked.
                is_idle: |this| unsafe {
                    let alone = this.try_write(&());
                    if alone {
                        unlock(&this.0);
                    }
                    let shared = alone && this.try_read(&());
                    if shared {
                        unlock(&this.0);
                    }
                    shared
                },
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
