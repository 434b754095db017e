//! What a condition variable does with the mutex of its waiters.

use super::RawMutex;
use super::lock::Waiting;
use crate::parking::Node;
use crate::platform::Host;

impl<P: Host> RawMutex<P> {
    /// The caller, a waiter of a condition variable, was moved to this mutex while it slept: waits until the lock is its
    /// own.
    pub(crate) fn wait_moved(&self, node: &Node<P>) {
        let owner = self.wait(&mut Waiting::new(P::bucket(self.address()), node, None));
        debug_assert!(owner, "without a deadline a wait ends with the lock");
    }
}
