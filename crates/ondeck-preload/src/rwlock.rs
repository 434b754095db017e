//! Reader-writer locks: ondeck's, in the caller's own bytes, except process-shared ones.
//!
//! | kind | a read while a writer waits |
//! |---|---|
//! | `PTHREAD_RWLOCK_PREFER_READER_NP`, the default | enters: the thread may have a read lock already |
//! | `PTHREAD_RWLOCK_PREFER_WRITER_NP` | the same, as with the C library |
//! | `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP` | waits for that writer |
//!
//! Reads are counted in the word. A slot for a visible reader would have to be returned by a thread-local destructor,
//! which the shim must not have.
//!
//! The word shows an unlock whether it is a reader's or the writer's: while a writer holds the lock there is no
//! reader. The writing thread is recorded, because the C library returns `EDEADLK` to it.

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

    /// Returns the error for a thread that already has the lock in a way that would make it wait for itself.
    fn refused(&self) -> c_int {
        if self.is_owned_by(this_thread()) { EDEADLK } else { 0 }
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

/// `pthread_rwlock_destroy`. Returns 0, like the C library, even for a lock that threads hold or want.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_rwlock_destroy(rwlock: *mut RwLock) -> c_int {
    // SAFETY: the caller's lock is valid.
    if unsafe { &*rwlock }.is_libc() != 0 {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::rwlock_destroy(rwlock) };
    }
    0
}

/// `pthread_rwlock_rdlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_rwlock_rdlock(rwlock: *mut RwLock) -> c_int {
    // SAFETY: the caller's lock is valid while the caller uses it.
    let shared = unsafe { &*rwlock };
    if shared.is_usual() && shared.try_read() {
        return 0;
    }
    // SAFETY: as the caller promises.
    bursts::recorded(Action::Read, rwlock, || unsafe {
        lock_slow(rwlock, read_waiting, real::rwlock_rdlock)
    })
}

/// `pthread_rwlock_wrlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_rwlock_wrlock(rwlock: *mut RwLock) -> c_int {
    // SAFETY: the caller's lock is valid while the caller uses it.
    let shared = unsafe { &*rwlock };
    if shared.is_usual() && shared.try_write() {
        return 0;
    }
    // SAFETY: as the caller promises.
    bursts::recorded(Action::Write, rwlock, || unsafe {
        lock_slow(rwlock, write_waiting, real::rwlock_wrlock)
    })
}

/// # Safety
///
/// As for [`ondeck_preload_rwlock_rdlock`]; `waiting` is one of the two functions below, `real` the C library's.
#[cold]
#[inline(never)]
unsafe fn lock_slow(
    rwlock: *mut RwLock,
    waiting: deferred::Wait,
    real: unsafe fn(*mut RwLock) -> c_int,
) -> c_int {
    // SAFETY: the caller's lock is valid.
    if unsafe { &*rwlock }.is_libc() != 0 {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real(rwlock) };
    }
    // SAFETY: as the caller promises.
    unsafe { wait(rwlock, waiting, 0, ptr::null()) }
}

/// `pthread_rwlock_tryrdlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_rwlock_tryrdlock(rwlock: *mut RwLock) -> c_int {
    // SAFETY: the caller's lock is valid.
    let shared = unsafe { &*rwlock };
    if shared.is_libc() != 0 {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::rwlock_tryrdlock(rwlock) };
    }
    bursts::recorded(Action::Read, rwlock, || match shared.try_read() {
        true => 0,
        false if shared.lock.has_most_readers() => EAGAIN,
        false => EBUSY,
    })
}

/// `pthread_rwlock_trywrlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_rwlock_trywrlock(rwlock: *mut RwLock) -> c_int {
    // SAFETY: the caller's lock is valid.
    let shared = unsafe { &*rwlock };
    if shared.is_libc() != 0 {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::rwlock_trywrlock(rwlock) };
    }
    bursts::recorded(Action::Write, rwlock, || if shared.try_write() { 0 } else { EBUSY })
}

/// The functions with a deadline, each for readers and for writers.
macro_rules! with_deadline {
    ($($timed:ident, $clocked:ident: $action:expr, $attempt:ident, $waiting:ident, $real:path;)+) => {$(
        /// The function with a deadline in real time.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $timed(rwlock: *mut RwLock, deadline: *const timespec) -> c_int {
            // SAFETY: as the caller promises.
            unsafe { $clocked(rwlock, libc::CLOCK_REALTIME, deadline) }
        }

        /// The function with a deadline on a clock.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $clocked(
            rwlock: *mut RwLock,
            clock: c_int,
            deadline: *const timespec,
        ) -> c_int {
            // SAFETY: the caller's lock is valid.
            let shared = unsafe { &*rwlock };
            if shared.is_libc() != 0 {
                // SAFETY: the C library's function, with the caller's arguments.
                return unsafe { $real(rwlock, clock, deadline) };
            }
            // SAFETY: as the caller promises.
            if !unsafe { is_deadline(clock, deadline) } {
                return EINVAL;
            }
            if shared.is_usual() && shared.$attempt() {
                return 0;
            }
            // SAFETY: as the caller promises.
            bursts::recorded($action, rwlock, || unsafe { wait(rwlock, $waiting, clock, deadline) })
        }
    )+};
}

