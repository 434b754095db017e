//! What a condition variable does with the mutex of its waiters: pins its record, and lets a waiter that was notified go
//! on.

use super::RawMutex;
use crate::parking::Node;
use crate::platform::Host;

impl<P: Host> RawMutex<P> {
    /// The caller is about to sleep at a condition variable, and will want this mutex next: pins the
    /// mutex's record, so that a notification makes no heavy fence.
    pub(crate) fn pin(&self, node: &Node<P>) {
        let guard = P::bucket(self.address()).lock();
        let record = guard.claim(self.address());
        if record.is_shared() {
            return;
        }
        // spec: Condvar!Pin
        guard.pin(record, node);
        let publication = guard.publish(record, self.address());
        drop(guard);
        // spec: Condvar!PinFence
        publication.complete(record);
    }

    /// Takes that back, if a notification has not done so.
    pub(crate) fn unpin(&self, node: &Node<P>) {
        if node.is_pinned() {
            // spec: Condvar!Unpin
            P::bucket(self.address()).lock().unpin(node);
        }
    }

    /// The caller's node was moved here from a condition variable and told `status`, or was told to
    /// compete: goes on until the lock is the caller's.
    pub(crate) fn wait_told(&self, node: &Node<P>, status: u32) {
        let bucket = P::bucket(self.address());
        let stage = self.told(bucket, node, status);
        let owner = self.wait(bucket, node, stage, None);
        debug_assert!(owner, "without a deadline a wait ends with the lock");
    }

    /// The caller, a waiter of a condition variable, was moved to this mutex while it slept: sleeps on,
    /// until the lock is its own.
    pub(crate) fn wait_moved(&self, node: &Node<P>) {
        let bucket = P::bucket(self.address());
        let stage = self.sleep(bucket, node, None);
        let owner = self.wait(bucket, node, stage, None);
        debug_assert!(owner, "without a deadline a wait ends with the lock");
    }

    /// The caller, the owner until a moment ago, will not want the lock soon: its poller need not spare
    /// it polls.
    pub(crate) fn call_poller(&self) {
        if let Some(record) = P::bucket(self.address()).own_record(self.address()) {
            record.call_poller();
        }
    }
}
