//! Condition variables: all of a wait except its sleep, and notifications.
//!
//! A wait is a cancellation point, and the unwinding of a cancelled thread must not pass through a
//! frame of Rust. So the functions that programs call, and the system call, are in `cancel.c`; the
//! functions here have returned before a thread can be cancelled.
//!
//! | condition variable | mutex | a wait |
//! |---|---|---|
//! | ours | ours | ondeck's, which unlocks and locks the mutex |
//! | ours | the C library's, or a recursive one that stays locked | ondeck's, with the mutex unlocked and locked beside it |
//! | the C library's | the C library's | the C library's |
//! | the C library's | ours | the C library's with a mutex in its place, for some milliseconds: see `cancel.c` |
//!
//! The C library serves condition variables that are shared between processes, and condition
//! variables of programs that were linked before glibc 2.3.2, which have another layout and
//! functions of another version.

use core::ffi::{c_int, c_long, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;

use libc::timespec;
use ondeck::condvar::{Step, Waiter};
use ondeck::platform::{FutexWait, Linux, Timestamp};
use ondeck_record::burst::{Action, Begun};

use crate::bursts;
use crate::clock::{self, Deadline};
use crate::deferred;
use crate::errno::{EINVAL, EPERM, ETIMEDOUT};
use crate::fatal;
use crate::mode;
use crate::mutex::{disown, is_own, ondeck_preload_mutex_lock, ondeck_preload_mutex_unlock, own};
use crate::object::{Cond, Kind, Mutex};
use crate::real;
use crate::recorded;

/// Results of the functions of waits that are not error numbers; as in `cancel.c`.
mod next {
    use core::ffi::c_int;

    /// Sleep, then take a step.
    pub(super) const SLEEP: c_int = -1;
    /// Call the C library's wait.
    pub(super) const LIBC: c_int = -2;
    /// Call the C library's wait, with a substitute for our mutex.
    pub(super) const PROXY: c_int = -3;
}

/// One wait, in the frame of the function of `cancel.c` that waits.
#[repr(C, align(64))]
pub struct Wait<'a> {
    waiter: Waiter<Linux>,
    mutex: &'a Mutex,
    mutex_is: MutexIs,
    /// A deadline in real time. A deadline in monotonic time is kept in the waiter.
    deadline: Option<Deadline>,
    /// Recorded as one operation, unless functions that are recorded themselves unlock and lock the
    /// mutex.
    begun: Option<Begun>,
}

/// The bytes that `cancel.c` reserves for a wait.
const _: () = assert!(size_of::<Wait<'_>>() <= 512 && align_of::<Wait<'_>>() <= 128);

#[derive(Clone, Copy, PartialEq, Eq)]
enum MutexIs {
    /// ondeck's, of a plain kind.
    Plain,
    /// ondeck's, of a kind whose owner is written.
    Owned,
    /// Any other: unlocked and locked by its own functions.
    Foreign,
}

/// A sleep, as `cancel.c` needs it.
#[repr(C)]
pub struct Sleep {
    word: *const u32,
    expected: u32,
    has_end: u32,
    end: timespec,
}

