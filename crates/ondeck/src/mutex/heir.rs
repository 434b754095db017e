//! The heir: the one waiting thread that watches the lock. It relies on no other thread until it has asked unlocks for the
//! lock.

use super::lock::Waiting;
use super::slice::Slice;
use super::{RawMutex, roles};
use crate::parking::{Request, has_come, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};
use crate::spin::{Waits, ticks_as_duration};

/// Attempts in one poll, back to back. An attempt reaches the owner's core most often just after the owner's own exchange,
/// and so fails; but the line then comes back right after the owner's clearing store.
const ATTEMPTS: u32 = 24;

/// A heir that has been one for so long asks to be handed the lock: an owner that takes the lock again at once would
/// otherwise have it for as long as it likes.
const OVERDUE_NANOS: u32 = 1_000_000;

/// How a watch has ended.
pub(super) enum Watched {
    /// The caller has acquired the lock.
    Acquired,
    /// The caller's status has changed.
    Told,
    /// The caller's deadline has passed.
    TimedOut,
}

impl<P: Host> RawMutex<P> {
    /// Watches the lock as the heir.
    pub(super) fn watch(&self, waiting: &mut Waiting<'_, P>) -> Watched {
        let waits = Waits::now::<P>();
        if core::mem::take(&mut waiting.is_displaced) {
            nap(waiting, waits.tenure);
        }
        let heir_since = *waiting.heir_since.get_or_insert_with(|| P::ticks() as usize);
        loop {
            if let Some(watched) = self.poll(waiting, &waits) {
                return watched;
            }
            if let Some(watched) = self.ask(waiting, &waits, heir_since) {
                return watched;
            }
        }
    }

    /// Polls for as long as a wake takes, ever more rarely. `None` after that time.
    fn poll(&self, waiting: &Waiting<'_, P>, waits: &Waits) -> Option<Watched> {
        let node = waiting.node;
        let start = P::ticks() as usize;
        let rotation = roles::rotation_due(&waiting.bucket.lock(), self.address(), start);
        let (mut now, mut pause) = (start, waits.short);
        loop {
            if has_come(now, rotation) {
                self.rotate(waiting, now);
            }
            // spec: Mutex!Poll
            for _ in 0..P::spins(ATTEMPTS) {
                if node.status() != status::HEIR {
                    return Some(Watched::Told);
                }
                // spec: Mutex!PollTry
                if self.try_lock() {
                    return Some(Watched::Acquired);
                }
            }
            if waiting.has_timed_out() {
                return Some(Watched::TimedOut);
            }
            if now.wrapping_sub(start) >= waits.polling {
                return None;
            }
            node.rests_until.store(now.wrapping_add(pause), Ordering::Relaxed);
            now = pause_until_told(waiting, now, pause);
            pause = (pause * 2).min(waits.long);
        }
    }

    /// Wakes the oldest parked thread, if that is due.
    fn rotate(&self, waiting: &Waiting<'_, P>, now: usize) {
        // spec: Mutex!Rotate
        let guard = waiting.bucket.lock();
        if let Some(word) = roles::rotate(&guard, self.address(), now) {
            drop(guard);
            // spec: Mutex!FutexWake
            P::futex_wake(word, 1);
        }
    }

    /// Asks unlocks to wake the caller, or to hand it the lock if it is overdue, and sleeps. `None` if that could not be
    /// asked, after a nap.
    fn ask(
        &self,
        waiting: &Waiting<'_, P>,
        waits: &Waits,
        heir_since: usize,
    ) -> Option<Watched> {
        let now = P::ticks() as usize;
        let is_overdue = now.wrapping_sub(heir_since) >= P::ticks_in(OVERDUE_NANOS);
        let request = if is_overdue { Request::Hand } else { Request::Wake };
        // spec: Mutex!Ask
        if !roles::ask(&waiting.bucket.lock(), waiting.node, request) {
            nap(waiting, waits.tenure);
            return None;
        }
        self.sleep_until_asked(waiting, waits)
    }

    /// Sleeps after the caller's request was stored.
    ///
    /// It is Dekker's pattern: an unlock clears the lock and then reads the request, and the caller stores the request and
    /// then tries the lock. The unlock has no fence, so the caller owes a heavy one before it sleeps for long (Dave Dice,
    /// Hui Huang and Mingyao Yang, "Asymmetric Dekker Synchronization"). It interrupts every running thread of the
    /// process. So the first sleep is bounded and has a full fence only: the two miss each other only if the unlock's store
    /// was under way just then, and then the caller sleeps until that bound. Most locks are unlocked before.
    fn sleep_until_asked(&self, waiting: &Waiting<'_, P>, waits: &Waits) -> Option<Watched> {
        // spec: Mutex!AskFence
        P::fence(Ordering::SeqCst);
        let mut slice = None;
        loop {
            // spec: Mutex!AskTry
            if !self.is_locked() && self.try_lock() {
                return Some(Watched::Acquired);
            }
            let until = match slice {
                None => P::now().after(ticks_as_duration::<P>(waits.tenure)),
                Some(Slice { end, .. }) => end,
            };
            let until = waiting.deadline.map_or(until, |deadline| deadline.min(until));
            // spec: Mutex!AskSleep
            let slept = P::futex_wait(waiting.node.word(), status::HEIR, Some(until));
            // spec: Mutex!AskWoken
            if waiting.node.status() != status::HEIR {
                return Some(Watched::Told);
            }
            // spec: Mutex!TimeOut
            if waiting.has_timed_out() {
                return Some(Watched::TimedOut);
            }
            if slept == FutexWait::TimedOut {
                slice = Some(self.next_slice(slice));
            }
        }
    }

    /// The caller's next sleep may be long.
    fn next_slice(&self, slice: Option<Slice>) -> Slice {
        match slice {
            None => {
                // spec: Mutex!AskHeavy
                P::heavy_fence();
                Slice::begin::<P>()
            }
            Some(mut slice) => {
                slice.next::<P>();
                slice
            }
        }
    }
}

/// Leaves the lock alone for so many ticks, asleep.
fn nap<P: Host>(waiting: &Waiting<'_, P>, ticks: usize) {
    let now = P::ticks() as usize;
    // A timer may be late by as much.
    waiting.node.rests_until.store(now.wrapping_add(4 * ticks), Ordering::Relaxed);
    let until: Timestamp = P::now().after(ticks_as_duration::<P>(ticks));
    let until = waiting.deadline.map_or(until, |deadline| deadline.min(until));
    // However it ends, the caller looks at its status.
    let _ = P::futex_wait(waiting.node.word(), status::HEIR, Some(until));
    waiting.node.rests_until.store(P::ticks() as usize, Ordering::Relaxed);
}

/// Waits until `ticks` after `start`, or until the caller's status changes; returns when that was.
fn pause_until_told<P: Host>(waiting: &Waiting<'_, P>, start: usize, ticks: usize) -> usize {
    loop {
        let now = P::ticks() as usize;
        if now.wrapping_sub(start) >= ticks || waiting.node.status() != status::HEIR {
            return now;
        }
        P::pause();
    }
}
