//! futex(2): sleeping on a word and waking by address.
//!
//! Private (`FUTEX_PRIVATE_FLAG`), except for memory that several processes share: the kernel then
//! compares addresses of one process and never touches the word's page on a wake, so a wake for
//! memory that is gone is harmless. That holds even if the memory is used again for a futex of
//! another kind: see [`wake`]. Deadlines are absolute, which only `FUTEX_WAIT_BITSET` offers;
//! `FUTEX_WAIT` would begin its timeout anew after every interruption.

#[cfg(target_pointer_width = "64")]
use core::ptr;
use core::sync::atomic::AtomicU32;
use core::time::Duration;

use super::{die, quietly, timed};
use crate::platform::{FutexWait, Timestamp};

/// `FUTEX_BITSET_MATCH_ANY`: any wake may end this wait.
const MATCH_ANY: u32 = u32::MAX;

/// The threads that a futex is for.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    /// The threads of this process: the kernel compares addresses.
    Process,
    /// The threads of all processes that have mapped the memory: the kernel looks up the mapping.
    #[cfg(target_pointer_width = "64")]
    Shared,
}

impl Scope {
    fn flag(self) -> i32 {
        match self {
            Self::Process => libc::FUTEX_PRIVATE_FLAG,
            #[cfg(target_pointer_width = "64")]
            Self::Shared => 0,
        }
    }
}

/// See [`Platform::futex_wait`](crate::platform::Platform::futex_wait).
pub(super) fn wait(
    word: &AtomicU32,
    expected: u32,
    deadline: Option<Timestamp>,
    scope: Scope,
) -> FutexWait {
    let until = deadline.map(|deadline| Duration::from_nanos(deadline.as_nanos()));
    let operation = libc::FUTEX_WAIT_BITSET | scope.flag();
    let (result, errno) = timed::call(word, operation, expected, until, MATCH_ANY);
    if result == 0 {
        return FutexWait::Woken;
    }
    match errno {
        libc::EAGAIN => FutexWait::Mismatch,
        libc::EINTR => FutexWait::Interrupted,
        libc::ETIMEDOUT => FutexWait::TimedOut,
        // EFAULT or EINVAL: not one of our words; ENOSYS: not Linux.
        unexpected => die("futex wait", unexpected),
    }
}

/// See [`Platform::futex_wake`](crate::platform::Platform::futex_wake).
pub(super) fn wake(address: *const AtomicU32, count: u32, scope: Scope) -> usize {
    if count == 0 {
        // The kernel wakes one thread even then.
        return 0;
    }
    // SAFETY: the kernel uses the address of a private futex only as a key, and reads no memory.
    // For a shared futex it looks up the mapping at the address, if there is one.
    let (result, errno) = quietly(|| unsafe {
        libc::syscall(
            libc::SYS_futex,
            address,
            libc::FUTEX_WAKE | scope.flag(),
            kernel_count(count),
        )
    });
    if let Ok(woken) = usize::try_from(result) {
        return woken;
    }
    match errno {
        // The address no longer belongs to the caller: threads that sleep there now use a futex of
        // a kind that a plain wake must not touch, one that inherits priorities (`EINVAL`), or no
        // thread can sleep there (`EFAULT`). No thread that the caller means is among them, because
        // it would keep its word in place until it has left. So there was none to wake.
        libc::EINVAL | libc::EFAULT => 0,
        // A filter, or not Linux: a thread may sleep there, and would sleep for ever.
        unexpected => die("futex wake", unexpected),
    }
}

#[cfg(target_pointer_width = "64")]
/// See [`Native::shared_futex_clear_and_wake_all`](super::Native::shared_futex_clear_and_wake_all).
pub(super) fn clear_and_wake_all(word: &AtomicU32, bit: u32) -> Option<usize> {
    // `FUTEX_OP(FUTEX_OP_ANDN | FUTEX_OP_OPARG_SHIFT, shift, FUTEX_OP_CMP_EQ, 0)` of
    // `linux/futex.h`.
    const ANDN_OF_SHIFTED: u32 = (3 | 8) << 28;
    // The second wake is for a word that was 0; this word was not 0.
    let change = ANDN_OF_SHIFTED | bit.trailing_zeros() << 12;
    // SAFETY: `word` is a live aligned word, which the kernel changes atomically. The fourth
    // argument is a count, as in `requeue`.
    let (result, _) = quietly(|| unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE_OP,
            i32::MAX,
            ptr::null::<libc::timespec>(),
            word.as_ptr(),
            change,
        )
    });
    usize::try_from(result).ok()
}

/// See [`Platform::futex_requeue`](crate::platform::Platform::futex_requeue).
pub(super) fn requeue(
    from: &AtomicU32,
    expected: u32,
    wake: u32,
    to: *const AtomicU32,
    move_: u32,
) -> Option<usize> {
    // SAFETY: `from` is a live aligned word that the kernel reads; `to` is only a key, as in
    // `wake`. The fourth argument is a count here, where other operations take a timeout: widening
    // it to a register keeps its high half zero.
    let (result, errno) = quietly(|| unsafe {
        libc::syscall(
            libc::SYS_futex,
            from.as_ptr(),
            libc::FUTEX_CMP_REQUEUE | libc::FUTEX_PRIVATE_FLAG,
            kernel_count(wake),
            libc::c_ulong::from(kernel_count(move_).unsigned_abs()),
            to,
            expected,
        )
    });
    if let Ok(affected) = usize::try_from(result) {
        return Some(affected);
    }
    match errno {
        libc::EAGAIN => None,
        unexpected => die("futex requeue", unexpected),
    }
}

/// The kernel counts in `int`: more than `i32::MAX` threads means all of them.
fn kernel_count(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
