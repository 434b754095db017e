//! What the bytes of a `pthread_mutex_t` mean, to the shim and to the C library.
//!
//! ```text
//! offset  bytes  the C library (x86-64)   the shim
//!      0      1  __lock                   the mutex: 0 free, 1 locked
//!      1      3  __lock                   0
//!      4      4  __count                  how often the owner has locked a recursive mutex
//!      8      8  __owner, __nusers        the owner of a recursive or errorcheck mutex: its thread's address
//!     16      4  __kind                   the kind, as the C library writes it
//!     20      4  __spins, __elision       recorder: whether to record the unlock
//!     24      8  __list                   recorder: acquisitions; or a lock of more than four bytes: see `other.rs`
//!     32      4  __list                   waits of condition variables that will lock this mutex again
//!     36      4  __list                   recorder: which stack initialized it
//! ```
//!
//! Zeros are an unlocked mutex to both, so what `PTHREAD_MUTEX_INITIALIZER` wrote needs no
//! initialization, and an initialization over a locked mutex makes it a new one.
//!
//! An object of any other kind (robust, with a priority protocol, shared between processes, destroyed) is
//! the C library's alone, and the shim reads nothing of it but its kind.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

use ondeck::mutex::RawMutex;
use ondeck::platform::Linux;

/// A `pthread_mutex_t` or `mtx_t`.
#[repr(C)]
pub struct Mutex {
    pub(crate) lock: RawMutex<Linux>,
    lock_rest: [u8; 3],
    /// Written by the owner only.
    pub(crate) count: AtomicU32,
    /// 0 if the mutex is unlocked. Written by the owner only; another thread that reads it finds an
    /// address that is not its own.
    pub(crate) owner: AtomicU64,
    kind: AtomicI32,
    /// Whether the recorder asks the owner to record its unlock.
    pub(crate) request: AtomicU32,
    /// Counted by owners while the recorder is on.
    pub(crate) acquisitions: AtomicU64,
    users: AtomicU32,
    /// While the recorder is on: which stack initialized it.
    pub(crate) created: AtomicU32,
}

const _: () = assert!(size_of::<Mutex>() == 40 && core::mem::offset_of!(Mutex, kind) == 16);

/// What `__kind` says, if the shim serves it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `PTHREAD_MUTEX_NORMAL`, `_DEFAULT` and `_ADAPTIVE_NP`.
    Plain,
    Recursive,
    Errorcheck,
    /// Not the shim's: the C library's functions are called, which also refuse what is no kind.
    Libc,
}

/// `PTHREAD_MUTEX_RECURSIVE`, as `__kind`.
pub(crate) const RECURSIVE: c_int = 1;
/// `PTHREAD_MUTEX_ERRORCHECK`, as `__kind`.
pub(crate) const ERRORCHECK: c_int = 2;
/// `PTHREAD_MUTEX_ADAPTIVE_NP`, as `__kind`.
pub(crate) const ADAPTIVE: c_int = 3;
/// What the C library writes into `__kind` of a destroyed mutex.
const DESTROYED: c_int = -1;
/// `PTHREAD_MUTEX_ROBUST_NORMAL_NP` in `__kind`, which a destroyed mutex has, too.
const ROBUST: c_int = 16;
/// Whether transactions may stand for the lock (`PTHREAD_MUTEX_ELISION_NP`) or not (`_NO_ELISION_NP`). They
/// say nothing of what the mutex does.
const ELISION: c_int = 256 | 512;

impl Mutex {
    /// `__kind` as it is.
    #[inline(always)]
    pub(crate) fn raw_kind(&self) -> c_int {
        // Relaxed: a kind is changed by initialization and destruction only, which no other use of the
        // mutex may overlap.
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

    /// Takes what says of elision out of `__kind`: then the fast paths know it.
    pub(crate) fn forget_elision(&self) {
        if self.kind() != Kind::Libc {
            self.set_kind(self.raw_kind() & !ELISION);
        }
    }

    /// Whether the bytes from 24 on are in use by the C library: the list of a thread's robust mutexes.
    fn is_robust(&self) -> bool {
        self.raw_kind() & ROBUST != 0
    }

    /// A thread will wait at a condition variable of ours, and lock this mutex again, which may be the C
    /// library's.
    pub(crate) fn count_user(&self) {
        if !self.is_robust() {
            // Relaxed: a thread that asks for it destroys the mutex, which no other use may overlap.
            self.users.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn uncount_user(&self) {
        if !self.is_robust() {
            self.users.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether a thread that waits at a condition variable of ours will lock this mutex again. The C library
    /// does not know of it, and does not ask it of robust mutexes.
    pub(crate) fn has_users(&self) -> bool {
        !self.is_robust() && self.users.load(Ordering::Relaxed) != 0
    }

    /// What a destroyed mutex is to the C library: each later use is refused.
    pub(crate) fn set_destroyed(&self) {
        self.set_kind(DESTROYED);
    }
}

/// The calling thread's address: what pthread_self(3) returns, which no two living threads have in common.
#[inline(always)]
pub(crate) fn this_thread() -> u64 {
    let address;
    // SAFETY: on x86-64 the word at the beginning of a thread's block is the block's own address (System V
    // ABI for thread-local storage, 3.4.6).
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) address, options(pure, nomem, nostack, preserves_flags));
    };
    address
}
