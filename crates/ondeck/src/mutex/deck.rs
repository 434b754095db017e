//! On deck: the one waiter that is awake, and polls.
//!
//! A poll takes the lock's cache line from the owner, 100 to 300 ns on the machines measured. Where
//! the owner holds the lock for 100 ns and stays away for 500, a poll every 100 ns is right; where
//! it takes the lock again every 10 ns, that would cost more than the lock does. What tells the two
//! apart is who comes: a thread that fails right after another took the lock from on deck had been
//! taking it again and again, so it polls rarely.

use super::RawMutex;
use crate::parking::Bucket;
use crate::platform::Host;
use crate::spin::Polling;

/// A thread that fails within this time after the lock was taken from on deck had it before. Two or
/// three transfers of a cache line.
const LOST_WITHIN_NANOS: u32 = 300;

/// Attempts in one poll, back to back. An attempt reaches the owner's core most often just behind
/// the owner's own exchange, and so fails; but the line then comes back right behind the owner's
/// clearing store. One attempt a poll won 56 million pairs a second between two threads, 24 won 80.
const ATTEMPTS: u32 = 24;

/// How often an arriving waiter looks whether the one on deck has gone, a short pause apart: a new
/// owner needs that long to clear its mark.
const LOOKS: u32 = 4;

/// How an arrival ended.
pub(super) enum Arrival {
    /// The lock is the caller's.
    Owner,
    /// The mark is the caller's, but it polled for too long.
    OnDeck,
    /// Another waiter has the mark.
    Refused,
}

impl<P: Host> RawMutex<P> {
    /// Tries to wait on deck, from the moment `now`, at which the caller failed to get the lock.
    pub(super) fn arrive(&self, bucket: &Bucket<P>, now: usize) -> Arrival {
        let polling = P::polling();
        if polling.budget == 0 {
            return Arrival::Refused;
        }
        let address = self.address();
        for _ in 0..P::spins(LOOKS) {
            // spec: Mutex!Arrive
            match bucket.set_on_deck(address) {
                Ok(_) => {
                    let lost = now.wrapping_sub(bucket.taken_at()) < P::ticks_in(LOST_WITHIN_NANOS);
                    let first = if lost { polling.long } else { polling.short };
                    return if self.poll(bucket, &polling, now, first) {
                        Arrival::Owner
                    } else {
                        Arrival::OnDeck
                    };
                }
                Err(other) if other != address => return Arrival::Refused,
                Err(_) => {}
            }
            pause(bucket, P::ticks() as usize, polling.short);
            // spec: Mutex!LookAgain
            if self.try_lock() {
                return Arrival::Owner;
            }
        }
        Arrival::Refused
    }

    /// Polls, woken to be on deck. True if the lock is the caller's.
    pub(super) fn poll_woken(&self, bucket: &Bucket<P>) -> bool {
        self.poll(bucket, &P::polling(), P::ticks() as usize, 0)
    }

    /// Polls from the moment `start`, first after `first` nanoseconds, with the caller's mark set.
    /// True if the lock is the caller's, and its mark gone.
    fn poll(&self, bucket: &Bucket<P>, polling: &Polling, start: usize, first: u32) -> bool {
        let budget = P::ticks_in(polling.budget);
        let mut interval = first;
        let mut before = start;
        loop {
            let now = pause(bucket, before, interval);
            // spec: Mutex!Poll
            if (0..P::spins(ATTEMPTS)).any(|_| self.try_lock()) {
                self.leave(bucket, polling, interval != first || first == polling.long);
                return true;
            }
            if now.wrapping_sub(start) >= budget {
                return false;
            }
            before = now;
            interval = (interval * 2).clamp(polling.short, polling.long);
        }
    }

    /// The caller has become the owner, from on deck. If it had to take the lock from somebody
    /// that is busy with it, it waits for a moment until that one is on deck: else its own release
    /// would wake a sleeper, and the other, who still runs, would sleep in its place.
    fn leave(&self, bucket: &Bucket<P>, polling: &Polling, was_busy: bool) {
        let now = P::ticks() as usize;
        bucket.set_taken_at(now);
        // spec: Mutex!Leave
        bucket.clear_on_deck();
        if was_busy && bucket.has_parked() {
            let offer = P::ticks_in(polling.offer);
            while (P::ticks() as usize).wrapping_sub(now) < offer
                && !bucket.is_on_deck(self.address())
            {
                P::pause();
            }
        }
    }
}

/// Waits until `nanos` after `start`, or until called; says when that was.
fn pause<P: Host>(bucket: &Bucket<P>, start: usize, nanos: u32) -> usize {
    let ticks = P::ticks_in(nanos);
    let calls = bucket.calls();
    loop {
        let now = P::ticks() as usize;
        if now.wrapping_sub(start) >= ticks || bucket.calls() != calls {
            return now;
        }
        P::pause();
    }
}
