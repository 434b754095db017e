//! Reader-writer locks: ondeck's, in the caller's own bytes, except process-shared ones.
//!
//! | kind | a read while a writer waits |
//! |---|---|
//! | `PTHREAD_RWLOCK_PREFER_READER_NP`, the default | enters: the thread may have a read lock already |
//! | `PTHREAD_RWLOCK_PREFER_WRITER_NP` | the same, as with the C library |
//! | `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP` | waits for that writer |
//!
//! Reads are counted in the word. A slot for a visible reader would have to be returned by a
//! thread-local destructor, which the shim must not have.
//!
//! The word shows an unlock whether it is a reader's or the writer's: while a writer holds the lock
//! there is no reader. The writing thread is recorded, because the C library returns `EDEADLK` to
//! it.

use core::ffi::{c_int, c_void};
use core::ptr;

use libc::timespec;
use ondeck_record::burst::Action;
use ondeck_record::layout::kind;

use crate::bursts;
use crate::clock;
use crate::deferred;
use crate::errno::{EAGAIN, EBUSY, EDEADLK, EINVAL};
use crate::mode;
use crate::object::RwLock;
use crate::real;
use crate::thread::this_thread;

impl RwLock {
    /// Returns whether it is ours, and only the lock has to be done.
    #[inline(always)]
    fn is_usual(&self) -> bool {
        mode::word() | self.is_libc() == 0
    }

    #[inline(always)]
    fn try_read(&self) -> bool {
        if self.is_nonrecursive() {
            self.lock.try_lock_shared_counted()
        } else {
            self.lock.try_lock_shared_recursive_counted()
        }
    }

    #[inline(always)]
    fn try_write(&self) -> bool {
        let is_owner = self.lock.try_lock_exclusive();
        if is_owner {
            self.set_owner(this_thread());
        }
        is_owner
    }

    /// Returns the error of an attempt that failed.
    fn failed(&self, action: Action) -> c_int {
        let is_full = matches!(action, Action::Read) && self.lock.has_most_readers();
        if is_full { EAGAIN } else { EBUSY }
    }

    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }
}

/// `pthread_rwlock_init`. Overwrites the bytes regardless of their contents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_rwlock_init(
    rwlock: *mut RwLock,
    attributes: *const c_void,
) -> c_int {
    if attributes.is_null() {
        // SAFETY: the memory is the caller's, and zeros are a lock.
        unsafe { rwlock.write_bytes(0, 1) };
        return 0;
    }
    // The C library also writes a lock of ours: zeros, the kind, and whether it is shared.
    // SAFETY: the C library's function, with the caller's arguments.
    unsafe { real::rwlock_init(rwlock, attributes) }
}

/// `pthread_rwlock_destroy`. Returns 0, like the C library, even for a lock that threads hold or
/// want.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_rwlock_destroy(rwlock: &RwLock) -> c_int {
    if rwlock.is_libc() != 0 {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::rwlock_destroy(rwlock) };
    }
    0
}

/// The functions that lock, each for readers and for writers.
macro_rules! locks {
    ($(
        $lock:ident, $try_lock:ident, $timed:ident, $clocked:ident:
            $action:expr, $attempt:ident, $waiting:ident,
            $real_lock:ident, $real_try_lock:ident, $real_clocked:ident;
    )+) => {$(
        /// The function that waits.
        #[unsafe(no_mangle)]
        pub extern "C" fn $lock(rwlock: &RwLock) -> c_int {
            if rwlock.is_usual() && rwlock.$attempt() {
                return 0;
            }
            bursts::recorded($action, rwlock, || lock_slow(rwlock, $waiting, real::$real_lock))
        }

        /// The function that does not wait.
        #[unsafe(no_mangle)]
        pub extern "C" fn $try_lock(rwlock: &RwLock) -> c_int {
            if rwlock.is_libc() != 0 {
                // SAFETY: the C library's function, with the caller's arguments.
                return unsafe { real::$real_try_lock(rwlock) };
            }
            bursts::recorded($action, rwlock, || {
                if rwlock.$attempt() { 0 } else { rwlock.failed($action) }
            })
        }

        /// The function with a deadline in real time.
        #[unsafe(no_mangle)]
        pub extern "C" fn $timed(rwlock: &RwLock, deadline: &timespec) -> c_int {
            $clocked(rwlock, libc::CLOCK_REALTIME, deadline)
        }

        /// The function with a deadline on a clock.
        #[unsafe(no_mangle)]
        pub extern "C" fn $clocked(rwlock: &RwLock, clock: c_int, deadline: &timespec) -> c_int {
            if rwlock.is_libc() != 0 {
                // SAFETY: the C library's function, with the caller's arguments.
                return unsafe { real::$real_clocked(rwlock, clock, deadline) };
            }
            // The C library also checks the deadline before it reads the lock.
            if !clock::is_known(clock) || clock::Deadline::new(clock, *deadline).is_err() {
                return EINVAL;
            }
            if rwlock.is_usual() && rwlock.$attempt() {
                return 0;
            }
            bursts::recorded($action, rwlock, || wait(rwlock, $waiting, clock, Some(deadline)))
        }
    )+};
}

