//! What a thread that waits for a mutex knows of its wait, beside its node.

use crate::parking::{Bucket, Node, Slice};
use crate::platform::{Host, Timestamp};

/// What the thread of a node knows of its wait, beside the node.
pub(super) struct Waiting<'a, P: Host> {
    pub(super) bucket: &'static Bucket<P>,
    pub(super) node: &'a Node<P>,
    pub(super) deadline: Option<Timestamp>,
    /// What it does before it first polls.
    pub(super) rest: Rest,
    /// It was woken, and found the lock taken again.
    pub(super) was_woken_in_vain: bool,
    /// It does not poll before it asks: it runs on the CPU of the thread that woke it, found the lock taken, and there was no
    /// heir that could have been its waker. The owner most likely waits for that CPU.
    pub(super) stands_aside: bool,
    /// The part of its sleep that it is in.
    pub(super) slice: Option<Slice>,
}

/// What a displaced owner of a captured lock does before it polls as the heir.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Nothing: the lock is not captured, or the thread was not its owner.
    None,
    /// It pauses for as long as between polls: the new owner may go to wait for a condition in a moment.
    Pause,
    /// It leaves the lock to the new owner for a tenure, asleep.
    Nap,
}

impl<'a, P: Host> Waiting<'a, P> {
    /// A wait that begins.
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

    /// Whether its deadline has passed.
    pub(super) fn has_timed_out(&self) -> bool {
        self.deadline.is_some_and(|deadline| P::now() >= deadline)
    }
}
