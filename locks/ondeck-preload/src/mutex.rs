//! Lock, attempt and unlock: nearly all calls.
//!
//! The fast path is one load that checks that the shim is ready and the kind is the usual one, the
//! mutex's own instruction, and a return, without a taken branch. Everything else is out of line.

use core::arch::naked_asm;
use core::ffi::c_int;
use core::sync::atomic::Ordering;

use libc::timespec;
use ondeck::platform::{Linux, Platform};
use ondeck_record::burst::{Action, Caller};

use crate::bursts;
use crate::deferred;
use crate::errno::{EAGAIN, EBUSY, EDEADLK, EPERM};
use crate::mode;
use crate::object::{ADAPTIVE, ERRORCHECK, Kind, Mutex, RECURSIVE};
use crate::real;
use crate::recorded;
use crate::thread::this_thread;

/// Returns whether the mutex is of the usual kind, and only its lock has to be done.
#[inline(always)]
fn is_usual(mutex: &Mutex) -> bool {
    mode::word() | mutex.raw_kind() == 0
}

/// `pthread_mutex_lock`.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_mutex_lock(mutex: &Mutex) -> c_int {
    if !is_usual(mutex) {
        return lock_from(mutex);
    }
    if Linux::single_threaded() {
        return lock_alone(mutex);
    }
    if Linux::test_and_set(mutex.byte(), Ordering::Acquire) {
        return lock_slow(mutex);
    }
    recorded::count(mutex);
    0
}

/// Locks without a locked instruction: there is no other thread.
#[cold]
#[inline(never)]
fn lock_alone(mutex: &Mutex) -> c_int {
    let byte = mutex.byte();
    // Plain accesses, as in ondeck's own attempt: a signal handler in between unlocks what it
    // locks. A locked mutex is not written: memory that processes share may have a mutex of a
    // private kind, which the other process may be unlocking right now.
    if byte.load(Ordering::Relaxed) != 0 {
        return lock_slow(mutex);
    }
    byte.store(1, Ordering::Relaxed);
    recorded::count(mutex);
    0
}

/// Calls [`lock_other`] with the call site of the lock.
///
/// The fast path ends with a jump to this function, so the return address is in the program. If a
/// compiler emits a call instead, the place is in the shim, and call sites of the same frame are
/// not distinguished.
#[unsafe(naked)]
extern "C" fn lock_from(mutex: &Mutex) -> c_int {
    naked_asm!(
        // A signal may arrive here, and its handler may unwind.
        ".cfi_startproc",
        "mov rsi, [rsp]",
        "lea rdx, [rsp + 8]",
        "jmp {}",
        ".cfi_endproc",
        sym lock_recorded,
    )
}

extern "C" fn lock_recorded(mutex: &Mutex, address: usize, frame: usize) -> c_int {
    bursts::recorded_of(Action::Lock, mutex, Caller { address, frame }, || lock_other(mutex))
}

/// The second fastest lock path, for the other kinds, if the mutex is free.
#[cold]
#[inline(never)]
fn lock_other(mutex: &Mutex) -> c_int {
    match mode::word() | mutex.raw_kind() {
        ADAPTIVE if mutex.lock.try_lock() => {}
        RECURSIVE | ERRORCHECK if !is_own(mutex) && mutex.lock.try_lock() => own(mutex),
        _ => return lock_slow(mutex),
    }
    recorded::count(mutex);
    0
}

#[cold]
#[inline(never)]
fn lock_slow(mutex: &Mutex) -> c_int {
    match mutex.kind() {
        Kind::Plain if mode::may_be_asynchronous() => return lock_deferred(mutex, 0, None),
        Kind::Plain => recorded::lock(mutex),
        // SAFETY: the C library's function, with the caller's arguments.
        Kind::Libc => return unsafe { real::mutex_lock(mutex) },
        kind => {
            if let Some(done) = enter_again(mutex, kind, EDEADLK) {
                return done;
            }
            if mode::may_be_asynchronous() {
                return lock_deferred(mutex, 0, None);
            }
            recorded::lock(mutex);
            own(mutex);
        }
    }
    0
}

/// `pthread_mutex_trylock`.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_mutex_trylock(mutex: &Mutex) -> c_int {
    if is_usual(mutex) {
        // Reads before it writes, so a thread that tries repeatedly leaves the line to the owner.
        // Atomic also in a process of one thread, as in the C library: the mutex may be in memory
        // that processes share.
        if mutex.lock.is_locked() || Linux::test_and_set(mutex.byte(), Ordering::Acquire) {
            return EBUSY;
        }
        recorded::count(mutex);
        return 0;
    }
    bursts::recorded(Action::Lock, mutex, || trylock_slow(mutex))
}

#[cold]
#[inline(never)]
fn trylock_slow(mutex: &Mutex) -> c_int {
    let kind = mutex.kind();
    if kind == Kind::Libc {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::mutex_trylock(mutex) };
    }
    if let Some(done) = enter_again(mutex, kind, EBUSY) {
        return done;
    }
    if !try_lock(mutex) {
        return EBUSY;
    }
    if kind != Kind::Plain {
        own(mutex);
    }
    0
}

/// Locks if the mutex is free. Atomic also in a process of one thread: see
/// [`ondeck_preload_mutex_trylock`].
pub(crate) fn try_lock(mutex: &Mutex) -> bool {
    let is_owner = !Linux::test_and_set(mutex.byte(), Ordering::Acquire);
    if is_owner {
        recorded::count(mutex);
    }
    is_owner
}

