//! Barriers: ondeck's, in the caller's own bytes, except process-shared ones.
//!
//! The C library's destruction waits for threads that were released and have not run yet. Here such
//! threads read only their own nodes and the parking table, so there is nothing to wait for.
//! `barrier.c` begins the wait.

use core::cell::Cell;
use core::ffi::{c_int, c_void};

use libc::timespec;

use crate::deferred;
use crate::object::Barrier;
use crate::real;

/// What [`ondeck_preload_barrier_waiting`] returns to the last thread of a round; as in
/// `barrier.c`.
const LEADER: c_int = 1;

/// `pthread_barrier_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ondeck_preload_barrier_init(
    barrier: *mut Barrier,
    attributes: *const c_void,
    count: u32,
) -> c_int {
    // The C library interprets attributes, and refuses invalid counts.
    // SAFETY: the C library's function, with the caller's arguments.
    let result = unsafe { real::barrier_init(barrier, attributes, count) };
    if result == 0 {
        // SAFETY: it was initialized just now, and no other thread uses it yet.
        let barrier = unsafe { &mut *barrier };
        if !barrier.is_shared() {
            barrier.lock = ondeck::Barrier::new(count);
        }
    }
    result
}

/// `pthread_barrier_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_barrier_destroy(barrier: &Barrier) -> c_int {
    if barrier.is_shared() {
        // SAFETY: the C library's function, with the caller's arguments.
        return unsafe { real::barrier_destroy(barrier) };
    }
    0
}

/// A `Wait` of `deferred.rs` for a barrier of ours, without a deadline. Returns [`LEADER`] or 0.
#[unsafe(no_mangle)]
pub extern "C" fn ondeck_preload_barrier_waiting(
    barrier: &Barrier,
    clock: c_int,
    deadline: Option<&timespec>,
    in_slices: c_int,
) -> c_int {
    let lock = &barrier.lock;
    let leads = Cell::new(false);
    let attempt = |until: Option<_>| {
        let met = until.map_or_else(|| Some(lock.wait()), |until| lock.wait_by(until));
        leads.set(met.is_some_and(|result| result.is_leader()));
        met.is_some()
    };
    let result = deferred::attempts(clock, deadline, in_slices, attempt);
    if leads.get() { LEADER } else { result }
}
