//! Lock, attempt and unlock: nearly all calls.
//!
//! The fast path is one load that checks that the shim is ready and the kind is the usual one, the mutex's own
//! instruction, and a return, without a taken branch. Everything else is out of line.

use core::arch::naked_asm;
use core::ffi::{c_int, c_void};
use core::ptr;
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
pub unsafe extern "C" fn ondeck_preload_mutex_lock(mutex: *mut Mutex) -> c_int {
    // SAFETY: the caller's mutex is valid while the caller uses it.
    let shared = unsafe { &*mutex };
    if !is_usual(shared) {
        // SAFETY: as the caller promises.
        return unsafe { lock_from(mutex) };
    }
    if Linux::single_threaded() {
        // SAFETY: as the caller promises.
        return unsafe { lock_alone(mutex) };
    }
    if Linux::test_and_set(shared.byte(), Ordering::Acquire) {
        // SAFETY: as the caller promises.
        return unsafe { lock_slow(mutex) };
    }
    recorded::count(shared);
    0
}

/// Locks without a locked instruction: there is no other thread.
#[cold]
#[inline(never)]
unsafe fn lock_alone(mutex: *mut Mutex) -> c_int {
    // SAFETY: the caller's mutex is valid.
    let shared = unsafe { &*mutex };
    let byte = shared.byte();
    // Plain accesses, as in ondeck's own attempt: a signal handler in between unlocks what it locks. A locked mutex is
    // not written: memory that processes share may have a mutex of a private kind, which the other process may be
    // unlocking right now.
    if byte.load(Ordering::Relaxed) != 0 {
        // SAFETY: as the caller promises.
        return unsafe { lock_slow(mutex) };
    }
    byte.store(1, Ordering::Relaxed);
    recorded::count(shared);
    0
}

/// Calls [`lock_other`] with the call site of the lock.
///
/// The fast path ends with a jump to this function, so the return address is in the program. If a compiler emits a
/// call instead, the place is in the shim, and call sites of the same frame are not distinguished.
#[unsafe(naked)]
unsafe extern "C" fn lock_from(mutex: *mut Mutex) -> c_int {
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

unsafe extern "C" fn lock_recorded(mutex: *mut Mutex, address: usize, frame: usize) -> c_int {
    let caller = Caller { address, frame };
    // SAFETY: as the caller promises.
    bursts::recorded_of(Action::Lock, mutex, caller, || unsafe { lock_other(mutex) })
}

/// The second fastest lock path, for the other kinds, if the mutex is free.
#[cold]
#[inline(never)]
unsafe fn lock_other(mutex: *mut Mutex) -> c_int {
    // SAFETY: the caller's mutex is valid.
    let shared = unsafe { &*mutex };
    match mode::word() | shared.raw_kind() {
        ADAPTIVE if shared.lock.try_lock() => {}
        RECURSIVE | ERRORCHECK if !is_own(shared) && shared.lock.try_lock() => own(shared),
        // SAFETY: as the caller promises.
        _ => return unsafe { lock_slow(mutex) },
    }
    recorded::count(shared);
    0
}

#[cold]
#[inline(never)]
unsafe fn lock_slow(mutex: *mut Mutex) -> c_int {
    // SAFETY: as the caller promises.
    let shared = unsafe { &*mutex };
    match shared.kind() {
        Kind::Plain if mode::may_be_asynchronous() => {
            // SAFETY: as the caller promises, it does not own a plain mutex.
            return unsafe { lock_deferred(mutex, 0, ptr::null()) };
        }
        Kind::Plain => recorded::lock(shared),
        // SAFETY: the C library's function, with the caller's arguments.
        Kind::Libc => return unsafe { real::mutex_lock(mutex) },
        kind => {
            if let Some(done) = enter_again(shared, kind, EDEADLK) {
                return done;
            }
            if mode::may_be_asynchronous() {
                // SAFETY: as the caller promises; ownership by the calling thread was checked.
                return unsafe { lock_deferred(mutex, 0, ptr::null()) };
            }
            recorded::lock(shared);
            own(shared);
        }
    }
    0
}

/// `pthread_mutex_trylock`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mutex_trylock(mutex: *mut Mutex) -> c_int {
    // SAFETY: the caller's mutex is valid.
    let shared = unsafe { &*mutex };
    if is_usual(shared) {
        // Reads before it writes, so a thread that tries repeatedly leaves the line to the owner. Atomic also in a
        // process of one thread, as in the C library: the mutex may be in memory that processes share.
        if shared.lock.is_locked() || Linux::test_and_set(shared.byte(), Ordering::Acquire) {
            return EBUSY;
        }
        recorded::count(shared);
        return 0;
    }
    // SAFETY: as the caller promises.
    bursts::recorded(Action::Lock, mutex, || unsafe { trylock_slow(mutex) })
}

#[cold]
#[inline(never)]
unsafe fn trylock_slow(mutex: *mut Mutex) -> c_int {
    // SAFETY: as the caller promises.
    let shared = unsafe { &*mutex };
    let kind = shared.kind();
    if kind == Kind::Libc {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::mutex_trylock(mutex) };
    }
    if let Some(done) = enter_again(shared, kind, EBUSY) {
        return done;
    }
    if !try_lock(shared) {
        return EBUSY;
    }
    if kind != Kind::Plain {
        own(shared);
    }
    0
}

