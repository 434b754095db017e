//! Two buckets that are locked at once, to move a waiter from one to the other.

use core::ptr;

use super::Host;
use super::bucket::{Bucket, Guard};

/// The locks of two buckets, which may be the same one.
pub(crate) struct Pair<'a, P: Host> {
    first: Guard<'a, P>,
    second: Option<Guard<'a, P>>,
}

impl<'a, P: Host> Pair<'a, P> {
    /// Waits for both locks, in the order of the buckets' addresses, so that two pairs cannot deadlock.
    pub(crate) fn lock(first: &'a Bucket<P>, second: &'a Bucket<P>) -> Self {
        if ptr::eq(first, second) {
            Self { first: first.lock(), second: None }
        } else if in_order(first, second) {
            let first = first.lock();
            Self { first, second: Some(second.lock()) }
        } else {
            let second = second.lock();
            Self { first: first.lock(), second: Some(second) }
        }
    }

    /// Returns the lock of the first bucket.
    pub(crate) fn first(&self) -> &Guard<'a, P> {
        &self.first
    }

    /// Returns the lock of the second bucket.
    pub(crate) fn second(&self) -> &Guard<'a, P> {
        self.second.as_ref().unwrap_or(&self.first)
    }
}

fn in_order<P: Host>(first: &Bucket<P>, second: &Bucket<P>) -> bool {
    ptr::from_ref(first) < ptr::from_ref(second)
}
