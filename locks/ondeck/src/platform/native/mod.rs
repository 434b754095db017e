//! The real machine: the parts that are the same on every system, over [`System`].
//!
//! Each file has one topic: the asymmetric fences, the tick counter, the parking table, the rows of
//! visible readers, each thread's words, the environment.

mod environment;
mod estimate;
mod fence;
mod readers;
mod sampling;
mod table;
pub(super) mod thread;
pub(super) mod ticks;

use core::sync::atomic;

use super::system::System;
use crate::machine::{
    Estimates, Fences, FutexWait, Ordering, Platform, Polling, Threads, Timestamp,
};
use crate::parking::{Bias, Bucket, Host, Row};

/// The machine and the system that this program runs on.
///
/// Atomics are the CPU's. The system provides waits, wakes, the clock of deadlines and the heavy
/// fence:
///
/// | system | wait | heavy fence |
/// |---|---|---|
/// | Linux, Android | futex(2), private | membarrier(2) |
/// | Windows | `WaitOnAddress` | `FlushProcessWriteBuffers`, on x86 |
/// | macOS, iOS and so on | `os_sync_wait_on_address`, else `__ulock_wait` | none: all fences are full ones |
/// | FreeBSD | _umtx_op(2) | membarrier(2), since 14.1 |
/// | others with threads | a table of the standard library's condition variables | none |
/// | WebAssembly without threads | none: the first wait that cannot end panics | none |
///
/// Ticks are the TSC (x86-64) or CNTVCT (aarch64) if they are invariant, else the clock of
/// deadlines; on 32 bits they are 64 ns long.
#[derive(Clone, Copy, Debug)]
pub struct Native;

// SAFETY: atomics and fences are the CPU's, by `core`. The rest is the system's, which guarantees
// the requirements.
unsafe impl Platform for Native {
    type AtomicU8 = atomic::AtomicU8;
    type AtomicU32 = atomic::AtomicU32;
    type AtomicUsize = atomic::AtomicUsize;
    type AtomicPtr<T: 'static> = atomic::AtomicPtr<T>;

    #[inline(always)]
    fn pause() {
        // `spin_loop` is PAUSE on x86-64 and ISB SY on aarch64. Rust replaced YIELD by ISB there
        // because YIELD is a no-op on cores without SMT (rust-lang/rust commit c064b6560b7c).
        core::hint::spin_loop();
    }

    passed_on! {
        #[inline(always)]
        fn fence(order: Ordering) = atomic::fence;
        fn yield_now() = <Self as System>::yield_now;
        #[inline]
        fn now() -> Timestamp = <Self as System>::now;
        #[inline(always)]
        fn ticks() -> u64 = ticks::read;
        fn ticks_per_second() -> u64 = ticks::per_second;
        fn futex_wait(word: &Self::AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait
            = <Self as System>::futex_wait;
        fn futex_wake(address: *const Self::AtomicU32, count: u32) -> usize
            = <Self as System>::futex_wake;
        fn futex_requeue(
            from: &Self::AtomicU32, expected: u32, wake: u32, to: *const Self::AtomicU32, move_: u32,
        ) -> Option<usize> = <Self as System>::futex_requeue;
        #[inline]
        fn ticks_in(nanos: u32) -> usize = ticks::in_nanos;
        #[inline(always)]
        fn single_threaded() -> bool = <Self as System>::single_threaded;
        fn cpus() -> usize = <Self as System>::cpus;
        #[inline]
        fn node() -> usize = <Self as System>::node;
    }
}

// SAFETY: the table is a static array with a place for each hash of an address, which the system
// fills with zeros in a child; see `table.rs`. Rows: see `readers.rs`.
unsafe impl Host for Native {
    passed_on! {
        #[inline(always)]
        fn unlock_mode(address: usize) -> &'static atomic::AtomicUsize = table::unlock_mode;
        #[inline]
        fn bucket(address: usize) -> &'static Bucket<Self> = table::bucket;
        #[inline(always)]
        fn row() -> Option<&'static Row<Self>> = readers::own;
        #[inline(always)]
        fn kept_row() -> Option<&'static Row<Self>> = readers::kept;
        fn rows() -> &'static [Row<Self>] = readers::all;
    }

    #[inline(always)]
    fn bias(address: usize) -> Option<&'static Bias<Self>> {
        Some(readers::bias(address))
    }
}

// SAFETY: see `fence.rs`.
unsafe impl Fences for Native {
    #[inline(always)]
    fn presumed_light_fence() {
        if Self::MAY_HAVE_HEAVY_FENCE {
            atomic::compiler_fence(Ordering::SeqCst);
        } else {
            atomic::fence(Ordering::SeqCst);
        }
    }

    passed_on! {
        #[inline(always)]
        fn light_fence() = fence::light;
        fn heavy_fence() = fence::heavy;
        fn fences_are_asymmetric() -> bool = fence::choose;
        #[inline]
        fn heavy_fences_are_refused() -> bool = fence::are_refused;
        #[inline]
        fn heavy_cost_ticks() -> usize = fence::cost;
        fn may_relax() -> bool = fence::may_relax;
    }
}

impl Estimates for Native {
    #[inline]
    fn note_wake(ticks: usize) {
        estimate::WAKE.note(ticks);
    }

    #[inline]
    fn wake_ticks() -> usize {
        estimate::WAKE.get()
    }

    #[inline]
    fn note_transfer(ticks: usize) {
        estimate::TRANSFER.note(ticks);
    }

    #[inline]
    fn transfer_ticks() -> usize {
        estimate::TRANSFER.get()
    }

    passed_on! {
        fn polling() -> Polling = Polling::current;
        #[inline]
        fn ticks_ordered() -> u64 = ticks::read_ordered;
    }
}

impl Threads for Native {
    #[inline]
    fn thread() -> usize {
        Self::thread_pointer().get()
    }

    passed_on! {
        #[inline]
        fn once_in(count: u32) -> bool = sampling::once_in;
        #[inline]
        fn cpu() -> u32 = <Self as System>::cpu;
        #[inline]
        fn cache() -> usize = <Self as System>::cache;
        fn priority() -> u32 = <Self as System>::priority;
        #[inline]
        fn has_real_time_threads() -> bool = <Self as System>::has_real_time_threads;
    }
}

impl Native {
    /// See [`prepare`](crate::prepare).
    pub(crate) fn prepare() {
        fence::choose();
        table::protect_once();
        ticks::per_second();
    }

    /// Returns the address that identifies the calling thread while it lives.
    #[inline(always)]
    pub(crate) fn thread_pointer() -> core::num::NonZeroUsize {
        <Self as System>::thread_pointer()
    }

    /// Returns whether [`Platform::ticks`] reads a hardware counter that runs at a constant rate,
    /// rather than the monotonic clock.
    pub fn ticks_are_hardware() -> bool {
        ticks::is_hardware()
    }

    /// Returns how many threads can make progress at the same time, at least 1. On Linux it is the
    /// size of the affinity mask, further limited by the CPU quota of the control group (v1 and
    /// v2).
    ///
    /// It reads files and allocates: use it to choose a number of threads, not on the path of a
    /// lock.
    pub fn parallelism() -> usize {
        extern crate std;
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}