/// The two functions that notify; `$notify` is the method of ondeck's condition variable.
macro_rules! notifies {
    ($($(#[$doc:meta])* $function:ident: $notify:ident, $real:ident;)+) => {$(
        $(#[$doc])*
        #[unsafe(no_mangle)]
        pub extern "C" fn $function(cond: &Cond) -> c_int {
            extern "C" fn notify(cond: &Cond) -> c_int {
                cond.waiters.$notify();
                0
            }
            if cond.is_libc() {
                // SAFETY: the C library's function, with the caller's arguments.
                return unsafe { real::$real(cond) };
            }
            bursts::recorded(Action::Notify, cond, || {
                if mode::may_be_asynchronous() {
                    // SAFETY: the function notifies a condition variable of ours, and does not
                    // wait.
                    return unsafe { deferred::call(notify, cond) };
                }
                notify(cond)
            })
        }
    )+};
}

notifies! {
    /// `pthread_cond_signal`.
    ondeck_preload_cond_signal: notify_one, cond_signal;
    /// `pthread_cond_broadcast`.
    ondeck_preload_cond_broadcast: notify_all, cond_broadcast;
}

/// `pthread_cond_init`. Overwrites the bytes regardless of their contents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_cond_init(
    cond: *mut Cond,
    attributes: *const c_void,
) -> c_int {
    if attributes.is_null() {
        // SAFETY: the memory is the caller's, and zeros are a condition variable.
        unsafe { cond.write_bytes(0, 1) };
        return 0;
    }
    // The C library also writes a condition variable of ours: zeros, and the flags.
    // SAFETY: the C library's function, with the caller's arguments.
    unsafe { real::cond_init(cond, attributes) }
}

/// `pthread_cond_destroy`. A notified thread no longer accesses the condition variable, so there is
/// nothing to wait for.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_cond_destroy(cond: &Cond) -> c_int {
    if cond.is_libc() {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::cond_destroy(cond) };
    }
    0
}

/// Begins a wait by unlocking the mutex. `clock` is the deadline's clock, or negative for the
/// condition variable's own. Returns an error number if the wait is over before it began, otherwise
/// the next step.
///
/// # Safety
///
/// As for `pthread_cond_timedwait`: the caller has locked the mutex, unless its kind is a checked
/// one. `wait` points to memory for a wait, which does not move until the wait is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_wait_begin<'a>(
    wait: *mut Wait<'a>,
    cond: &Cond,
    mutex: &'a Mutex,
    clock: c_int,
    deadline: Option<&timespec>,
) -> c_int {
    let clock = if clock < 0 { cond.clock() } else { clock };
    let mut real_time = None;
    let mut monotonic = None;
    if let Some(deadline) = deadline {
        let deadline = match Deadline::new(clock, *deadline) {
            Ok(deadline) if clock::is_known(clock) => deadline,
            _ => return EINVAL,
        };
        match deadline.on_clock_of_waits() {
            Some(until) => monotonic = Some(until),
            None => real_time = Some(deadline),
        }
    }
    let kind = mutex.kind();
    if cond.is_libc() {
        return if kind == Kind::Libc { next::LIBC } else { next::PROXY };
    }
    if matches!(kind, Kind::Recursive | Kind::Errorcheck) && !is_own(mutex) {
        return EPERM;
    }
    let mutex_is = match kind {
        Kind::Plain => MutexIs::Plain,
        Kind::Recursive | Kind::Errorcheck if mutex.count.load(Ordering::Relaxed) == 1 => {
            MutexIs::Owned
        }
        _ => MutexIs::Foreign,
    };
    let lock = (mutex_is != MutexIs::Foreign).then_some(&mutex.lock);
    let waiter = Waiter::new(&cond.waiters, lock, monotonic);
    let begun = if mutex_is == MutexIs::Foreign { None } else { bursts::begun() };
    // SAFETY: the caller provides the memory.
    let wait = unsafe {
        wait.write(Wait { waiter, mutex, mutex_is, deadline: real_time, begun });
        &*wait
    };
    if mutex_is == MutexIs::Owned {
        disown(mutex);
    }
    mutex.count_user();
    let held = if mutex_is == MutexIs::Foreign { None } else { recorded::before_unlock(mutex) };
    // SAFETY: the waiter stays in the caller's memory until the wait is over, and the calling
    // thread owns the mutex, if it is one of ours.
    unsafe { wait.waiter.begin() };
    if let Some(held) = held {
        held.after();
    }
    if mutex_is == MutexIs::Foreign {
        // SAFETY: the caller's mutex; the function checks that the caller owns it.
        let refused = unsafe { ondeck_preload_mutex_unlock(mutex) };
        if refused != 0 {
            // SAFETY: the wait has begun.
            unsafe { wait.waiter.cancel() };
            mutex.uncount_user();
            return refused;
        }
    }
    next::SLEEP
}

