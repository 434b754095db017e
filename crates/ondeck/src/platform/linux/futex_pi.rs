//! Futexes that inherit priorities: the kernel knows the owner, and lets it run with the highest priority
//! of the threads that wait.
//!
//! The word has the owner's number ([`tid`](super::tid)), 0 if there is none, and two bits of the
//! kernel's: whether threads wait, and whether an owner ended with the lock. Always private.

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;

use super::{die, quietly, timed, unix};
use crate::platform::system::System;
use crate::platform::{Native, PiLock, PiUnlock, Timestamp};

/// As [`libc::FUTEX_LOCK_PI`], with a deadline on the monotonic clock: Linux 5.14.
const FUTEX_LOCK_PI2: i32 = 13;

/// Waits for the lock, until the deadline at most.
pub(super) fn lock(word: &AtomicU32, deadline: Option<Timestamp>) -> PiLock {
    /// Whether the kernel is older than the call with the monotonic clock.
    static IS_OLD: AtomicBool = AtomicBool::new(false);
    loop {
        // Without a deadline both calls are the same, and one of them is always there.
        let operation = if deadline.is_none() || IS_OLD.load(Ordering::Relaxed) {
            libc::FUTEX_LOCK_PI
        } else {
            FUTEX_LOCK_PI2
        };
        let until = deadline.map(|deadline| {
            if operation == FUTEX_LOCK_PI2 {
                Duration::from_nanos(deadline.as_nanos())
            } else {
                real_time().saturating_add(deadline.since(Native::now()))
            }
        });
        let (result, errno) = timed::call(word, operation | libc::FUTEX_PRIVATE_FLAG, 0, until, 0);
        if result == 0 {
            // Acquire: the kernel's lock of the futex's bucket orders this after the unlock; this says so to
            // the compiler.
            word.load(Ordering::Acquire);
            return PiLock::Owner;
        }
        match errno {
            // An owner that is about to end, or a wait that was interrupted.
            libc::EAGAIN | libc::EINTR => {}
            libc::ETIMEDOUT => return PiLock::TimedOut,
            libc::EDEADLK => return PiLock::Circle,
            libc::ESRCH => return PiLock::OwnerEnded,
            libc::ENOSYS if operation == FUTEX_LOCK_PI2 => IS_OLD.store(true, Ordering::Relaxed),
            // EINVAL or EPERM: the word is no thread's of this process. ENOMEM: nothing can be done.
            unexpected => die("futex lock_pi", unexpected),
        }
    }
}

/// Unlocks: the kernel gives the lock to the waiting thread of the highest priority.
pub(super) fn unlock(word: &AtomicU32) -> PiUnlock {
    // SAFETY: as in `lock`. The kernel does not touch the word after it has given the lock away.
    let call = || unsafe {
        let operation = libc::FUTEX_UNLOCK_PI | libc::FUTEX_PRIVATE_FLAG;
        libc::syscall(libc::SYS_futex, word.as_ptr(), operation)
    };
    match quietly(call) {
        (0, _) => PiUnlock::Done,
        (_, libc::EPERM) => PiUnlock::NotOwner,
        (_, unexpected) => die("futex unlock_pi", unexpected),
    }
}

/// The time of the clock that the older call has its deadlines on.
fn real_time() -> Duration {
    Duration::from_nanos(unix::clock(libc::CLOCK_REALTIME).as_nanos())
}
