//! What a thread that waits for a mutex knows about its wait, apart from its node.

use crate::parking::{Bucket, Node, Slice};
use crate::platform::{Host, Timestamp};
use crate::spin::ticks_as_duration;

/// What a waiting thread knows about its wait, apart from its node.
pub(super) struct Waiting<'a, P: Host> {
    pub(super) bucket: &'static Bucket<P>,
    pub(super) node: &'a Node<P>,
    pub(super) deadline: Option<Timestamp>,
    /// The thread was woken and found the lock taken again, or its turn has come: it asks for the
    /// lock itself.
    pub(super) is_overdue: bool,
    /// The current slice of the thread's sleep.
    pub(super) slice: Option<Slice>,
}

impl<'a, P: Host> Waiting<'a, P> {
    /// Begins a wait.
    pub(super) fn new(
        bucket: &'static Bucket<P>,
        node: &'a Node<P>,
        deadline: Option<Timestamp>,
    ) -> Self {
        Self { bucket, node, deadline, is_overdue: false, slice: None }
    }

    /// Returns whether the lock is captured.
    pub(super) fn is_captured(&self, now: usize) -> bool {
        self.bucket.is_captured(self.node.address(), now)
    }

    /// Returns the moment in `ticks`, or the deadline if that comes first.
    pub(super) fn after(&self, ticks: usize) -> Timestamp {
        let then = P::now().after(ticks_as_duration::<P>(ticks));
        self.deadline.map_or(then, |deadline| deadline.min(then))
    }

    /// Returns whether the deadline has passed.
    pub(super) fn has_timed_out(&self) -> bool {
        self.deadline.is_some_and(|deadline| P::now() >= deadline)
    }
}
