//! What a thread that waits for a mutex knows about its wait, apart from its node.

use crate::parking::{Bucket, Node, Slice};
use crate::platform::{Host, Timestamp};

/// What a waiting thread knows about its wait, apart from its node.
pub(super) struct Waiting<'a, P: Host> {
    pub(super) bucket: &'static Bucket<P>,
    pub(super) node: &'a Node<P>,
    pub(super) deadline: Option<Timestamp>,
    /// What the thread does before it first polls.
    pub(super) rest: Rest,
    /// The thread was woken, and found the lock taken again.
    pub(super) was_woken_in_vain: bool,
    /// The thread does not poll before it places its request: it runs on the CPU of the thread that woke it, found the lock
    /// taken, and there was no heir that could have been its waker. The owner most likely waits for that CPU.
    pub(super) stands_aside: bool,
    /// The current slice of the thread's sleep.
    pub(super) slice: Option<Slice>,
}

/// What a displaced owner of a captured lock does before it polls as the heir.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing: the lock is not captured, or the thread was not its owner.
    None,
    /// It pauses for the length of one pause between polls: the new owner may soon wait for a condition.
    Pause,
    /// It sleeps for a tenure, and so leaves the lock to the new owner.
    Nap,
}

impl<'a, P: Host> Waiting<'a, P> {
    /// Begins a wait.
    pub(super) fn new(
        bucket: &'static Bucket<P>,
        node: &'a Node<P>,
        deadline: Option<Timestamp>,
    ) -> Self {
        Self {
            bucket,
            node,
            deadline,
            rest: Rest::None,
            was_woken_in_vain: false,
            stands_aside: false,
            slice: None,
        }
    }

    /// Returns whether the deadline has passed.
    pub(super) fn has_timed_out(&self) -> bool {
        self.deadline.is_some_and(|deadline| P::now() >= deadline)
    }
}
