//! The real machine: Linux on x86-64 and aarch64.
//!
//! The only place of the lock crates that makes a system call. One file an idea: the futex, the
//! asymmetric fences, the tick clock, the CPUs, the environment.

mod cpus;
mod environment;
mod estimate;
mod fence;
mod futex;
mod priority;
mod sampling;
mod single;
mod table;
mod thread;
mod ticks;

pub use cpus::AffinityError;

use core::sync::atomic;

use crate::parking::Bucket;
use crate::spin::Polling;

use super::{FutexWait, Host, Ordering, Platform, Timestamp};

/// The machine this program runs on.
///
/// Atomics are the CPU's, waiting is the kernel's private futex, time is `CLOCK_MONOTONIC`, and
/// ticks are the TSC (x86-64) or CNTVCT (aarch64) where they are invariant.
#[derive(Clone, Copy, Debug)]
pub struct Linux;

// SAFETY: atomics and fences are the CPU's, by `core`; the pair of fences is argued in `fence.rs`,
// and what the kernel reads of a futex in `futex.rs`. The C library knows of every thread that could
// use a lock. Nothing here unwinds: what cannot be helped ends the process.
unsafe impl Platform for Linux {
    type AtomicU8 = atomic::AtomicU8;
    type AtomicU32 = atomic::AtomicU32;
    type AtomicUsize = atomic::AtomicUsize;
    type AtomicPtr<T: 'static> = atomic::AtomicPtr<T>;

    #[inline(always)]
    fn fence(order: Ordering) {
        atomic::fence(order);
    }

    #[inline(always)]
    fn light_fence() {
        fence::light();
    }

    fn heavy_fence() {
        fence::heavy();
    }

    #[inline(always)]
    fn pause() {
        // `spin_loop` is PAUSE on x86-64 and ISB SY on aarch64. Rust replaced YIELD by ISB there
        // because YIELD is a no-op on cores without SMT (rust-lang/rust commit c064b6560b7c).
        core::hint::spin_loop();
    }

    fn yield_now() {
        // SAFETY: sched_yield takes no arguments and cannot fail on Linux.
        unsafe { libc::sched_yield() };
    }

    #[inline]
    fn now() -> Timestamp {
        ticks::monotonic()
    }

    #[inline(always)]
    fn ticks() -> u64 {
        ticks::read()
    }

    fn ticks_per_second() -> u64 {
        ticks::per_second()
    }

    fn futex_wait(word: &Self::AtomicU32, expected: u32, deadline: Option<Timestamp>) -> FutexWait {
        futex::wait(word, expected, deadline)
    }

    fn futex_wake(address: *const Self::AtomicU32, count: u32) -> usize {
        futex::wake(address, count)
    }

    fn futex_requeue(
        from: &Self::AtomicU32,
        expected: u32,
        wake: u32,
        to: *const Self::AtomicU32,
        move_: u32,
    ) -> Option<usize> {
        futex::requeue(from, expected, wake, to, move_)
    }

    #[inline]
    fn ticks_in(nanos: u32) -> usize {
        ticks::in_nanos(nanos)
    }

    #[inline(always)]
    fn single_threaded() -> bool {
        single::has_one_thread()
    }

    fn cpus() -> usize {
        cpus::usable()
    }
}

// SAFETY: the table is a static array with a place for each hash of an address, which the kernel, or
// a handler, fills with zeros in a child; see `table.rs`. Fences: see `fence.rs`.
unsafe impl Host for Linux {
    #[inline(always)]
    fn unlock_mode(address: usize) -> &'static atomic::AtomicUsize {
        table::unlock_mode(address)
    }

    #[inline]
    fn bucket(address: usize) -> &'static Bucket<Self> {
        table::bucket(address)
    }

    fn polling() -> Polling {
        Polling::current()
    }

    fn fences_are_asymmetric() -> bool {
        fence::choose()
    }

    #[inline(always)]
    fn presumed_light_fence() {
        atomic::compiler_fence(Ordering::SeqCst);
    }

    #[inline]
    fn heavy_fences_are_refused() -> bool {
        fence::are_refused()
    }

    #[inline]
    fn heavy_cost_ticks() -> usize {
        fence::cost()
    }

    fn may_relax() -> bool {
        fence::may_relax()
    }

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

    #[inline]
    fn once_in(count: u32) -> bool {
        sampling::once_in(count)
    }

    #[inline]
    fn cpu() -> u32 {
        cpus::current()
    }

    #[inline]
    fn ticks_ordered() -> u64 {
        ticks::read_ordered()
    }

    fn priority() -> u32 {
        priority::of_caller()
    }

    #[cfg(feature = "profile")]
    #[inline]
    fn parks(address: usize) {
        ondeck_record::parks(address);
    }
}

impl Linux {
    /// See [`prepare`](crate::prepare).
    pub(crate) fn prepare() {
        fence::choose();
        table::protect_once();
        ticks::per_second();
    }

    /// The name of the calling thread while it lives: see `thread.rs`.
    #[inline(always)]
    pub(crate) fn thread_pointer() -> core::num::NonZeroUsize {
        thread::pointer()
    }

    /// Whether [`Platform::ticks`] reads a hardware counter that runs at a constant rate, rather
    /// than the monotonic clock.
    pub fn ticks_are_hardware() -> bool {
        ticks::is_hardware()
    }

    /// The CPUs that the calling thread may run on, ascending.
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

    /// How many threads can make progress at the same time: the affinity mask, cut further by the
    /// CPU quota of the control group (v1 and v2). At least 1.
    ///
    /// Reads files and allocates: for choosing a number of threads, not for the path of a lock.
    pub fn parallelism() -> usize {
        cpus::parallelism()
    }
}

extern crate std;

/// Ends the process with a message for a failure that only a bug can cause.
///
/// It neither allocates, locks nor unwinds, because it is called from the middle of a lock.
#[cold]
fn die(operation: &str, errno: i32) -> ! {
    const PARTS: u8 = 5;
    let mut digits = [0_u8; 11];
    let mut rest = errno.unsigned_abs();
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let parts: [&[u8]; PARTS as usize] =
        [b"ondeck: ", operation.as_bytes(), b" failed with errno ", &digits[start..], b"\n"];
    let parts = parts
        .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() });
    // In one call, because every thread may come here at once, and each line is to stay whole.
    // SAFETY: each pointer and length is of one live slice; writev(2) only reads them.
    unsafe { libc::writev(libc::STDERR_FILENO, parts.as_ptr(), PARTS.into()) };
    // SAFETY: abort has no preconditions.
    unsafe { libc::abort() }
}

/// What a call of the C library returns, and the errno that it leaves if it fails. The calling thread's errno
/// stays as it was: a program that locks between a call of its own and a look at its errno must not find
/// another.
fn quietly<T>(call: impl FnOnce() -> T) -> (T, i32) {
    // SAFETY: the C library returns a pointer to this thread's own errno, valid while it lives.
    let errno = unsafe { &mut *libc::__errno_location() };
    let before = *errno;
    let result = call();
    // SAFETY: as above; asked again, because the call has written there, too.
    let errno = unsafe { &mut *libc::__errno_location() };
    (result, core::mem::replace(errno, before))
}
