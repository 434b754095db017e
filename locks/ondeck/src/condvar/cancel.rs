//! A wait that is interrupted because its thread was cancelled.
//!
//! POSIX requires that a cancelled waiter consumes no notification that another waiter could have
//! had. So a waiter that was notified before it could withdraw notifies another waiter in its
//! place. For that it may touch less than a notifier may: the condition variable may be gone as
//! soon as its last waiter was notified, and another may be at its address.
//!
//! The series of the waiters decides. Each waiter has the number of the series in which it was
//! linked, and a series ends when no waiter is linked
//! ([`Guard::link_in_series`](crate::parking::Guard::link_in_series)). While a waiter of the same
//! series is linked, the condition variable has been in use without a gap, so it is live and still
//! the same. If none is linked, every thread that waited when the lost notification came has been
//! notified or has left, so no thread is left to notify.
//!
//! The oldest waiter is notified, because it is the one most likely to have waited when the lost
//! notification came. If all such waiters have left since, it may be one that came later in the
//! same series, and for it the notification is spurious. Only waits beside a cancelled one can end
//! spuriously.

use super::notify::notify_oldest_of;
use super::wait::Waiter;
use crate::platform::Host;

impl<P: Host> Waiter<P> {
    /// Ends the wait, because its thread was cancelled. If the waiter had been notified, notifies
    /// another one in its place, if there is one. If the waiter has a mutex, it is locked when this
    /// returns, and this may sleep for it.
    ///
    /// The other waiter may have begun to wait after the notification: its wait then ends
    /// spuriously.
    ///
    /// The cost is a lock of the bucket, a notification, and a lock of the mutex.
    ///
    /// # Safety
    ///
    /// The wait has [begun](Self::begin), by the calling thread, and is not over.
    #[cold]
    pub unsafe fn cancel(&self) {
        // spec: Condvar!Cancel
        if self.withdraw() {
            return self.lock_again();
        }
        // spec: Condvar!PassOn
        notify_oldest_of::<P>(self.waited, self.series.get());
        self.deadline.set(None);
        // SAFETY: the wait has begun, and is not over.
        unsafe { self.sleep() };
    }
}
