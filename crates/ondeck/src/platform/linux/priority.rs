//! The scheduling class of the calling thread, as far as a lock has to know it.
//!
//! A real-time thread runs before all ordinary ones, so a lock wakes it before them, as the kernel's
//! futex does, and hands no lock to another while it is parked.

use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};

use super::quietly;

/// Whether a thread of a real-time class has ever asked for its priority. Relaxed: a notification that reads an older
/// value chooses as if all waiters were ordinary threads, once.
static SEEN: AtomicBool = AtomicBool::new(false);

/// See [`Host::has_real_time_threads`](crate::platform::Host::has_real_time_threads).
#[inline]
pub(super) fn has_real_time_threads() -> bool {
    SEEN.load(Ordering::Relaxed)
}

/// The real-time priority of the calling thread, 1 to 99, or 0 if it is of an ordinary class: one system
/// call for those, two for the others.
///
/// A deadline thread, which runs before all of them, is 100. Where a filter refuses to tell, all threads
/// are ordinary.
pub(super) fn of_caller() -> u32 {
    /// What the kernel takes for the calling thread.
    const CALLER: libc::pid_t = 0;
    /// A flag beside the class.
    const RESET_ON_FORK: i32 = libc::SCHED_RESET_ON_FORK;
    const BEFORE_ALL: u32 = 100;
    // SAFETY: takes a number and returns one.
    let class = quietly(|| unsafe { libc::sched_getscheduler(CALLER) }).0;
    if class < 0 {
        return 0;
    }
    let priority = match class & !RESET_ON_FORK {
        libc::SCHED_FIFO | libc::SCHED_RR => {
            let mut parameters = MaybeUninit::<libc::sched_param>::uninit();
            // SAFETY: the kernel writes the parameters that it is given.
            let get = || unsafe { libc::sched_getparam(CALLER, parameters.as_mut_ptr()) };
            if quietly(get).0 != 0 {
                return 0;
            }
            // SAFETY: the call has succeeded, so it has written them.
            unsafe { parameters.assume_init() }.sched_priority.unsigned_abs()
        }
        libc::SCHED_DEADLINE => BEFORE_ALL,
        _ => return 0,
    };
    SEEN.store(true, Ordering::Relaxed);
    priority
}
