//! The queue of MCS, in which locks of its family put the nodes of their threads: a pointer to the
//! last node, and in each node a pointer to the next one.
//!
//! An owner's node is the first. The file of a lock says what else a node has, and how a waiter
//! learns that its predecessor has left.

use std::{fmt, ptr};

use ondeck::platform::{AtomicPointer, Ordering, Platform};

/// A thread's node.
pub(crate) trait Linked<P: Platform>: Sized + 'static {
    /// The pointer to the next node: null until the next thread has linked itself.
    fn next(&self) -> &P::AtomicPtr<Self>;

    /// Makes the other fields ready, where the lock does not.
    fn prepare(&self) {}

    /// Its address, as queues have it.
    fn pointer(&self) -> *mut Self {
        ptr::from_ref(self).cast_mut()
    }

    /// Waits until the thread that has swapped its node in after this one has linked it: the
    /// algorithm cannot combine these two steps. If that thread is preempted between them, all
    /// wait.
    fn linked(&self) -> *mut Self {
        loop {
            let next = self.next().load(Ordering::Acquire);
            if !next.is_null() {
                return next;
            }
            P::pause();
        }
    }
}

/// Makes a type with a field `next` the node of a queue, given the other fields' initial values.
macro_rules! queue_node {
    ($Node:ident { $($field:ident: $initial:expr),* $(,)? } $(, prepare: |$node:ident| $prepare:expr)?) => {
        impl<P: Platform> Default for $Node<P> {
            fn default() -> Self {
                let next = ondeck::platform::AtomicPointer::new(std::ptr::null_mut());
                Self { next, $($field: $initial),* }
            }
        }

        impl<P: Platform> $crate::queue::Linked<P> for $Node<P> {
            fn next(&self) -> &P::AtomicPtr<Self> {
                &self.next
            }
            $(fn prepare(&self) {
                let $node = self;
                $prepare;
            })?
        }
    };
}

/// The pointer to the last node; null if the queue is empty.
pub(crate) struct Tail<P: Platform, N: 'static>(P::AtomicPtr<N>);

impl<P: Platform, N> fmt::Debug for Tail<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tail")
    }
}

impl<P: Platform, N: Linked<P>> Tail<P, N> {
    pub(crate) fn new() -> Self {
        Self(AtomicPointer::new(ptr::null_mut()))
    }

    /// Relaxed: no other thread can reach the node yet; the operation that puts it into the queue
    /// publishes it.
    #[inline(always)]
    fn ready(node: &N) {
        node.next().store(ptr::null_mut(), Ordering::Relaxed);
        node.prepare();
    }

    /// Puts a node at the end. Returns false if it is the first; otherwise its predecessor is
    /// linked to it.
    #[inline(always)]
    pub(crate) fn enter(&self, node: &N) -> bool {
        self.enter_with(node, || ())
    }

    /// As [`enter`](Self::enter); calls `waits` before the predecessor can find the node.
    #[inline(always)]
    pub(crate) fn enter_with(&self, node: &N, waits: impl FnOnce()) -> bool {
        Self::ready(node);
        let predecessor = self.0.swap(node.pointer(), Ordering::AcqRel);
        if predecessor.is_null() {
            return false;
        }
        waits();
        // SAFETY: the predecessor waits, or cannot finish its unlock, and so its node stays, before
        // it has seen this store: tail is no longer its own node.
        unsafe { &*predecessor }.next().store(node.pointer(), Ordering::Release);
        true
    }

    /// Puts a node into the queue if that is empty.
    #[inline(always)]
    pub(crate) fn try_enter(&self, node: &N) -> bool {
        Self::ready(node);
        let (empty, own) = (ptr::null_mut(), node.pointer());
        self.0.compare_exchange(empty, own, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    /// Replaces the owner's node by `other`, or by none if that is null, if no thread has come
    /// after it.
    #[inline(always)]
    pub(crate) fn replace(&self, node: &N, other: *mut N) -> bool {
        let own = node.pointer();
        self.0.compare_exchange(own, other, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Returns the node after the owner's; or null, and then the queue is empty.
    #[inline(always)]
    pub(crate) fn leave(&self, node: &N) -> *mut N {
        let next = node.next().load(Ordering::Acquire);
        if !next.is_null() || self.replace(node, ptr::null_mut()) { next } else { node.linked() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.load(Ordering::Relaxed).is_null()
    }
}
