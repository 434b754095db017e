//! How a thread ends its wait although no other thread has told it to: it has acquired the lock by itself, its deadline
//! has passed, or the thread that is to look after it gets no CPU.

use super::RawMutex;
use super::slice::Slice;
use crate::parking::{Bucket, Kind, Node, has_come, status};
use crate::platform::Host;

impl<P: Host> RawMutex<P> {
    /// Unlinks the caller's node, if it was not told otherwise before.
    pub(super) fn unlink_if_parked(&self, bucket: &Bucket<P>, node: &Node<P>) -> bool {
        let guard = bucket.lock();
        // spec: Mutex!PassedAsk
        // Only under the lock is it certain that no unlock is about to choose this node.
        let is_parked = node.status() == status::PARKED;
        if is_parked {
            guard.uncount(guard.claim(self.address()), node);
            // SAFETY: a node that was not told otherwise is linked.
            unsafe { guard.unlink(Kind::Lock, node) };
        }
        is_parked
    }

    /// The caller, whose node was linked, has acquired the lock by itself.
    pub(super) fn withdraw(&self, bucket: &Bucket<P>, node: &Node<P>) {
        // spec: Mutex!Withdraw
        if self.unlink_if_parked(bucket, node) {
            return;
        }
        // spec: Mutex!WithdrawTold
        // It was told something in the meantime. Its mark goes; what unlocks have left to it, its own
        // will do (3).
        let Some(record) = bucket.own_record(self.address()) else { return };
        match node.status() {
            status::IN_FLIGHT => _ = record.land(self.address(), false),
            status::POLLER => record.leave(node.turn()),
            told => debug_assert_eq!(told, status::COMPETE, "the lock was acquired twice"),
        }
    }

    /// The caller goes without the lock. Unlocks that saw its mark have woken no thread, relying on it
    /// (3): it does now what they would have done.
    pub(super) fn give_up(&self, bucket: &Bucket<P>, node: &Node<P>) {
        // spec: Mutex!GiveUpLock
        let guard = bucket.lock();
        let record = guard.claim(self.address());
        // spec: Mutex!ParkLeave
        record.leave(node.turn());
        let publication = guard.publish(record, self.address());
        drop(guard);
        publication.complete(record);
        // spec: Mutex!GiveUpLook
        if !self.is_locked() {
            self.look();
        }
    }

    /// Whether the thread that unlocks rely on to look after the parked ones gets no CPU: a poller that
    /// does not poll, or a woken thread that has not run, for as long as the first slice of a sleep.
    ///
    /// Not sooner, because where thousands of threads wake at the ends of their slices, each poller loses
    /// its CPU for a while: then all of them would compete, and wake again and again.
    pub(super) fn is_left_alone(&self, bucket: &Bucket<P>) -> bool {
        let now = P::ticks() as usize;
        let long = P::ticks_in(Slice::FIRST.as_nanos() as u32);
        bucket.own_record(self.address()).is_some_and(|record| {
            let awake = record.awake();
            let seen = if awake.has_poller() { record.polled_at() } else { record.flown_at() };
            awake.any() && has_come(now, seen.wrapping_add(long))
        })
    }
}