/// `pthread_mutex_unlock`.
///
/// # Safety
///
/// The caller has locked the mutex, unless its kind is a checked one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mutex_unlock(mutex: &Mutex) -> c_int {
    if is_usual(mutex) && !recorded::is_requested_now(mutex) {
        // SAFETY: the caller owns it.
        unsafe { mutex.lock.unlock() };
        return 0;
    }
    // SAFETY: as the caller promises.
    unsafe { unlock_other(mutex) }
}

/// The second fastest unlock path, for the other kinds.
#[cold]
#[inline(never)]
unsafe fn unlock_other(mutex: &Mutex) -> c_int {
    match mode::word() | mutex.raw_kind() {
        _ if mode::has_bursts() => {
            // SAFETY: as the caller promises.
            return bursts::recorded(Action::Unlock, mutex, || unsafe { unlock_slow(mutex) });
        }
        // SAFETY: as the caller promises.
        _ if recorded::is_requested(mutex) => return unsafe { unlock_slow(mutex) },
        ADAPTIVE => {}
        RECURSIVE | ERRORCHECK if is_own(mutex) && mutex.count.load(Ordering::Relaxed) == 1 => {
            disown(mutex);
        }
        // SAFETY: as the caller promises.
        _ => return unsafe { unlock_slow(mutex) },
    }
    // SAFETY: the caller owns it.
    unsafe { mutex.lock.unlock() };
    0
}

#[cold]
#[inline(never)]
unsafe fn unlock_slow(mutex: &Mutex) -> c_int {
    match mutex.kind() {
        // SAFETY: the C library's function, with the caller's arguments.
        Kind::Libc => return unsafe { real::mutex_unlock(mutex) },
        Kind::Plain => {}
        Kind::Recursive | Kind::Errorcheck => {
            if !is_own(mutex) {
                return EPERM;
            }
            let count = mutex.count.load(Ordering::Relaxed) - 1;
            if count != 0 {
                mutex.count.store(count, Ordering::Relaxed);
                return 0;
            }
            disown(mutex);
        }
    }
    if mode::may_be_asynchronous() {
        // SAFETY: as below.
        return unsafe { deferred::call(unlock_now, mutex) };
    }
    // SAFETY: the caller owns it: a checked kind was checked, and for a plain one the caller
    // promises it.
    unsafe { recorded::unlock(mutex) };
    0
}

/// # Safety
///
/// The calling thread owns the mutex.
unsafe extern "C" fn unlock_now(mutex: &Mutex) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { recorded::unlock(mutex) };
    0
}

/// Unlocks a mutex that the calling thread has just locked, if the thread was cancelled before the
/// lock returned.
///
/// # Safety
///
/// The calling thread has just locked the mutex.
unsafe extern "C" fn unlock_again(mutex: &Mutex) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { unlock_slow(mutex) }
}

/// Returns whether the calling thread owns a mutex of a checked kind.
#[inline(always)]
pub(crate) fn is_own(mutex: &Mutex) -> bool {
    // Relaxed: only the calling thread writes its own number, so it reads that number if and only
    // if it is the owner.
    mutex.owner.load(Ordering::Relaxed) == this_thread()
}

/// Clears the owner of a checked kind. Called when the thread is about to unlock.
#[inline(always)]
pub(crate) fn disown(mutex: &Mutex) {
    mutex.owner.store(0, Ordering::Relaxed);
    mutex.count.store(0, Ordering::Relaxed);
}

/// Sets the owner of a checked kind. Called when the thread has just locked.
#[inline(always)]
pub(crate) fn own(mutex: &Mutex) {
    mutex.owner.store(this_thread(), Ordering::Relaxed);
    mutex.count.store(1, Ordering::Relaxed);
}

/// If the calling thread owns a mutex of a checked kind, returns the result of its attempt to lock
/// it again. A recursive mutex is then locked once more; for an errorcheck mutex the result is
/// `refused`.
pub(crate) fn enter_again(mutex: &Mutex, kind: Kind, refused: c_int) -> Option<c_int> {
    if kind == Kind::Plain || !is_own(mutex) {
        return None;
    }
    if kind == Kind::Errorcheck {
        return Some(refused);
    }
    let Some(count) = mutex.count.load(Ordering::Relaxed).checked_add(1) else {
        return Some(EAGAIN);
    };
    mutex.count.store(count, Ordering::Relaxed);
    Some(0)
}

/// Waits for a mutex of ours that the calling thread does not own, with cancellation deferred.
/// Returns the same results as the C library's function.
#[inline(always)]
pub(crate) fn lock_deferred(mutex: &Mutex, clock: c_int, deadline: Option<&timespec>) -> c_int {
    // SAFETY: the mutex is unlocked again if the wait has locked it.
    unsafe { deferred::wait(lock_waiting, unlock_again, mutex, clock, deadline) }
}

/// Waits for a mutex of ours that the calling thread does not own: a `Wait` of `deferred.rs`.
pub(crate) extern "C" fn lock_waiting(
    mutex: &Mutex,
    clock: c_int,
    deadline: Option<&timespec>,
    in_slices: c_int,
) -> c_int {
    let attempt = |until| {
        if let Some(until) = until {
            return recorded::lock_until(mutex, until);
        }
        recorded::lock(mutex);
        true
    };
    let result = deferred::attempts(clock, deadline, in_slices, attempt);
    if result == 0 && mutex.kind() != Kind::Plain {
        own(mutex);
    }
    result
}
