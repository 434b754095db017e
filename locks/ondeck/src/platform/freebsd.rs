//! FreeBSD: _umtx_op(2), private, with absolute deadlines; membarrier(2) since FreeBSD 14.1.
//!
//! `UMTX_OP_WAIT_UINT_PRIVATE` compares the word and begins to sleep in one step.
//! `UMTX_OP_WAKE_PRIVATE` uses the address as a name, together with the process's map; it does not
//! report how many threads it woke.
//!
//! membarrier(2) is "source-compatible with the Linux implementation" (its page in section 2 of the
//! manual): the private expedited command makes each running thread of the process execute a fence.
//! The function is looked up by its name, because an older kernel would end a process that makes
//! the bare system call.

use core::ffi::{CStr, c_int, c_uint, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::system::System;
use super::unix::{self, die, quietly};
use super::{FutexWait, Native, Timestamp};

const NANOS_PER_SECOND: u64 = 1_000_000_000;

// SAFETY: see the top. The page of the word is live while a thread waits, and a wake does not read
// it.
unsafe impl System for Native {
    const MAY_HAVE_HEAVY_FENCE: bool = true;

    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        let mut time = deadline.map(|deadline| {
            let nanos = deadline.as_nanos();
            libc::_umtx_time {
                _timeout: libc::timespec {
                    tv_sec: libc::time_t::try_from(nanos / NANOS_PER_SECOND)
                        .unwrap_or(libc::time_t::MAX),
                    // Less than a second, so it fits 32 bits.
                    tv_nsec: ((nanos % NANOS_PER_SECOND) as i32).into(),
                },
                _flags: libc::UMTX_ABSTIME,
                _clockid: libc::CLOCK_MONOTONIC as u32,
            }
        });
        let (size, until) = time.as_mut().map_or((0, ptr::null_mut()), |time| {
            (size_of_val(time), ptr::from_mut(time).cast::<c_void>())
        });
        // SAFETY: a live aligned word, which the kernel reads, and null or a time that outlives the
        // call.
        let (result, errno) = quietly(|| unsafe {
            libc::_umtx_op(
                word.as_ptr().cast(),
                libc::UMTX_OP_WAIT_UINT_PRIVATE,
                expected.into(),
                ptr::without_provenance_mut(size),
                until,
            )
        });
        match (result, errno) {
            (0, _) => FutexWait::Woken,
            (_, libc::EINTR) => FutexWait::Interrupted,
            (_, libc::ETIMEDOUT) => FutexWait::TimedOut,
            (_, unexpected) => die("_umtx_op wait", unexpected),
        }
    }

    fn futex_wake(address: *const AtomicU32, count: u32) -> usize {
        if count > 0 {
            let most = i32::try_from(count).unwrap_or(i32::MAX).unsigned_abs();
            // SAFETY: the address is a name, which is not read.
            quietly(|| unsafe {
                libc::_umtx_op(
                    address.cast_mut().cast(),
                    libc::UMTX_OP_WAKE_PRIVATE,
                    most.into(),
                    ptr::null_mut(),
                    ptr::null_mut(),
                )
            });
        }
        0
    }

    fn now() -> Timestamp {
        unix::clock(libc::CLOCK_MONOTONIC)
    }

    fn register_heavy_fence() -> bool {
        const REGISTER_PRIVATE_EXPEDITED: c_int = 1 << 4;
        let name = c"membarrier".as_ptr();
        // SAFETY: the name ends with a zero byte. The C library is never unloaded.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name) };
        MEMBARRIER.store(found, Ordering::Relaxed);
        call(REGISTER_PRIVATE_EXPEDITED)
    }

    fn heavy_fence() -> bool {
        const PRIVATE_EXPEDITED: c_int = 1 << 3;
        // The kernel reads which CPUs run the process before it makes its own fence: with this
        // fence, the caller's stores are already visible to a thread that is switched in after
        // that.
        core::sync::atomic::fence(Ordering::SeqCst);
        call(PRIVATE_EXPEDITED)
    }

    fn wipe_in_children(_: *mut u8, _: usize, wipe: extern "C" fn()) {
        unix::in_children(wipe);
    }

    fn with_variable(name: &CStr, use_it: impl FnOnce(&[u8])) {
        unix::with_variable(name, use_it);
    }
}

/// The C library's function, or null. Relaxed: all threads that write it write the same value, and
/// the code is there before any thread is.
static MEMBARRIER: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

fn call(command: c_int) -> bool {
    type Membarrier = unsafe extern "C" fn(c_int, c_uint, c_int) -> c_int;
    let function = MEMBARRIER.load(Ordering::Relaxed);
    // SAFETY: null, or a function of this type (membarrier(2)); `Option` of a function has null for
    // `None`.
    let function = unsafe { core::mem::transmute::<*mut c_void, Option<Membarrier>>(function) };
    // SAFETY: takes a command, flags and a CPU, all integers, and touches no memory.
    function.is_some_and(|function| quietly(|| unsafe { function(command, 0, 0) }).0 == 0)
}
