//! The operations of a condition variable on the mutex of its waiters.

use super::RawMutex;
use super::waiting::Waiting;
use crate::parking::Node;
use crate::platform::Host;

impl<P: Host> RawMutex<P> {
    /// Records that the caller, the owner, begins to wait for a condition.
    pub(crate) fn is_left(&self) {
        if let Some(history) = P::bucket(self.address()).history(self.address()) {
            history.note_left(P::ticks() as usize);
        }
    }

    /// Waits until the caller owns the lock. The caller waited for a condition, and a notification
    /// has moved it to this mutex.
    pub(crate) fn wait_moved(&self, node: &Node<P>) {
        let owner = self.wait(&mut Waiting::new(P::bucket(self.address()), node, None));
        debug_assert!(owner, "without a deadline a wait ends with the lock");
    }
}
