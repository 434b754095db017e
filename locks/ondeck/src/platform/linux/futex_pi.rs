//! Futexes that inherit priorities: the kernel knows the owner, and lets it run with the highest
//! priority of the waiting threads.
//!
//! The word has the owner's number ([`tid`](super::tid)), 0 if there is none, and two bits of the
//! kernel: whether threads wait, and whether an owner ended with the lock. Always private.
//!
//! The call that Linux has had from the beginning has its deadlines on the wall clock. If that
//! clock is set forward, the call ends before the deadline, and is made again. If it is set back
//! during a call, the call ends late by the same time, and nothing can prevent that.

extern crate std;

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;

use super::{die, quietly, timed, unix};
use crate::platform::system::System;
use crate::platform::{Native, PiLock, PiUnlock, Timestamp};

/// As [`libc::FUTEX_LOCK_PI`], with a deadline on the monotonic clock: Linux 5.14.
const FUTEX_LOCK_PI2: i32 = 13;

/// How long an arriving thread rests while the lock passes from an owner that has ended to a
/// waiting thread.
const AGAIN: Duration = Duration::from_millis(1);

/// Waits for the lock, until the deadline at the latest.
pub(super) fn lock(word: &AtomicU32, deadline: Option<Timestamp>) -> PiLock {
    /// Whether the kernel is older than the call with the monotonic clock.
    static IS_OLD: AtomicBool = AtomicBool::new(false);
    loop {
        // Without a deadline both calls are the same, and one of them always exists.
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
        let owner = owner_of(word);
        let (result, errno) = timed::call(word, operation | libc::FUTEX_PRIVATE_FLAG, 0, until, 0);
        if result == 0 {
            // Acquire: the kernel's lock of the futex's bucket orders this after the unlock; this
            // load makes that known to the compiler.
            word.load(Ordering::Acquire);
            return PiLock::Owner;
        }
        let left = deadline.map(|deadline| deadline.since(Native::now()));
        let is_over = left.is_some_and(|left| left.is_zero());
        match errno {
            // An owner that is about to end, or a wait that was interrupted.
            libc::EAGAIN | libc::EINTR => {}
            libc::ETIMEDOUT if !is_over => {}
            libc::ETIMEDOUT => return PiLock::TimedOut,
            // An owner has ended: the kernel has chosen the next owner, which has yet to run and
            // store its number in the word. Until then the word and the kernel disagree, and the
            // kernel accepts no further waiter. The chosen thread may be of a lower priority, so
            // the calling thread leaves the CPU to it.
            libc::EINVAL if is_over => return PiLock::TimedOut,
            libc::EINVAL => {
                quietly(|| std::thread::sleep(left.map_or(AGAIN, |left| left.min(AGAIN))));
            }
            libc::EDEADLK => return PiLock::Circle,
            libc::ESRCH => return PiLock::OwnerEnded,
            // The number belongs to a thread of the kernel: an owner that has ended had it before.
            // Or the owner that the kernel saw has left since.
            // step: number of the kernel's
            libc::EPERM if owner != owner_of(word) => {}
            libc::EPERM if !is_of_process(owner) => return PiLock::OwnerEnded,
            libc::ENOSYS if operation == FUTEX_LOCK_PI2 => IS_OLD.store(true, Ordering::Relaxed),
            // EPERM: a filter refuses the call. ENOMEM: nothing can be done.
            unexpected => die("futex lock_pi", unexpected),
        }
    }
}

/// Unlocks: the kernel hands off the lock to the waiting thread of the highest priority.
pub(super) fn unlock(word: &AtomicU32) -> PiUnlock {
    // SAFETY: as in `lock`. The kernel does not touch the word after it has handed off the lock.
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

/// Returns the number of the owner.
fn owner_of(word: &AtomicU32) -> u32 {
    /// `FUTEX_TID_MASK`, which `libc` does not have for Android.
    const NUMBER: u32 = (1 << 30) - 1;
    word.load(Ordering::Relaxed) & NUMBER
}

/// Returns whether a thread of this process has the number.
fn is_of_process(number: u32) -> bool {
    const NO_SIGNAL: libc::c_int = 0;
    // SAFETY: it queries a thread, and sends no signal.
    let ask = || unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), number, NO_SIGNAL) };
    let (result, errno) = quietly(ask);
    result == 0 || errno != libc::ESRCH
}

/// Returns the time of the clock on which the older call has its deadlines.
fn real_time() -> Duration {
    Duration::from_nanos(unix::clock(libc::CLOCK_REALTIME).as_nanos())
}