/// Locks if the mutex is free. Atomic also in a process of one thread: see [`ondeck_preload_mutex_trylock`].
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
/// As for [`ondeck_preload_mutex_lock`], and the caller has locked the mutex, unless its kind is a checked one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_mutex_unlock(mutex: *mut Mutex) -> c_int {
    // SAFETY: the caller's mutex is valid until it is unlocked.
    let shared = unsafe { &*mutex };
    if is_usual(shared) && !recorded::is_requested_now(shared) {
        // SAFETY: the caller owns it.
        unsafe { shared.lock.unlock() };
        return 0;
    }
    // SAFETY: as the caller promises.
    unsafe { unlock_other(mutex) }
}

/// The second fastest unlock path, for the other kinds.
#[cold]
#[inline(never)]
unsafe fn unlock_other(mutex: *mut Mutex) -> c_int {
    // SAFETY: the caller's mutex is valid until it is unlocked.
    let shared = unsafe { &*mutex };
    match mode::word() | shared.raw_kind() {
        _ if mode::has_bursts() => {
            // SAFETY: as the caller promises.
            return bursts::recorded(Action::Unlock, mutex, || unsafe { unlock_slow(mutex) });
        }
        // SAFETY: as the caller promises.
        _ if recorded::is_requested(shared) => return unsafe { unlock_slow(mutex) },
        ADAPTIVE => {}
        RECURSIVE | ERRORCHECK if is_own(shared) && shared.count.load(Ordering::Relaxed) == 1 => {
            disown(shared);
        }
        // SAFETY: as the caller promises.
        _ => return unsafe { unlock_slow(mutex) },
    }
    // SAFETY: the caller owns it.
    unsafe { shared.lock.unlock() };
    0
}

#[cold]
#[inline(never)]
unsafe fn unlock_slow(mutex: *mut Mutex) -> c_int {
    // SAFETY: as the caller promises.
    let shared = unsafe { &*mutex };
    match shared.kind() {
        // SAFETY: the C library's function, with the caller's arguments.
        Kind::Libc => return unsafe { real::mutex_unlock(mutex) },
        Kind::Plain => {}
        Kind::Recursive | Kind::Errorcheck => {
            if !is_own(shared) {
                return EPERM;
            }
            let count = shared.count.load(Ordering::Relaxed) - 1;
            if count != 0 {
                shared.count.store(count, Ordering::Relaxed);
                return 0;
            }
            disown(shared);
        }
    }
    if mode::may_be_asynchronous() {
        // SAFETY: as below.
        return unsafe { deferred::call(unlock_now, mutex.cast()) };
    }
    // SAFETY: the caller owns it: a checked kind was checked, and for a plain one the caller promises it.
    unsafe { recorded::unlock(shared) };
    0
}

/// # Safety
///
/// The calling thread owns the mutex that `mutex` points to.
unsafe extern "C" fn unlock_now(mutex: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { recorded::unlock(&*mutex.cast::<Mutex>()) };
    0
}

/// Unlocks a mutex that the calling thread has just locked, if the thread was cancelled before the lock returned.
///
/// # Safety
///
/// The calling thread has just locked the mutex that `object` points to.
pub(crate) unsafe extern "C" fn unlock_again(mutex: *mut c_void) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { unlock_slow(mutex.cast()) }
}

/// Returns whether the calling thread owns a mutex of a checked kind.
#[inline(always)]
pub(crate) fn is_own(mutex: &Mutex) -> bool {
    // Relaxed: only the calling thread writes its own number, so it reads that number if and only if it is the owner.
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

/// If the calling thread owns a mutex of a checked kind, returns the result of its attempt to lock it again. A
/// recursive mutex is then locked once more; for an errorcheck mutex the result is `refused`.
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

/// Waits for a mutex of ours, with cancellation deferred. Returns the same results as the C library's function.
///
/// # Safety
///
/// `mutex` points to a mutex that the calling thread does not own, `deadline` points to a time or is null.
#[inline(always)]
pub(crate) unsafe fn lock_deferred(
    mutex: *mut Mutex,
    clock: c_int,
    deadline: *const timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { deferred::wait(lock_waiting, unlock_again, mutex.cast(), clock, deadline) }
}

/// Waits for a mutex of ours: a `Wait` of `deferred.rs`.
///
/// # Safety
///
/// `mutex` points to a mutex that the calling thread does not own, `deadline` points to a time or is null.
pub(crate) unsafe extern "C" fn lock_waiting(
    mutex: *mut c_void,
    clock: c_int,
    deadline: *const timespec,
    in_slices: c_int,
) -> c_int {
    // SAFETY: the caller's mutex is valid.
    let shared = unsafe { &*mutex.cast::<Mutex>() };
    let attempt = |until| {
        if let Some(until) = until {
            return recorded::lock_until(shared, until);
        }
        recorded::lock(shared);
        true
    };
    // SAFETY: as the caller promises.
    let result = unsafe { deferred::attempts(clock, deadline, in_slices, attempt) };
    if result == 0 && shared.kind() != Kind::Plain {
        own(shared);
    }
    result
}
