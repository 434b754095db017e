//! What a thread does that finds the lock taken.

use core::ptr;

use super::{RawMutex, release};
use crate::parking::{Bucket, Guard, Node, attention, status};
use crate::platform::{AtomicInt, FutexWait, Ordering, Platform, Timestamp};
use crate::spin::Polling;

/// A thread that loses the lock so soon after another took it from on deck had been taking it again
/// and again.
const HAMMERED_NANOS: u32 = 300;

/// How often an arriving waiter looks whether the mark of the one before it goes away.
const CLAIM_LOOKS: u32 = 8;

impl<P: Platform> RawMutex<P> {
    #[cold]
    pub(super) fn lock_slow(&self, deadline: Option<Timestamp>) -> bool {
        let address = self.address();
        let bucket = P::bucket(address);
        let polling = P::polling();
        let now = P::ticks() as usize;
        let mut on_deck = polling.budget != 0 && claim(bucket, address);
        if on_deck {
            let hammered = now.wrapping_sub(bucket.taken.load(Ordering::Relaxed)) < P::ticks_in(HAMMERED_NANOS);
            let first = if hammered { polling.long } else { polling.short };
            if self.poll(bucket, &polling, now, first) {
                return true;
            }
        }
        let node = Node::<P>::new(address, ptr::null(), now);
        loop {
            if deadline.is_some_and(|deadline| P::now() >= deadline) {
                if on_deck {
                    self.give_up_deck(bucket);
                }
                return false;
            }
            let guard = bucket.lock();
            if self.park(&guard, &node, on_deck) {
                return true;
            }
            drop(guard);
            match self.sleep(bucket, &node, deadline) {
                status::OWNER => return true,
                status::ON_DECK => {
                    on_deck = true;
                    if self.poll(bucket, &polling, P::ticks() as usize, 0) {
                        return true;
                    }
                }
                _ => return false,
            }
        }
    }

    /// Links the caller's node and looks at the byte once more. True if it was free, and is the
    /// caller's now, whose node is not linked.
    fn park(&self, guard: &Guard<'_, P>, node: &Node<P>, on_deck: bool) -> bool {
        let bucket = guard.bucket();
        node.word().store(status::PARKED, Ordering::Relaxed);
        // SAFETY: it was new, or taken out by whoever put it on deck; it is taken out before
        // `lock_slow` returns.
        unsafe { guard.link(node) };
        guard.count_parked(node, P::ticks_in(release::HANDOVER_AFTER_NANOS));
        if on_deck {
            bucket.clear_on_deck();
        }
        announce(guard, self.address());
        if self.owned.load(Ordering::Relaxed) == 0 && self.try_lock() {
            // SAFETY: it was just linked.
            unsafe { guard.unlink(node) };
            guard.uncount_parked();
            return true;
        }
        false
    }

    /// Sleeps until the caller is the owner or on deck; `PARKED` if the deadline passed before, and
    /// its node is not linked any more.
    fn sleep(&self, bucket: &Bucket<P>, node: &Node<P>, deadline: Option<Timestamp>) -> u32 {
        loop {
            let status = node.status();
            if status != status::PARKED {
                return status;
            }
            if P::futex_wait(node.word(), status::PARKED, deadline) == FutexWait::TimedOut {
                let guard = bucket.lock();
                let status = node.status();
                if status == status::PARKED {
                    // SAFETY: who is not told otherwise is linked.
                    unsafe { guard.unlink(node) };
                    guard.uncount_parked();
                }
                return status;
            }
        }
    }

    /// Polls the byte; true if the lock is the caller's, and its mark gone.
    fn poll(&self, bucket: &Bucket<P>, polling: &Polling, start: usize, first: u32) -> bool {
        let budget = P::ticks_in(polling.budget);
        let mut pause = P::ticks_in(first);
        let mut now = start;
        let mut polls = 0;
        loop {
            let since = now;
            while now.wrapping_sub(since) < pause {
                P::pause();
                now = P::ticks() as usize;
            }
            if (0..P::spins(polling.burst)).any(|_| self.try_lock()) {
                break;
            }
            polls += 1;
            if now.wrapping_sub(start) >= budget {
                return false;
            }
            P::pause();
            now = P::ticks() as usize;
            pause = (pause * 2).clamp(P::ticks_in(polling.short), P::ticks_in(polling.long));
        }
        bucket.taken.store(P::ticks() as usize, Ordering::Relaxed);
        bucket.clear_on_deck();
        if bucket.has_parked() && (polls > 0 || first == polling.long) {
            // offer
            let offer = P::ticks_in(polling.offer);
            while (P::ticks() as usize).wrapping_sub(now) < offer && !bucket.is_on_deck(self.address()) {
                P::pause();
            }
        }
        true
    }

    fn give_up_deck(&self, bucket: &Bucket<P>) {
        let guard = bucket.lock();
        bucket.clear_on_deck();
        announce(&guard, self.address());
        let free = self.owned.load(Ordering::Relaxed) == 0;
        drop(guard);
        if free {
            release::look_around::<P>(&raw const self.owned);
        }
    }
}

/// Goes on deck if nobody is.
fn claim<P: Platform>(bucket: &Bucket<P>, address: usize) -> bool {
    for _ in 0..P::spins(CLAIM_LOOKS) {
        match bucket.set_on_deck(address) {
            Ok(_) => return true,
            // May be the mark of a thread that has just become the owner.
            Err(other) if other == address => P::pause(),
            Err(_) => return false,
        }
    }
    false
}

/// Makes what the caller has just written to the bucket known to releases, before it looks at the
/// byte for the last time.
fn announce<P: Platform>(guard: &Guard<'_, P>, address: usize) {
    let byte = P::attention(address);
    let releases = guard.take_releases();
    match byte.load(Ordering::Relaxed) {
        attention::FENCED => P::fence(Ordering::SeqCst),
        attention::SKIP => {
            byte.store(attention::LIGHT, Ordering::Relaxed);
            P::heavy_fence();
        }
        _ if releases >= attention::RELEASES_BEFORE_LIGHT && P::may_relax() => P::heavy_fence(),
        _ => {
            byte.store(attention::FENCED, Ordering::Relaxed);
            P::heavy_fence();
        }
    }
}