locks! {
    ondeck_preload_rwlock_rdlock, ondeck_preload_rwlock_tryrdlock,
    ondeck_preload_rwlock_timedrdlock, ondeck_preload_rwlock_clockrdlock:
        Action::Read, try_read, read_waiting,
        rwlock_rdlock, rwlock_tryrdlock, rwlock_clockrdlock;
    ondeck_preload_rwlock_wrlock, ondeck_preload_rwlock_trywrlock,
    ondeck_preload_rwlock_timedwrlock, ondeck_preload_rwlock_clockwrlock:
        Action::Write, try_write, write_waiting,
        rwlock_wrlock, rwlock_trywrlock, rwlock_clockwrlock;
}

/// `waiting` is one of the two functions below, `real` the C library's.
#[cold]
#[inline(never)]
fn lock_slow(
    rwlock: &RwLock,
    waiting: deferred::Wait<RwLock>,
    real: unsafe fn(&RwLock) -> c_int,
) -> c_int {
    if rwlock.is_libc() != 0 {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real(rwlock) };
    }
    wait(rwlock, waiting, 0, None)
}

/// Waits for a lock of ours, unless the calling thread is its writer. `waiting` is one of the two
/// functions below.
fn wait(
    rwlock: &RwLock,
    waiting: deferred::Wait<RwLock>,
    clock: c_int,
    deadline: Option<&timespec>,
) -> c_int {
    if rwlock.is_owned_by(this_thread()) {
        return EDEADLK;
    }
    if mode::may_be_asynchronous() {
        // SAFETY: the lock is unlocked again if the wait has locked it.
        return unsafe { deferred::wait(waiting, unlock_now, rwlock, clock, deadline) };
    }
    waiting(rwlock, clock, deadline, 0)
}

/// A `Wait` of `deferred.rs`, for a read lock. The calling thread does not write.
extern "C" fn read_waiting(
    rwlock: &RwLock,
    clock: c_int,
    deadline: Option<&timespec>,
    in_slices: c_int,
) -> c_int {
    let lock = &rwlock.lock;
    if rwlock.try_read() {
        return 0;
    }
    if lock.has_most_readers() {
        return EAGAIN;
    }
    let record = ondeck_record::begin(rwlock.address(), kind::RWLOCK, c"", None);
    let attempt = |until: Option<_>| match (until, rwlock.is_nonrecursive()) {
        (Some(until), true) => lock.try_lock_shared_counted_until(until),
        (Some(until), false) => lock.try_lock_shared_recursive_counted_until(until),
        (None, true) => {
            lock.lock_shared_counted();
            true
        }
        (None, false) => {
            lock.lock_shared_recursive_counted();
            true
        }
    };
    let result = deferred::attempts(clock, deadline, in_slices, attempt);
    if result == 0 {
        record.acquired(None);
    } else {
        record.gave_up();
    }
    result
}

/// A `Wait` of `deferred.rs`, for a write lock. The calling thread does not write.
extern "C" fn write_waiting(
    rwlock: &RwLock,
    clock: c_int,
    deadline: Option<&timespec>,
    in_slices: c_int,
) -> c_int {
    if rwlock.try_write() {
        return 0;
    }
    let record = ondeck_record::begin(rwlock.address(), kind::RWLOCK, c"", None);
    let attempt = |until| {
        if let Some(until) = until {
            return rwlock.lock.try_lock_exclusive_until(until);
        }
        rwlock.lock.lock_exclusive();
        true
    };
    let result = deferred::attempts(clock, deadline, in_slices, attempt);
    if result == 0 {
        rwlock.set_owner(this_thread());
        record.acquired(None);
    } else {
        record.gave_up();
    }
    result
}

/// `pthread_rwlock_unlock`.
///
/// # Safety
///
/// The calling thread has the lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_rwlock_unlock(rwlock: &RwLock) -> c_int {
    if rwlock.is_libc() != 0 {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::rwlock_unlock(rwlock) };
    }
    bursts::recorded(Action::Unlock, rwlock, || {
        if mode::may_be_asynchronous() {
            // SAFETY: as the caller promises.
            return unsafe { deferred::call(unlock_now, rwlock) };
        }
        // SAFETY: as the caller promises.
        unsafe { unlock_now(rwlock) }
    })
}

/// # Safety
///
/// The calling thread has the lock, which is ours.
#[inline(always)]
unsafe extern "C" fn unlock_now(rwlock: &RwLock) -> c_int {
    if !rwlock.lock.is_locked_exclusive() {
        // SAFETY: no thread writes, so the calling thread reads.
        unsafe { rwlock.lock.unlock_shared_counted() };
        return 0;
    }
    rwlock.set_owner(0);
    if ondeck_record::is_on() {
        // SAFETY: as the caller promises.
        unsafe { unlock_recorded(rwlock) };
    } else {
        // SAFETY: as the caller promises.
        unsafe { rwlock.lock.unlock_exclusive() };
    }
    0
}

/// # Safety
///
/// The calling thread writes.
#[cold]
unsafe fn unlock_recorded(rwlock: &RwLock) {
    let held = ondeck_record::before_plain_unlock(rwlock.address(), kind::RWLOCK);
    // SAFETY: as the caller promises.
    unsafe { rwlock.lock.unlock_exclusive() };
    if let Some(held) = held {
        held.after();
    }
}
