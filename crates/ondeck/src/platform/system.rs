//! What a lock needs of an operating system, apart from the CPU.

use core::ffi::CStr;
use core::sync::atomic::AtomicU32;

use super::{FutexWait, Timestamp};

/// What systems differ in. What is the same on all of them is in `native/`: the atomics, the parking table, the
/// tick counter, the rows of visible readers.
///
/// A system gives a wait on an address, a wake, and a clock. The rest has a default, which is right on every
/// system with threads and slower on some. It is implemented once, for [`Native`](super::Native), by the
/// module that `platform/mod.rs` chooses.
///
/// # Safety
///
/// The traits of [`Native`](super::Native) are implemented by this, and have the same requirements.
///
/// * [`futex_wake`](Self::futex_wake) never accesses memory at its address.
/// * After [`register_heavy_fence`](Self::register_heavy_fence) has said true, each
///   [`heavy_fence`](Self::heavy_fence) that says true made every running thread of the process execute a full
///   fence between its call and its return.
/// * What is given to [`wipe_in_children`](Self::wipe_in_children) is all zeros in the child of a fork before
///   that uses a lock.
/// * [`single_threaded`](Self::single_threaded) is as [`Platform`](super::Platform) wants it.
/// * No two threads that live have one [`thread_pointer`](Self::thread_pointer).
/// * Nothing unwinds.
pub(super) unsafe trait System {
    /// Whether the system may have a heavy fence. Without one a light fence is a full fence at compile time.
    const MAY_HAVE_HEAVY_FENCE: bool = false;

    /// See [`Platform::futex_wait`](super::Platform::futex_wait).
    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait;

    /// See [`Platform::futex_wake`](super::Platform::futex_wake).
    fn futex_wake(address: *const AtomicU32, count: u32) -> usize;

    /// See [`Platform::futex_requeue`](super::Platform::futex_requeue).
    ///
    /// Where no system call moves threads they are woken: a wait may end spuriously, so a thread that would
    /// be moved looks at its lock again, and waits there by itself.
    fn futex_requeue(
        from: &AtomicU32,
        expected: u32,
        wake: u32,
        _to: *const AtomicU32,
        move_: u32,
    ) -> Option<usize> {
        // Acquire, as the kernel's comparison is one with the wake.
        let holds = from.load(core::sync::atomic::Ordering::Acquire) == expected;
        holds.then(|| Self::futex_wake(from, wake.saturating_add(move_)))
    }

    /// See [`Platform::now`](super::Platform::now). The clock of deadlines.
    fn now() -> Timestamp;

    /// See [`Platform::yield_now`](super::Platform::yield_now).
    fn yield_now() {
        std::thread::yield_now();
    }

    /// Registers the process for heavy fences; whether the system has them. Called once or a few times.
    fn register_heavy_fence() -> bool {
        false
    }

    /// Makes a heavy fence; whether the system did.
    fn heavy_fence() -> bool {
        false
    }

    /// Sees to it that the child of a fork finds zeros in this memory: by `wipe`, which the child calls, or
    /// by other means. Nothing where processes do not fork.
    fn wipe_in_children(_memory: *mut u8, _size: usize, _wipe: extern "C" fn()) {}

    /// What a variable of the environment says. Called by the constructor of `native/environment.rs`, and so
    /// without allocating.
    #[allow(dead_code, reason = "WebAssembly runs no constructors")]
    fn with_variable(_name: &CStr, _use: impl FnOnce(&[u8])) {}

    /// See [`Platform::cpus`](super::Platform::cpus).
    fn cpus() -> usize {
        /// 0 while no thread has asked. Relaxed: all threads that write it write much the same.
        static CPUS: AtomicU32 = AtomicU32::new(0);
        match CPUS.load(core::sync::atomic::Ordering::Relaxed) {
            0 => {
                let cpus = std::thread::available_parallelism().map_or(1, usize::from);
                CPUS.store(cpus as u32, core::sync::atomic::Ordering::Relaxed);
                cpus
            }
            cpus => cpus as usize,
        }
    }

    /// See [`Threads::cpu`](super::Threads::cpu).
    #[inline]
    fn cpu() -> u32 {
        crate::machine::UNKNOWN_CPU
    }

    /// See [`Platform::node`](super::Platform::node).
    #[inline]
    fn node() -> usize {
        0
    }

    /// See [`Threads::cache`](super::Threads::cache).
    #[inline]
    fn cache() -> usize {
        Self::node()
    }

    /// See [`Platform::nodes`](super::Platform::nodes).
    #[inline]
    fn nodes() -> usize {
        1
    }

    /// See [`Platform::single_threaded`](super::Platform::single_threaded).
    #[inline(always)]
    fn single_threaded() -> bool {
        false
    }

    /// See [`Threads::priority`](super::Threads::priority).
    #[inline]
    fn priority() -> u32 {
        0
    }

    /// See [`Threads::has_real_time_threads`](super::Threads::has_real_time_threads).
    #[inline]
    fn has_real_time_threads() -> bool {
        false
    }

    /// The name of the calling thread while it lives: the address of something that is its own.
    ///
    /// Where the standard library allocates what is a thread's own, it frees that before the last destructors run, which
    /// may still own locks: there the system's own name is taken.
    #[inline]
    fn thread_pointer() -> core::num::NonZeroUsize {
        #[cfg(unix)]
        {
            // SAFETY: it has no precondition.
            let name = unsafe { libc::pthread_self() } as usize;
            core::num::NonZeroUsize::new(name).unwrap_or(core::num::NonZeroUsize::MAX)
        }
        #[cfg(not(unix))]
        {
            std::thread_local! {
                static PLACE: u8 = const { 0 };
            }
            PLACE
                .with(|place| core::num::NonZeroUsize::from(core::ptr::NonNull::from(place).addr()))
        }
    }
}

extern crate std;
