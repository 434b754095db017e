//! The meaning of the bytes of a `pthread_mutex_t` and of a `pthread_cond_t`, for the shim and for
//! the C library.
//!
//! ```text
//! offset  bytes  the C library (x86-64)   the shim
//!      0      1  __lock                   the mutex: 0 free, 1 locked
//!      1      3  __lock                   0
//!      4      4  __count                  how often the owner has locked a recursive mutex; of one of the usual kind,
//!                                        recorder: unlocks that pass
//!      8      8  __owner, __nusers        the owner of a recursive or errorcheck mutex: its thread's number
//!     16      4  __kind                   the kind, as the C library writes it
//!     20      4  __spins, __elision       recorder: whether to record the unlock
//!     24      8  __list                   recorder: acquisitions
//!     32      4  __list                   waits of condition variables that will lock this mutex again
//!     36      4  __list                   recorder: which stack initialized it
//! ```
//!
//! ```text
//! offset  bytes  the C library (x86-64)   the shim
//!      0      1  __wseq                   whether threads wait
//!      1     35  __wseq and others        0
//!     36      4  __wrefs                  bit 0: shared between processes; bit 1: CLOCK_MONOTONIC
//!     40      8  __g_signals              0
//! ```
//!
//! Zeros are an unlocked mutex for both, so a mutex from `PTHREAD_MUTEX_INITIALIZER` needs no
//! initialization, and initializing a locked mutex makes it a new one.
//!
//! An object of any other kind (robust, with a priority protocol, shared between processes,
//! destroyed) belongs to the C library alone, and the shim reads only its kind. The C library
//! writes such an object while the shim has a reference to it, so all bytes are in cells.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem::offset_of;
use core::sync::atomic::{AtomicI32, AtomicU8, AtomicU32, AtomicU64, Ordering};

use ondeck::condvar::RawCondvar;
use ondeck::mutex::RawMutex;
use ondeck::platform::Linux;
use ondeck::rwlock::RawRwLock;

/// A `pthread_mutex_t` or `mtx_t`.
#[repr(C)]
pub struct Mutex {
    pub(crate) lock: RawMutex<Linux>,
    lock_rest: UnsafeCell<[u8; 3]>,
    /// Written by the owner only.
    pub(crate) count: AtomicU32,
    /// 0 if the mutex is unlocked. Written by the owner only; any other thread that reads it finds
    /// a number different from its own.
    pub(crate) owner: AtomicU64,
    kind: AtomicI32,
    /// Whether the recorder asks the owner to record its unlock.
    pub(crate) request: AtomicU32,
    /// Counted by owners while the recorder is on.
    pub(crate) acquisitions: AtomicU64,
    users: AtomicU32,
    /// While the recorder is on: the stack that initialized it.
    pub(crate) created: AtomicU32,
}

const _: () = assert!(size_of::<Mutex>() == 40 && offset_of!(Mutex, kind) == 16);

/// The value of `__kind`, if the shim serves it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `PTHREAD_MUTEX_NORMAL`, `_DEFAULT` and `_ADAPTIVE_NP`.
    Plain,
    Recursive,
    Errorcheck,
    /// Not served: the C library's functions are called, which also refuse invalid kinds.
    Libc,
}

/// `PTHREAD_MUTEX_RECURSIVE`, as `__kind`.
pub(crate) const RECURSIVE: c_int = 1;
/// `PTHREAD_MUTEX_ERRORCHECK`, as `__kind`.
pub(crate) const ERRORCHECK: c_int = 2;
/// `PTHREAD_MUTEX_ADAPTIVE_NP`, as `__kind`.
pub(crate) const ADAPTIVE: c_int = 3;
/// The value that the C library writes into `__kind` of a destroyed mutex.
const DESTROYED: c_int = -1;
/// `PTHREAD_MUTEX_ROBUST_NORMAL_NP` in `__kind`, a bit that a destroyed mutex also has.
const ROBUST: c_int = 16;
/// Whether transactions may replace the lock (`PTHREAD_MUTEX_ELISION_NP`) or not
/// (`_NO_ELISION_NP`). These bits do not affect the behaviour of the mutex.
const ELISION: c_int = 256 | 512;

impl Mutex {
    /// Returns the byte of ondeck's mutex, for the one instruction that locks a free one.
    #[inline(always)]
    pub(crate) fn byte(&self) -> &AtomicU8 {
        const { assert!(size_of::<RawMutex<Linux>>() == 1) };
        // SAFETY: a `RawMutex` is transparent: its only field is this atomic byte.
        unsafe { &*(&raw const self.lock).cast() }
    }

    /// Returns the raw `__kind`.
    #[inline(always)]
    pub(crate) fn raw_kind(&self) -> c_int {
        // Relaxed: only initialization and destruction change a kind, and no other use of the mutex
        // may overlap them.
        self.kind.load(Ordering::Relaxed)
    }

    pub(crate) fn kind(&self) -> Kind {
        match self.raw_kind() & !ELISION {
            0 | ADAPTIVE => Kind::Plain,
            RECURSIVE => Kind::Recursive,
            ERRORCHECK => Kind::Errorcheck,
            _ => Kind::Libc,
        }
    }

