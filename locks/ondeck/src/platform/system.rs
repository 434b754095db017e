//! The services that a lock needs of an operating system, apart from the CPU.

use core::ffi::CStr;
use core::sync::atomic::AtomicU32;

use super::{FutexWait, Timestamp};

/// The parts in which systems differ. The parts that all of them share are in `native/`: the
/// atomics, the parking table, the tick counter, the rows of visible readers.
///
/// A system provides a wait on an address, a wake, and a clock. The rest has a default, which is
/// right on every system with threads and slower on some. The module that `platform/mod.rs` selects
/// implements this once, for [`Native`](super::Native).
///
/// # Safety
///
/// [`Native`](super::Native) implements its traits by this one, so this trait has the same
/// requirements.
///
/// * [`futex_wake`](Self::futex_wake) never accesses memory at its address.
/// * After [`register_heavy_fence`](Self::register_heavy_fence) has returned true, each
///   [`heavy_fence`](Self::heavy_fence) that returns true made every running thread of the process
///   execute a full fence between its call and its return.
/// * The memory that is given to [`wipe_in_children`](Self::wipe_in_children) is all zeros in the
///   child of a fork before the child uses a lock.
/// * [`single_threaded`](Self::single_threaded) is as [`Platform`](super::Platform) requires.
/// * No two live threads have the same [`thread_pointer`](Self::thread_pointer).
/// * Nothing unwinds.
pub(super) unsafe trait System {
    /// Whether the system may have a heavy fence. Without one a light fence is a full fence at
    /// compile time.
    const MAY_HAVE_HEAVY_FENCE: bool = false;

    /// See [`Platform::futex_wait`](super::Platform::futex_wait).
    fn futex_wait(word: &AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait;

    /// See [`Platform::futex_wake`](super::Platform::futex_wake).
    fn futex_wake(address: *const AtomicU32, count: u32) -> usize;

    /// See [`Platform::futex_requeue`](super::Platform::futex_requeue).
    ///
    /// If no system call moves threads, they are woken: a wait may end spuriously, so a thread that
    /// would be moved checks its lock again, and waits there on its own.
    fn futex_requeue(
        from: &AtomicU32,
        expected: u32,
        wake: u32,
        _to: *const AtomicU32,
        move_: u32,
    ) -> Option<usize> {
        // Acquire, because the kernel's comparison is one step with the wake.
        let holds = from.load(core::sync::atomic::Ordering::Acquire) == expected;
        holds.then(|| Self::futex_wake(from, wake.saturating_add(move_)))
    }

    /// See [`Platform::now`](super::Platform::now). The clock of deadlines.
    fn now() -> Timestamp;

    /// See [`Platform::yield_now`](super::Platform::yield_now).
    fn yield_now() {
        std::thread::yield_now();
    }

    /// Registers the process for heavy fences. Returns whether the system has them. Called once or
    /// a few times.
    fn register_heavy_fence() -> bool {
        false
    }

    /// Makes a heavy fence. Returns whether the system did.
    fn heavy_fence() -> bool {
        false
    }

    /// Ensures that the child of a fork finds zeros in this memory: by `wipe`, which the child
    /// calls, or by other means. Does nothing where processes do not fork.
    fn wipe_in_children(_memory: *mut u8, _size: usize, _wipe: extern "C" fn()) {}

    /// Passes the value of an environment variable to a closure. The constructor of
    /// `native/environment.rs` calls it, so it must not allocate.
    #[allow(dead_code, reason = "WebAssembly runs no constructors")]
    fn with_variable(_name: &CStr, _use: impl FnOnce(&[u8])) {}

    /// See [`Platform::cpus`](super::Platform::cpus).
    fn cpus() -> usize {
        /// 0 while no thread has asked. Relaxed: all threads that write it write nearly the same
        /// value.
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

    /// Returns the address of an object of the calling thread, which identifies it while it lives.
    ///
    /// Where the standard library allocates a thread's values, it frees them before the last
    /// destructors run, which may still own locks. There the system's identifier is used.
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
