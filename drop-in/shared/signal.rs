//! The condition variable without the types of `lock_api`, which differ between its versions.

use ondeck::platform::{Native, Timestamp};

use crate::RawMutex;

/// A condition variable of crate `ondeck`, one byte.
#[repr(transparent)]
pub(crate) struct Signal(ondeck::condvar::RawCondvar<Native>);

impl Signal {
    #[allow(clippy::declare_interior_mutable_const, reason = "what constructors begin with")]
    pub(crate) const NEW: Self = Self(ondeck::condvar::RawCondvar::<Native>::NEW);

    /// Waits until notified or until the deadline. Returns whether it was notified.
    ///
    /// # Safety
    ///
    /// The caller owns the mutex.
    #[track_caller]
    pub(crate) unsafe fn wait(&self, mutex: &RawMutex, deadline: Option<Timestamp>) -> bool {
        // SAFETY: as the caller promises; the wait returns with the mutex locked.
        unsafe { mutex.wait(&self.0, deadline) }
    }

    #[inline]
    pub(crate) fn notify_one(&self) -> bool {
        self.0.notify_one() != 0
    }

    #[inline]
    pub(crate) fn notify_all(&self) -> usize {
        self.0.notify_all()
    }
}