/// Takes a step of a wait. `slept` is the kernel's result of the previous sleep, or 0. Returns the
/// next step, or the result of the wait, in which case the mutex is locked again.
///
/// # Safety
///
/// The wait has begun, by the calling thread, and is not over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_wait_step(
    wait: &Wait<'_>,
    slept: c_long,
    sleep: &mut MaybeUninit<Sleep>,
) -> c_int {
    const EAGAIN: c_long = -11;
    const EINTR: c_long = -4;
    const TIMED_OUT: c_long = -110;
    let slept = match slept {
        0 => FutexWait::Woken,
        TIMED_OUT => FutexWait::TimedOut,
        EAGAIN => FutexWait::Mismatch,
        EINTR => FutexWait::Interrupted,
        _ => fatal::end(&["the kernel refuses futex(2), by which all waits sleep"]),
    };
    // SAFETY: as the caller promises.
    let (word, expected, until) = match unsafe { wait.waiter.step(slept) } {
        Step::Done { notified } => return wait.end(if notified { 0 } else { ETIMEDOUT }),
        Step::Sleep { word, expected, until } => (word, expected, until),
    };
    let until = match wait.deadline {
        None => until,
        Some(deadline) => match deadline.until() {
            Some(passes) => Some(until.map_or(passes, |until| until.min(passes))),
            None if slept == FutexWait::TimedOut => {
                // If it was notified just now, the notification goes to another waiter, as if the
                // deadline had passed a moment earlier. SAFETY: as the caller promises.
                unsafe { wait.waiter.cancel() };
                return wait.end(ETIMEDOUT);
            }
            // A sleep that ends at once: a pending cancellation acts there.
            None => Some(Timestamp::from_nanos(0)),
        },
    };
    sleep.write(Sleep {
        word: word.cast(),
        expected,
        has_end: until.is_some().into(),
        end: clock::timespec_of(until.unwrap_or(Timestamp::from_nanos(0))),
    });
    next::SLEEP
}

/// Ends the wait of a cancelled thread: passes its notification, if there is one, to another
/// waiter, and locks the mutex.
///
/// # Safety
///
/// The wait has begun, by the calling thread, and is not over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_wait_cancel(wait: &Wait<'_>) {
    // SAFETY: as the caller promises.
    unsafe { wait.waiter.cancel() };
    wait.end(0);
}

impl Wait<'_> {
    /// Finishes the waiter, locks its mutex, and returns the result of the wait.
    fn end(&self, result: c_int) -> c_int {
        let mutex = self.mutex;
        match self.mutex_is {
            MutexIs::Foreign => {
                // An error of the mutex takes precedence over the result of the wait, as in the C
                // library.
                let refused = ondeck_preload_mutex_lock(mutex);
                mutex.uncount_user();
                return if refused == 0 { result } else { refused };
            }
            MutexIs::Owned => own(mutex),
            MutexIs::Plain => {}
        }
        recorded::relocked(mutex, &self.waiter);
        bursts::waited(self.begun, mutex, self.waiter.waited_for_mutex().unwrap_or(0));
        mutex.uncount_user();
        result
    }
}

/// Returns whether a mutex is one of ours, for waits at condition variables of the C library.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_is_ours(mutex: &Mutex) -> c_int {
    (mutex.kind() != Kind::Libc).into()
}

/// Unlocks a mutex of ours for a wait at a condition variable of the C library. Returns an error
/// number.
///
/// # Safety
///
/// As for `pthread_cond_wait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_proxy_unlock(mutex: &Mutex) -> c_int {
    mutex.count_user();
    // SAFETY: as the caller promises.
    let refused = unsafe { ondeck_preload_mutex_unlock(mutex) };
    if refused != 0 {
        mutex.uncount_user();
    }
    refused
}

/// Locks it again, after an [`ondeck_preload_proxy_unlock`] by the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_proxy_lock(mutex: &Mutex) -> c_int {
    let refused = ondeck_preload_mutex_lock(mutex);
    mutex.uncount_user();
    refused
}
