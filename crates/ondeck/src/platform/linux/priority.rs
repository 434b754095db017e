//! The scheduling class of the calling thread, as far as a lock has to know it.
//!
//! A real-time thread runs before all ordinary ones, so a lock wakes it before them, as the kernel's
//! futex does, and hands no lock to another while it is parked.

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
    // The calls themselves, because musl's functions of these names always fail.
    // SAFETY: takes a number and returns one.
    let (class, _) = quietly(|| unsafe { libc::syscall(libc::SYS_sched_getscheduler, CALLER) });
    if class < 0 {
        return 0;
    }
    let priority = match class as libc::c_int & !RESET_ON_FORK {
        libc::SCHED_FIFO | libc::SCHED_RR => {
            let mut priority: libc::c_int = 0;
            // SAFETY: the kernel's parameters are one integer, which outlives the call.
            let get =
                || unsafe { libc::syscall(libc::SYS_sched_getparam, CALLER, &raw mut priority) };
            if quietly(get).0 != 0 {
                return 0;
            }
            priority.unsigned_abs()
        }
        libc::SCHED_DEADLINE => BEFORE_ALL,
        _ => return 0,
    };
    SEEN.store(true, Ordering::Relaxed);
    priority
}
