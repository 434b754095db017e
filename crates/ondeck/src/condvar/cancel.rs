//! A wait that is broken off: its thread was cancelled.
//!
//! POSIX says that a cancelled waiter consumes no notification that another could have had. So one that
//! was notified before it could take itself off notifies another waiter in its place. What it may touch
//! for that is less than a notifier may: the condition variable may be gone as soon as its last waiter
//! was notified, and another may be at its address.
//!
//! The series of the waiters tells. Each waiter has the number of the series that it was linked in, and a
//! series ends when no waiter is linked ([`Guard::link_in_series`](crate::parking::Guard::link_in_series)).
//! While one of the same series is linked, the condition variable has been in use without a gap, so it is
//! still there and still the same. If none is, every thread that waited when the lost notification came
//! has been notified or has left: there is no one to pass it on to.
//!
//! The oldest waiter is notified, because it is the one most likely to have waited when the lost
//! notification came. If those have left meanwhile, it may be one that came later, in the same series: to
//! that one the notification is spurious. Only waits beside a cancelled one can end so.

use super::notify::{Choice, notify_some};
use super::wait::Waiter;
use crate::parking::status;
use crate::platform::{FutexWait, Host};

impl<P: Host> Waiter<P> {
    /// Ends the wait, because its thread was cancelled. If the waiter had been notified, another one is
    /// notified in its place, if there is one. The mutex is locked when this returns, if the waiter has
    /// one: this may sleep for it.
    ///
    /// The other one may have begun to wait after the notification: its wait then ends spuriously.
    ///
    /// It costs a lock of the bucket, and what a notification and a lock of the mutex cost.
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
        notify_some::<P>(self.waited, 1, Choice::OldestOf(self.series.get()));
        match self.mutex() {
            Some(mutex) => {
                self.found_taken.note(|| true);
                self.relock(mutex);
            }
            None => self.until_told(),
        }
    }

    /// Waits until the notifier, which has unlinked the caller's node, needs it no more.
    fn until_told(&self) {
        while self.node.status() == status::CHOSEN {
            // Every outcome means the same: look again.
            let _: FutexWait = P::futex_wait(self.node.word(), status::CHOSEN, None);
        }
    }
}