    pub(crate) fn set_kind(&self, kind: c_int) {
        self.kind.store(kind, Ordering::Relaxed);
    }

    /// Removes the elision bits from `__kind`, so that the fast paths recognize it.
    pub(crate) fn forget_elision(&self) {
        if self.kind() != Kind::Libc {
            self.set_kind(self.raw_kind() & !ELISION);
        }
    }

    /// Returns whether the C library uses the bytes from 24 on, for the list of a thread's robust
    /// mutexes.
    fn is_robust(&self) -> bool {
        self.raw_kind() & ROBUST != 0
    }

    /// Records that a thread will wait at a condition variable of ours and then lock this mutex
    /// again, which may be the C library's.
    pub(crate) fn count_user(&self) {
        if !self.is_robust() {
            // Relaxed: the count is read only by a thread that destroys the mutex, which no other
            // use may overlap.
            self.users.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn uncount_user(&self) {
        if !self.is_robust() {
            self.users.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Returns whether a thread that waits at a condition variable of ours will lock this mutex
    /// again. The C library does not know about such waits, and does not check for waiters of
    /// robust mutexes.
    pub(crate) fn has_users(&self) -> bool {
        !self.is_robust() && self.users.load(Ordering::Relaxed) != 0
    }

    /// Marks the mutex as destroyed for the C library: each later use is refused.
    pub(crate) fn set_destroyed(&self) {
        self.set_kind(DESTROYED);
    }
}

/// A `pthread_cond_t` or `cnd_t`.
#[repr(C)]
pub struct Cond {
    pub(crate) waiters: RawCondvar<Linux>,
    waiters_rest: UnsafeCell<[u8; 35]>,
    flags: AtomicU32,
    rest: UnsafeCell<[u32; 2]>,
}

const _: () = assert!(size_of::<Cond>() == 48 && offset_of!(Cond, flags) == 36);

/// A bit of `flags`, as in the C library's `__wrefs`.
const SHARED: u32 = 1;
const MONOTONIC: u32 = 2;

impl Cond {
    /// Returns whether the condition variable is shared between processes, and therefore the C
    /// library's.
    #[inline(always)]
    pub(crate) fn is_libc(&self) -> bool {
        // Relaxed: written by initialization only.
        self.flags.load(Ordering::Relaxed) & SHARED != 0
    }

    pub(crate) fn clock(&self) -> c_int {
        if self.flags.load(Ordering::Relaxed) & MONOTONIC == 0 {
            libc::CLOCK_REALTIME
        } else {
            libc::CLOCK_MONOTONIC
        }
    }
}

/// A `pthread_rwlock_t`.
#[repr(C)]
pub struct RwLock {
    pub(crate) lock: RawRwLock<Linux>,
    lock_rest: UnsafeCell<[u32; 3]>,
    /// The thread that has write-locked it, 0 if there is none. Written by that thread only. The C
    /// library has two unused words here.
    owner: AtomicU64,
    writer: UnsafeCell<u32>,
    shared: AtomicU32,
    rest: UnsafeCell<[u32; 4]>,
    kind: AtomicU32,
    end: UnsafeCell<u32>,
}

const _: () = assert!(
    size_of::<RwLock>() == 56
        && offset_of!(RwLock, shared) == 28
        && offset_of!(RwLock, kind) == 48
        && offset_of!(RwLock, owner) == 16
);

/// `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`.
pub(crate) const NONRECURSIVE: u32 = 2;

impl RwLock {
    /// Not 0 if it is shared between processes, and therefore the C library's.
    #[inline(always)]
    pub(crate) fn is_libc(&self) -> c_int {
        // Relaxed: written by initialization only.
        self.shared.load(Ordering::Relaxed).cast_signed()
    }

    /// Returns whether a thread with a read lock takes no second one, so that a read may wait for a
    /// waiting writer.
    #[inline(always)]
    pub(crate) fn is_nonrecursive(&self) -> bool {
        self.kind.load(Ordering::Relaxed) == NONRECURSIVE
    }

    /// Returns whether the thread of this number has write-locked it.
    pub(crate) fn is_owned_by(&self, thread: u64) -> bool {
        // Relaxed: only a thread itself writes its number.
        self.owner.load(Ordering::Relaxed) == thread
    }

    /// Sets the writer. The calling thread has write-locked it or, for 0, is about to unlock it.
    #[inline(always)]
    pub(crate) fn set_owner(&self, thread: u64) {
        self.owner.store(thread, Ordering::Relaxed);
    }
}

/// A `pthread_barrier_t`. The C library uses the first 20 bytes, and this library the first eight
/// of them.
#[repr(C)]
pub struct Barrier {
    pub(crate) lock: ondeck::Barrier,
    count: UnsafeCell<u32>,
    shared: AtomicU32,
    rest: UnsafeCell<[u32; 4]>,
}

const _: () = assert!(
    size_of::<Barrier>() == 32
        && offset_of!(Barrier, count) == 8
        && offset_of!(Barrier, shared) == 12
);

impl Barrier {
    /// Returns whether processes share it, which may run without the shim.
    pub(crate) fn is_shared(&self) -> bool {
        // Relaxed: written by initialization only.
        self.shared.load(Ordering::Relaxed) != 0
    }
}
