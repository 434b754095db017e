//! What a thread does that finds the lock taken.

use core::ptr;

use super::deck::Arrival;
use super::{RawMutex, release};
use crate::parking::{Bucket, Guard, Node, announce, has_come, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};

impl<P: Host> RawMutex<P> {
    /// Waits for the lock; false if the deadline passed before.
    #[cold]
    pub(super) fn lock_slow(&self, deadline: Option<Timestamp>) -> bool {
        let bucket = P::bucket(self.address());
        let now = P::ticks() as usize;
        let on_deck = match self.arrive(bucket, now) {
            Arrival::Owner => return true,
            Arrival::OnDeck => true,
            Arrival::Refused => false,
        };
        let node = Node::new(self.address(), ptr::null(), now);
        self.wait_parked(bucket, &node, on_deck, deadline)
    }

    /// Parks, is woken, polls, parks again, until the lock is the caller's; false if the deadline
    /// passed before. The caller's node is not linked, before and after.
    fn wait_parked(
        &self,
        bucket: &Bucket<P>,
        node: &Node<P>,
        mut on_deck: bool,
        deadline: Option<Timestamp>,
    ) -> bool {
        loop {
            // spec: Mutex!PassedAwake
            if deadline.is_some_and(|deadline| P::now() >= deadline) {
                if on_deck {
                    self.give_up_deck(bucket);
                }
                return false;
            }
            // spec: Mutex!ParkLock
            let guard = bucket.lock();
            if self.park(&guard, node, on_deck) {
                return true;
            }
            drop(guard);
            match Self::sleep(bucket, node, deadline) {
                status::OWNER => return true,
                status::ON_DECK => {
                    if self.poll_woken(bucket) {
                        return true;
                    }
                    on_deck = true;
                }
                _ => return false,
            }
        }
    }

    /// The caller was woken, its node taken out of the list: goes on until the lock is its own.
    pub(crate) fn wait_woken(&self, node: &Node<P>, status: u32) {
        if status == status::OWNER {
            return;
        }
        let bucket = P::bucket(self.address());
        if !self.poll_woken(bucket) {
            let owner = self.wait_parked(bucket, node, true, None);
            debug_assert!(owner, "without a deadline a wait ends with the lock");
        }
    }

    /// Links the caller's node and looks at the byte once more. True if it was free, and is the
    /// caller's now, whose node is not linked.
    fn park(&self, guard: &Guard<'_, P>, node: &Node<P>, on_deck: bool) -> bool {
        let bucket = guard.bucket();
        // spec: Mutex!ParkLink
        node.word().store(status::PARKED, Ordering::Relaxed);
        node.cpu.store(P::cpu(), Ordering::Relaxed);
        let due = node.since.load(Ordering::Relaxed).wrapping_add(release::patience::<P>());
        if has_come(P::ticks() as usize, due) {
            // SAFETY: it was taken out by whoever put it on deck; and is taken out again before
            // `wait_parked` returns, which outlives it.
            unsafe { guard.link_by_age(node) };
        } else {
            // SAFETY: as above, or it is new.
            unsafe { guard.link(node) };
        }
        guard.count_parked(node, release::patience::<P>());
        if on_deck {
            // Between the count and the last look: see the module's "no wake is lost".
            bucket.clear_on_deck();
        }
        announce(guard, self.address());
        // spec: Mutex!LastLook
        // spec: Mutex!LastTry
        if self.owned.load(Ordering::Relaxed) == 0 && self.try_lock() {
            // SAFETY: it was just linked.
            unsafe { guard.unlink(node) };
            guard.uncount_parked();
            return true;
        }
        false
    }

    /// Sleeps until the caller is the owner or on deck; `PARKED` if the deadline passed before, and
    /// its node is then not linked any more.
    fn sleep(bucket: &Bucket<P>, node: &Node<P>, deadline: Option<Timestamp>) -> u32 {
        loop {
            // spec: Mutex!Sleep
            let status = node.status();
            if status != status::PARKED {
                return status;
            }
            // spec: Mutex!Asleep
            // spec: Mutex!PassedAsleep
            if P::futex_wait(node.word(), status::PARKED, deadline) == FutexWait::TimedOut {
                // spec: Mutex!PassedLock
                let guard = bucket.lock();
                // spec: Mutex!PassedAsk
                // Only under the lock is it certain that nobody is about to choose this node.
                let status = node.status();
                if status == status::PARKED {
                    // SAFETY: who has not been told otherwise is linked.
                    unsafe { guard.unlink(node) };
                    guard.uncount_parked();
                }
                return status;
            }
        }
    }

    /// The caller leaves the deck without the lock. Releases that saw its mark have woken nobody,
    /// relying on it: it does now what they would have done.
    fn give_up_deck(&self, bucket: &Bucket<P>) {
        // spec: Mutex!GiveUpLock
        let guard = bucket.lock();
        bucket.clear_on_deck();
        announce(&guard, self.address());
        // spec: Mutex!GiveUpLook
        let free = self.owned.load(Ordering::Relaxed) == 0;
        drop(guard);
        if free {
            release::look_around::<P>(&raw const self.owned);
        }
    }
}
