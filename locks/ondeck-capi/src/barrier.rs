//! The C functions of `ondeck_barrier_t`, each a wrapper of [`Raw`].

use core::cell::UnsafeCell;
use core::ffi::{c_int, c_uint};

use ondeck::Barrier as Raw;
use ondeck::barrier::BarrierWaitResult;

use crate::deadline::acquire;

/// What a wait returns in the one thread of each round that arrives last.
pub const ONDECK_BARRIER_LAST: c_int = -1;

/// A place where threads wait for each other, round after round: eight bytes. Its initial value is
/// `ONDECK_BARRIER_INIT(threads)`; with 0 or 1 no thread waits. It may be freed as soon as one wait
/// of its last round has returned. It must not be shared between processes.
#[repr(C)]
pub struct Barrier {
    /// Private to the functions of this header.
    pub arrived: UnsafeCell<u32>,
    /// Private to the functions of this header.
    pub total: UnsafeCell<u32>,
}

const _: () = assert!(size_of::<Barrier>() == size_of::<Raw>());
const _: () = assert!(align_of::<Barrier>() == align_of::<Raw>());

/// Converts C's pointer to the barrier.
///
/// # Safety
///
/// `barrier` points to a barrier that outlives the use of the borrow.
unsafe fn raw<'a>(barrier: *const Barrier) -> &'a Raw {
    // SAFETY: both types are two words, in this order (`repr(C)`), that are only accessed
    // atomically. The caller promises that it is alive.
    unsafe { &*barrier.cast() }
}

fn result(met: BarrierWaitResult) -> c_int {
    if met.is_leader() { ONDECK_BARRIER_LAST } else { 0 }
}

/// Initializes a barrier, regardless of the previous contents.
///
/// # Safety
///
/// `barrier` points to memory for a barrier, which no thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_barrier_init(barrier: *mut Barrier, threads: c_uint) {
    let [arrived, total] = [UnsafeCell::new(0), UnsafeCell::new(threads)];
    // SAFETY: as the caller promises.
    unsafe { barrier.write(Barrier { arrived, total }) };
}

/// Waits until all threads of the round have arrived. Returns `ONDECK_BARRIER_LAST` in the thread
/// that arrived last, 0 in the others. Everything before the waits of a round happens before they
/// return.
///
/// # Safety
///
/// `barrier` points to a barrier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_barrier_wait(barrier: *mut Barrier) -> c_int {
    // SAFETY: as the caller promises.
    result(unsafe { raw(barrier) }.wait())
}

/// As `ondeck_barrier_wait`, until a deadline as that of `ondeck_mutex_clocklock`. It may also
/// return ETIMEDOUT, in which case the thread counts as not having arrived, or EINVAL.
///
/// # Safety
///
/// `barrier` points to a barrier, `deadline` to a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_barrier_clockwait(
    barrier: *mut Barrier,
    clock: c_int,
    deadline: *const libc::timespec,
) -> c_int {
    // SAFETY: as the caller promises.
    let barrier = unsafe { raw(barrier) };
    let mut met = None;
    let until = |time| {
        met = barrier.wait_by(time);
        met.is_some()
    };
    // SAFETY: as the caller promises.
    let error = unsafe { acquire(None, clock, deadline, || false, until) };
    met.map_or(error, result)
}
