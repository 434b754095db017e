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

/// As `ondeck_barrier_wait`, but the other threads wait until the one that arrived last, in which
/// this returns `ONDECK_BARRIER_LAST`, calls `ondeck_barrier_end`. Not in a round in which a thread
/// calls `ondeck_barrier_clockwait`.
///
/// # Safety
///
/// `barrier` points to a barrier.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_barrier_meet(barrier: *mut Barrier) -> c_int {
    // SAFETY: as the caller promises.
    result(unsafe { raw(barrier) }.meet())
}

/// Counts a number of threads as arrived, which do not wait. Sets `round` for
/// `ondeck_barrier_wait_end`. If it returns `ONDECK_BARRIER_LAST` and not 0, they were the last:
/// the caller is to call `ondeck_barrier_end`. Not in a round in which a thread calls
/// `ondeck_barrier_clockwait`: it could time out before that end.
///
/// # Safety
///
/// `barrier` points to a barrier, `round` to a number.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_barrier_arrive(
    barrier: *mut Barrier,
    threads: c_uint,
    round: *mut c_uint,
) -> c_int {
    // SAFETY: as the caller promises.
    let (arrived_in, is_last) = unsafe { raw(barrier) }.arrive_ahead(threads);
    // SAFETY: as the caller promises.
    unsafe { round.write(arrived_in) };
    if is_last { ONDECK_BARRIER_LAST } else { 0 }
}

/// Makes this round and all later ones need one thread less. Returns what `ondeck_barrier_arrive`
/// does. Not in a round in which a thread calls `ondeck_barrier_clockwait`.
///
/// # Safety
///
/// `barrier` points to a barrier.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ondeck_barrier_leave(barrier: *mut Barrier) -> c_int {
    // SAFETY: as the caller promises.
    if unsafe { raw(barrier) }.leave() { ONDECK_BARRIER_LAST } else { 0 }
}

/// Ends a round: once, after one of the three functions above returned `ONDECK_BARRIER_LAST`.
///
/// # Safety
///
/// `barrier` points to a barrier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_barrier_end(barrier: *mut Barrier) {
    // SAFETY: as the caller promises.
    unsafe { raw(barrier) }.end();
}

/// Waits for the end of a round that `ondeck_barrier_arrive` has set. Everything before the
/// arrivals of that round, and before its `ondeck_barrier_end`, happens before this returns. Call
/// it before the next round may end.
///
/// # Safety
///
/// `barrier` points to a barrier.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_barrier_wait_end(barrier: *mut Barrier, round: c_uint) {
    // SAFETY: as the caller promises.
    unsafe { raw(barrier) }.wait_for_end(round);
}
