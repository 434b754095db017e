//! Futexes that inherit priorities: the kernel knows the owner, and lets it run with the highest priority
//! of the threads that wait.
//!
//! The word has the owner's number ([`tid`](super::tid)), 0 if there is none, and two bits of the
//! kernel's: whether threads wait, and whether an owner ended with the lock. Always private.

use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;

use super::{die, quietly, ticks};
use crate::platform::Timestamp;

/// As [`libc::FUTEX_LOCK_PI`], with a deadline on the monotonic clock: Linux 5.14.
const FUTEX_LOCK_PI2: i32 = 13;

/// What a lock came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PiLock {
    /// The calling thread is the owner.
    Owner,
    /// The owner ended with the lock, and no thread waited then: the word still has its number.
    OwnerEnded,
    /// The calling thread is the owner already.
    Recursive,
    /// The deadline passed.
    TimedOut,
}

/// What an unlock came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PiUnlock {
    /// The lock is free, or another thread's.
    Done,
    /// The word does not have the calling thread's number.
    NotOwner,
}

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
        let timespec = deadline.map(|deadline| {
            if operation == FUTEX_LOCK_PI2 {
                timespec(Duration::from_nanos(deadline.as_nanos()))
            } else {
                timespec(real_time().saturating_add(deadline.since(ticks::monotonic())))
            }
        });
        let timeout = timespec.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: `word` is live while the call runs, and the kernel writes it as an atomic; `timeout` is null
        // or points to `timespec`.
        let call = || unsafe {
            let operation = operation | libc::FUTEX_PRIVATE_FLAG;
            libc::syscall(libc::SYS_futex, word.as_ptr(), operation, 0, timeout)
        };
        let (result, errno) = quietly(call);
        if result == 0 {
            return PiLock::Owner;
        }
        match errno {
            // An owner that is about to end, or a wait that was interrupted.
            libc::EAGAIN | libc::EINTR => {}
            libc::ETIMEDOUT => return PiLock::TimedOut,
            libc::EDEADLK => return PiLock::Recursive,
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
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to a live value; the clock is always there.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME, &raw mut now) };
    Duration::new(now.tv_sec.cast_unsigned(), now.tv_nsec as u32)
}

fn timespec(time: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}
