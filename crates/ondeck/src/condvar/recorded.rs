//! The wait of the condition variables that programs use, with what the recorder of contention is told.
//!
//! Only with the feature `profile`; else it is the condition variable's own function.

use super::RawCondvar;
use crate::mutex::RawMutex;
use crate::platform::{Native, Timestamp};

/// [`RawCondvar::wait`].
///
/// # Safety
///
/// The calling thread owns the mutex.
#[cfg(feature = "profile")]
pub(super) unsafe fn wait(
    condvar: &RawCondvar<Native>,
    mutex: &RawMutex<Native>,
    deadline: Option<Timestamp>,
) -> bool {
    use ondeck_record::layout::kind::ONDECK;

    use super::Waiter;
    use crate::mutex::recorded::recorded;

    let waiter = Waiter::new(condvar, Some(mutex), deadline);
    // SAFETY: as the caller promises; the waiter stays here until the wait is over.
    recorded(mutex.address(), || unsafe { waiter.begin() });
    // SAFETY: it has begun.
    let notified = unsafe { waiter.sleep() };
    if ondeck_record::is_on()
        && let Some(nanos) = waiter.waited_for_mutex()
    {
        ondeck_record::relocked(mutex.address(), ONDECK, None, nanos);
    }
    notified
}

/// [`RawCondvar::wait`].
///
/// # Safety
///
/// The calling thread owns the mutex.
#[cfg(not(feature = "profile"))]
#[inline(always)]
pub(super) unsafe fn wait(
    condvar: &RawCondvar<Native>,
    mutex: &RawMutex<Native>,
    deadline: Option<Timestamp>,
) -> bool {
    // SAFETY: as the caller promises.
    unsafe { condvar.wait(mutex, deadline) }
}
