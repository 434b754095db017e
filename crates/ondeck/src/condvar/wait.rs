//! Waiting: from the owner of the mutex to a sleeping thread, and back.

use super::RawCondvar;
use crate::mutex::{RawMutex, Slice, handoff_due, stay_near};
use crate::parking::{Bucket, Kind, Node, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};
use crate::spin::Waits;

impl<P: Host> RawCondvar<P> {
    /// Unlocks the mutex, sleeps until notified or until the deadline, and locks the mutex again. Says
    /// whether it was notified.
    ///
    /// Does not return spuriously, but the caller's condition may have changed again before it got
    /// the mutex.
    ///
    /// # Safety
    ///
    /// The calling thread owns the mutex.
    pub unsafe fn wait(&self, mutex: &RawMutex<P>, deadline: Option<Timestamp>) -> bool {
        let bucket = P::bucket(self.address());
        let now = P::ticks() as usize;
        let node = Node::<P>::new(Kind::Condvar, self.address(), mutex.byte(), now);
        node.set_status(status::NEAR);
        node.set_due(handoff_due(&node));
        // spec: Condvar!Link
        let guard = bucket.lock();
        // SAFETY: it is new, and unlinked before this function returns.
        unsafe { guard.link(Kind::Condvar, &node) };
        self.waited.store(1, Ordering::Relaxed);
        drop(guard);
        // SAFETY: the caller owns it.
        unsafe { mutex.unlock() };
        // The mutex is one that this thread will lock again, so it is there.
        mutex.call_poller();

        if watch(bucket, &node) {
            return notified(mutex, &node);
        }
        // What a notification needs to know of a thread that sleeps.
        node.cpu.store(P::cpu(), Ordering::Relaxed);
        node.priority.store(P::priority(), Ordering::Relaxed);
        // spec: Condvar!Pin
        mutex.pin(&node);
        if !park(bucket, &node) {
            return notified(mutex, &node);
        }
        let mut deadline = deadline;
        let mut slice = Slice::begin::<P>();
        loop {
            // spec: Condvar!Wait
            if node.status() != status::PARKED {
                return notified(mutex, &node);
            }
            let until = deadline.map_or(slice.end, |deadline| deadline.min(slice.end));
            if P::futex_wait(node.word(), status::PARKED, Some(until)) == FutexWait::TimedOut {
                if deadline.is_none_or(|deadline| P::now() < deadline) {
                    slice.next::<P>();
                    if self.was_moved(&node) {
                        // As a thread that is parked for the mutex it looks after itself, too.
                        mutex.wait_moved(&node);
                        return true;
                    }
                    continue;
                }
                // spec: Condvar!TimeOut
                if self.withdraw(&node) {
                    mutex.unpin(&node);
                    mutex.lock();
                    return false;
                }
                // Notified at the last moment: what it waits for now has no deadline.
                deadline = None;
            }
        }
    }

    /// Whether a waiter has been notified, and moved to its mutex or told to compete for it.
    fn was_moved(&self, node: &Node<P>) -> bool {
        let _guard = P::bucket(self.address()).lock();
        !node.waits_for(Kind::Condvar, self.address())
    }

    /// Takes a waiter off whose time is over; false if it has been notified before.
    fn withdraw(&self, node: &Node<P>) -> bool {
        let address = self.address();
        // spec: Condvar!Withdraw
        let guard = P::bucket(address).lock();
        // A notification changes this under the bucket's lock.
        if !node.waits_for(Kind::Condvar, address) {
            return false;
        }
        // SAFETY: a node that has not been notified is linked here.
        unsafe { guard.unlink(Kind::Condvar, node) };
        if guard.newest(Kind::Condvar, address).is_none() {
            self.waited.store(0, Ordering::Relaxed);
        }
        true
    }
}

/// The waiter was told something: goes on until it has the mutex.
fn notified<P: Host>(mutex: &RawMutex<P>, node: &Node<P>) -> bool {
    // spec: Condvar!Unpin
    mutex.unpin(node);
    mutex.wait_told(node, node.status());
    true
}

/// Reads the caller's own status for a while: true if it was notified meanwhile. If not, it is still
/// `NEAR`.
fn watch<P: Host>(bucket: &Bucket<P>, node: &Node<P>) -> bool {
    let ticks = Waits::now::<P>().watch;
    if ticks == 0 || !bucket.watches.is_worth_it() {
        return false;
    }
    // spec: Condvar!Watch
    let notified = stay_near(node, ticks);
    bucket.watches.note(notified);
    notified
}

/// Parks, unless notified before: says whether it did. Under the bucket's lock, so that a notification
/// which sees a near waiter there has it: until the waiter is told, `waited` may say that none is left.
fn park<P: Host>(bucket: &Bucket<P>, node: &Node<P>) -> bool {
    let _guard = bucket.lock();
    // spec: Condvar!LeaveNear
    node.leave_near(status::PARKED)
}
