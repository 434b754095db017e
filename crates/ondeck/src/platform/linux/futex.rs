//! futex(2): sleeping on a word and waking by address.
//!
//! Private (`FUTEX_PRIVATE_FLAG`), but for memory that several processes share: the kernel then compares addresses of one process and
//! never touches the word's page on a wake, so a wake for memory that is gone is harmless. Not even
//! if that memory is used again for a futex of another kind: see [`wake`].
//! Deadlines are absolute, which only `FUTEX_WAIT_BITSET` offers; `FUTEX_WAIT` would count anew
//! after every interruption.

use core::ptr;
use core::sync::atomic::AtomicU32;

use super::{die, quietly};
use crate::platform::{FutexWait, Timestamp};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// Which threads a futex is for.
#[derive(Clone, Copy)]
pub(super) enum Scope {
    /// Those of this process: the kernel compares addresses.
    Process,
    /// Those of all processes that have mapped the memory: the kernel looks up what is mapped.
    Shared,
}

impl Scope {
    fn flag(self) -> i32 {
        match self {
            Self::Process => libc::FUTEX_PRIVATE_FLAG,
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
    let timespec = deadline.map(|deadline| {
        let nanos = deadline.as_nanos();
        libc::timespec {
            tv_sec: (nanos / NANOS_PER_SECOND).cast_signed(),
            tv_nsec: (nanos % NANOS_PER_SECOND).cast_signed(),
        }
    });
    let timeout = timespec.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: `word` is a live aligned 32-bit word; `timeout` is null or points to `timespec`,
    // which outlives the call; the kernel only reads both.
    let (result, errno) = quietly(|| unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT_BITSET | scope.flag(),
            expected,
            timeout,
            ptr::null::<u32>(),
            libc::FUTEX_BITSET_MATCH_ANY,
        )
    });
    if result == 0 {
        return FutexWait::Woken;
    }
    match errno {
        libc::EAGAIN => FutexWait::Mismatch,
        libc::EINTR => FutexWait::Interrupted,
        libc::ETIMEDOUT => FutexWait::TimedOut,
        // EFAULT or EINVAL: not a word of ours; ENOSYS: not Linux.
        unexpected => die("futex wait", unexpected),
    }
}

/// See [`Platform::futex_wake`](crate::platform::Platform::futex_wake).
pub(super) fn wake(address: *const AtomicU32, count: u32, scope: Scope) -> usize {
    if count == 0 {
        // The kernel wakes one even then.
        return 0;
    }
    // SAFETY: the kernel uses the address of a private futex only as a key and reads no memory; of a shared
    // one it looks up what is mapped there, if anything is.
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
        // The address is not the caller's any more: what sleeps there now is of a kind that a plain
        // wake must not touch, a futex that inherits priorities (`EINVAL`), or nothing can
        // (`EFAULT`). No thread that the caller means is among them, since it would keep its word in
        // place until it has left. So there was none to wake.
        libc::EINVAL | libc::EFAULT => 0,
        // A filter, or no Linux: a thread may sleep there, and would sleep for ever.
        unexpected => die("futex wake", unexpected),
    }
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
    // `wake`. The fourth argument is a count here, in the place where other operations take a
    // timeout: widening it to a register keeps its high half zero.
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
