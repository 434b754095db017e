//! What a condition variable does with the mutex of its waiters.

use super::RawMutex;
use super::waiting::Waiting;
use crate::parking::Node;
use crate::platform::Host;

impl<P: Host> RawMutex<P> {
    /// The caller, the owner, goes to wait for a condition.
    pub(crate) fn is_left(&self) {
        if let Some(history) = P::bucket(self.address()).history(self.address()) {
            history.note_left(P::ticks() as usize);
        }
    }

    /// The caller, a waiter of a condition variable, was moved to this mutex while it slept: waits until the lock is its
    /// own.
    pub(crate) fn wait_moved(&self, node: &Node<P>) {
        let owner = self.wait(&mut Waiting::new(P::bucket(self.address()), node, None));
        debug_assert!(owner, "without a deadline a wait ends with the lock");
    }
}