with_deadline! {
    ondeck_preload_rwlock_timedrdlock, ondeck_preload_rwlock_clockrdlock:
        Action::Read, try_read, read_waiting, real::rwlock_clockrdlock;
    ondeck_preload_rwlock_timedwrlock, ondeck_preload_rwlock_clockwrlock:
        Action::Write, try_write, write_waiting, real::rwlock_clockwrlock;
}

/// Returns whether the C library would accept the deadline, which it checks before it reads the lock.
///
/// # Safety
///
/// `deadline` points to a time.
unsafe fn is_deadline(clock: c_int, deadline: *const timespec) -> bool {
    // SAFETY: as the caller promises.
    clock::is_known(clock) && unsafe { clock::Deadline::new(clock, deadline) }.is_ok()
}

/// Waits for a lock of ours, unless the calling thread is its writer.
///
/// # Safety
///
/// `rwlock` points to a lock, `deadline` points to a time or is null; `waiting` is one of the two functions below.
unsafe fn wait(
    rwlock: *mut RwLock,
    waiting: deferred::Wait,
    clock: c_int,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: the caller's lock is valid.
    let refused = unsafe { &*rwlock }.refused();
    if refused != 0 {
        return refused;
    }
    if mode::may_be_asynchronous() {
        // SAFETY: as the caller promises.
        return unsafe { deferred::wait(waiting, unlock_now, rwlock.cast(), clock, deadline) };
    }
    // SAFETY: as the caller promises.
    unsafe { waiting(rwlock.cast(), clock, deadline, 0) }
}

/// A `Wait` of `deferred.rs`, for a read lock.
///
/// # Safety
///
/// `rwlock` points to a lock that the calling thread does not write, `deadline` points to a time or is null.
unsafe extern "C" fn read_waiting(
    rwlock: *mut c_void,
    clock: c_int,
    deadline: *const timespec,
    in_slices: c_int,
) -> c_int {
    // SAFETY: the caller's lock is valid.
    let shared = unsafe { &*rwlock.cast::<RwLock>() };
    if shared.try_read() {
        return 0;
    }
    if shared.lock.has_most_readers() {
        return EAGAIN;
    }
    let record = ondeck_record::begin(shared.address(), kind::RWLOCK, None);
    let lock = &shared.lock;
    let attempt = |until: Option<_>| match (until, shared.is_nonrecursive()) {
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
    // SAFETY: as the caller promises.
    let result = unsafe { deferred::attempts(clock, deadline, in_slices, attempt) };
    if result == 0 {
        record.acquired(None);
    } else {
        record.gave_up();
    }
    result
}

/// A `Wait` of `deferred.rs`, for a write lock.
///
/// # Safety
///
/// As for [`read_waiting`].
unsafe extern "C" fn write_waiting(
    rwlock: *mut c_void,
    clock: c_int,
    deadline: *const timespec,
    in_slices: c_int,
) -> c_int {
    // SAFETY: the caller's lock is valid.
    let shared = unsafe { &*rwlock.cast::<RwLock>() };
    if shared.try_write() {
        return 0;
    }
    let record = ondeck_record::begin(shared.address(), kind::RWLOCK, None);
    let attempt = |until| {
        if let Some(until) = until {
            return shared.lock.try_lock_exclusive_until(until);
        }
        shared.lock.lock_exclusive();
        true
    };
    // SAFETY: as the caller promises.
    let result = unsafe { deferred::attempts(clock, deadline, in_slices, attempt) };
    if result == 0 {
        shared.set_owner(this_thread());
        record.acquired(None);
    } else {
        record.gave_up();
    }
    result
}

/// `pthread_rwlock_unlock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_rwlock_unlock(rwlock: *mut RwLock) -> c_int {
    // SAFETY: the caller's lock is valid until it is unlocked.
    let shared = unsafe { &*rwlock };
    if shared.is_libc() != 0 {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::rwlock_unlock(rwlock) };
    }
    bursts::recorded(Action::Unlock, rwlock, || {
        if mode::may_be_asynchronous() {
            // SAFETY: as the caller promises.
            return unsafe { deferred::call(unlock_now, rwlock.cast()) };
        }
        // SAFETY: as the caller promises.
        unsafe { unlock_now(rwlock.cast()) }
    })
}

/// # Safety
///
/// `rwlock` points to a lock of ours that the calling thread has.
#[inline(always)]
unsafe extern "C" fn unlock_now(rwlock: *mut c_void) -> c_int {
    // SAFETY: the caller's lock is valid until it is unlocked.
    let shared = unsafe { &*rwlock.cast::<RwLock>() };
    if !shared.lock.is_locked_exclusive() {
        // SAFETY: no thread writes, so the calling thread reads.
        unsafe { shared.lock.unlock_shared_counted() };
        return 0;
    }
    shared.set_owner(0);
    if ondeck_record::is_on() {
        // SAFETY: as the caller promises.
        unsafe { unlock_recorded(shared) };
    } else {
        // SAFETY: as the caller promises.
        unsafe { shared.lock.unlock_exclusive() };
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
