//! Waiting while deadlocks are detected.

use super::{RawCondvar, recorded};
use crate::mutex::{RawMutex, watched};
use crate::platform::{Native, Timestamp};
use crate::watch::{self, Ends, Held, Want};

/// [`RawCondvar::wait`].
///
/// However the wait ends, the thread does not go on before it has the mutex again. So it waits for the mutex,
/// without a deadline, from the moment on that it gives it up.
///
/// # Safety
///
/// The calling thread owns the mutex.
#[cold]
pub(super) unsafe fn wait(
    condvar: &RawCondvar<Native>,
    mutex: &RawMutex<Native>,
    deadline: Option<Timestamp>,
) -> bool {
    let lock = watched::of(mutex);
    watch::released(lock, Held::Alone);
    let mut watched = watch::begin(lock, Want::Alone, Ends::Never);
    watched.waits_for_condition();
    // SAFETY: as the caller promises.
    let notified = unsafe { recorded::wait(condvar, mutex, deadline) };
    watched.acquired();
    notified
}
