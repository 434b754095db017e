//! Linux and Android: futex(2), membarrier(2), and services that no other system has.
//!
//! The only place in the lock crates that makes Linux's system calls. Each file has one topic: the
//! futex, the CPUs, the NUMA nodes, priorities, time slices, the locks with owners that the kernel
//! knows.

#[cfg(target_arch = "x86_64")]
mod caches;
mod cpus;
mod futex;
mod futex_pi;
mod membarrier;
mod numa;
mod priority;
#[cfg(target_pointer_width = "64")]
mod robust;
mod single;
mod thread;
mod tid;
mod timed;

pub use cpus::AffinityError;
#[cfg(target_pointer_width = "64")]
pub(crate) use robust::{Links, RobustList};

use core::ffi::CStr;
use core::sync::atomic;

use super::system::System;
use super::unix::{self, die, quietly};
use super::{FutexWait, Native, PiFutex, PiLock, PiUnlock, Timestamp};

// SAFETY: `futex.rs` argues which memory of a futex the kernel reads, and `native/fence.rs` which
// accesses membarrier orders. The C library knows of every thread that could use a lock. Nothing
// here unwinds: failures without a remedy end the process.
unsafe impl System for Native {
    const MAY_HAVE_HEAVY_FENCE: bool = true;

    #[inline(always)]
    fn futex_wait(
        word: &atomic::AtomicU32,
        expected: u32,
        deadline: Option<Timestamp>,
    ) -> FutexWait {
        futex::wait(word, expected, deadline, futex::Scope::Process)
    }

    #[inline(always)]
    fn futex_wake(address: *const atomic::AtomicU32, count: u32) -> usize {
        futex::wake(address, count, futex::Scope::Process)
    }

    #[inline]
    fn now() -> Timestamp {
        unix::clock(libc::CLOCK_MONOTONIC)
    }

    #[inline(always)]
    fn yield_now() {
        // Not the C library's function, which the preloaded library replaces in order to record the
        // program's calls. SAFETY: sched_yield(2) takes no arguments.
        unsafe { libc::syscall(libc::SYS_sched_yield) };
    }

    fn wipe_in_children(memory: *mut u8, size: usize, wipe: extern "C" fn()) {
        // SAFETY: the range is whole pages that belong to the caller alone; the advice changes
        // nothing in this process.
        let advise = || unsafe { libc::madvise(memory.cast(), size, libc::MADV_WIPEONFORK) };
        let refused = quietly(advise).0 != 0;
        if refused {
            unix::in_children(wipe);
        }
    }

    fn with_variable(name: &CStr, use_it: impl FnOnce(&[u8])) {
        unix::with_variable(name, use_it);
    }

    passed_on! {
        #[inline(always)]
        fn futex_requeue(
            from: &atomic::AtomicU32, expected: u32, wake: u32, to: *const atomic::AtomicU32, move_: u32,
        ) -> Option<usize> = futex::requeue;
        fn register_heavy_fence() -> bool = membarrier::register;
        fn heavy_fence() -> bool = membarrier::fence;
        #[inline(always)]
        fn cpus() -> usize = cpus::usable;
        #[inline(always)]
        fn cpu() -> u32 = cpus::current;
        #[inline(always)]
        fn node() -> usize = numa::node;
        #[cfg(target_arch = "x86_64")]
        #[inline(always)]
        fn cache() -> usize = caches::cache;
        #[inline(always)]
        fn single_threaded() -> bool = single::has_one_thread;
        #[inline(always)]
        fn priority() -> u32 = priority::of_caller;
        #[inline(always)]
        fn has_real_time_threads() -> bool = priority::has_real_time_threads;
        #[inline(always)]
        fn thread_pointer() -> core::num::NonZeroUsize = thread::pointer;
    }
}

// SAFETY: the kernel's own numbers and calls. Its lock of the futex's bucket orders a handoff, and
// `futex_pi.rs` makes that known to the compiler.
unsafe impl PiFutex for Native {
    passed_on! {
        #[inline]
        fn thread_id() -> u32 = tid::of_caller;
        fn futex_lock_pi(word: &Self::AtomicU32, deadline: Option<Timestamp>) -> PiLock
            = futex_pi::lock;
        fn futex_unlock_pi(word: &Self::AtomicU32) -> PiUnlock = futex_pi::unlock;
    }
}

/// Calls on memory that several processes share, for [`ipc`](crate::ipc).
#[cfg(target_pointer_width = "64")]
impl Native {
    /// As [`Platform::futex_wait`], for a word that several processes share.
    pub(crate) fn shared_futex_wait(
        word: &atomic::AtomicU32,
        expected: u32,
        deadline: Option<Timestamp>,
    ) -> FutexWait {
        futex::wait(word, expected, deadline, futex::Scope::Shared)
    }

    /// As [`Platform::futex_wake`], for a word that several processes share.
    pub(crate) fn shared_futex_wake(address: *const atomic::AtomicU32, count: u32) -> usize {
        futex::wake(address, count, futex::Scope::Shared)
    }

    /// Clears a bit of a word that several processes share, and wakes all threads that sleep on it,
    /// in one step. Returns the number of threads woken, or `None` if the kernel refuses. A thread
    /// that begins to sleep does so before that step or after it. The word has another bit that is
    /// set.
    pub(crate) fn shared_futex_clear_and_wake_all(
        word: &atomic::AtomicU32,
        bit: u32,
    ) -> Option<usize> {
        futex::clear_and_wake_all(word, bit)
    }
}

impl Native {
    /// Returns the kernel's number of the calling thread: see `tid.rs`.
    #[inline]
    pub(crate) fn tid() -> u32 {
        tid::of_caller()
    }

    /// Returns the CPUs that the calling thread may run on, ascending.
    pub fn affinity() -> std::vec::Vec<usize> {
        cpus::mask()
    }

    /// Restricts the calling thread to the given CPUs.
    ///
    /// # Errors
    ///
    /// [`AffinityError`] if a CPU number is out of the kernel's range or the kernel refuses: no
    /// CPU of the list is online and allowed to this process.
    pub fn set_affinity(cpus: &[usize]) -> Result<(), AffinityError> {
        cpus::set_mask(cpus)
    }
}

extern crate std;
