//! The heir: the one waiting thread that watches the lock. It relies on no other thread until it has placed a request to
//! unlocks.

use core::time::Duration;

use super::parts::Part;
use super::waiting::{Rest, Waiting};
use super::{RawMutex, roles};
use crate::parking::{Request, Slice, has_come, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};
use crate::spin::{Waits, ticks_as_duration};

/// How the heir's watch ended.
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
        let mut pause = match core::mem::replace(&mut waiting.rest, Rest::None) {
            Rest::None => waits.short,
            Rest::Pause => waits.long,
            Rest::Nap => {
                nap(waiting, waits.tenure);
                0
            }
        };
        loop {
            // Only this once: if no request can be placed, only a poll finds that the caller is no longer the heir, or that
            // the lock is free.
            // spec: Mutex!Poll
            let stands_aside = core::mem::take(&mut waiting.stands_aside);
            if !stands_aside && let Some(watched) = self.poll(waiting, &waits, pause) {
                return watched;
            }
            if let Some(watched) = self.ask(waiting, &waits, stands_aside) {
                return watched;
            }
            pause = 0;
        }
    }

    /// Polls for the time of a wake, after a first pause and then ever more rarely. Returns `None` at the end of that time.
    fn poll(&self, waiting: &Waiting<'_, P>, waits: &Waits, first_pause: usize) -> Option<Watched> {
        let node = waiting.node;
        let start = P::ticks() as usize;
        let mut rotation = roles::rotation_due(&waiting.bucket.lock(), self.address(), start);
        let (mut now, mut pause) = (start, first_pause);
        loop {
            node.rests_until.store(now.wrapping_add(pause), Ordering::Relaxed);
            now = pause_until_told(waiting, now, pause);
            if has_come(now, rotation) {
                rotation = self.rotate(waiting, now);
            }
            // spec: Mutex!Poll
            if node.status() != status::HEIR {
                return Some(Watched::Told);
            }
            // spec: Mutex!PollTry
            if self.try_lock() {
                return Some(Watched::Acquired);
            }
            if waiting.has_timed_out() {
                return Some(Watched::TimedOut);
            }
            if now.wrapping_sub(start) >= waits.polling {
                return None;
            }
            pause = (pause * 2).clamp(waits.short, waits.long);
        }
    }

    /// Wakes the oldest parked thread if that is due. Returns when the next one is due.
    fn rotate(&self, waiting: &Waiting<'_, P>, now: usize) -> usize {
        // spec: Mutex!Rotate
        let guard = waiting.bucket.lock();
        let (wake, next) = roles::rotate(&guard, self.address(), now);
        drop(guard);
        if let Some(word) = wake {
            // spec: Mutex!FutexWake
            P::futex_wake(word, 1);
        }
        next
    }

    /// Asks unlocks to wake the caller, and sleeps. Returns `None` after a nap if no request could be placed.
    ///
    /// If the heir was woken and found the lock taken again, it asks for a handoff: the owner locks again before a woken
    /// thread can run, and could otherwise keep the lock without limit. After that request the heir stays awake for the time
    /// of a wake, because a lock that was handed off rests until the heir runs. An heir that stands aside sleeps at once.
    fn ask(&self, waiting: &Waiting<'_, P>, waits: &Waits, stands_aside: bool) -> Option<Watched> {
        let is_overdue = waiting.was_woken_in_vain && Part::Handoff.is_in();
        let request = if is_overdue { Request::Hand } else { Request::Wake };
        let awake = if is_overdue && !stands_aside { waits.polling } else { 0 };
        // spec: Mutex!Ask
        if !roles::ask(&waiting.bucket.lock(), waiting.node, request) {
            nap(waiting, waits.tenure);
            return None;
        }
        self.sleep_until_asked(waiting, waits, awake)
    }

    /// Sleeps after the caller has stored its request.
    ///
    /// This is Dekker's pattern: an unlock clears the lock and then reads the request, and the caller stores the request and
    /// then tries the lock. The unlock has no fence, so the caller makes a heavy one before it sleeps for long (Dave Dice,
    /// Hui Huang and Mingyao Yang, "Asymmetric Dekker Synchronization"). Before its shorter sleeps it makes only a full
    /// fence. Then the two can miss each other if the unlock's store was under way at that moment, and the caller sleeps
    /// until that short sleep ends. Most locks are unlocked before the heavy fence is due.
    ///
    /// Before its first sleep the caller stays awake for `awake` ticks.
    fn sleep_until_asked(
        &self,
        waiting: &Waiting<'_, P>,
        waits: &Waits,
        awake: usize,
    ) -> Option<Watched> {
        // spec: Mutex!AskFence
        P::fence(Ordering::SeqCst);
        let (mut awake, mut sleep) = (awake, Sleep::Tenure);
        loop {
            // spec: Mutex!AskTry
            if !self.is_locked() && self.try_lock() {
                return Some(Watched::Acquired);
            }
            let slept = if awake == 0 {
                sleep.as_heir(waiting, waits)
            } else {
                pause_until_told(waiting, P::ticks() as usize, core::mem::take(&mut awake));
                FutexWait::Woken
            };
            // spec: Mutex!AskWoken
            if waiting.node.status() != status::HEIR {
                return Some(Watched::Told);
            }
            // spec: Mutex!TimeOut
            if waiting.has_timed_out() {
                return Some(Watched::TimedOut);
            }
            if slept == FutexWait::TimedOut {
                sleep = sleep.next::<P>();
            }
        }
    }
}

/// The longest sleep of an heir that has made no heavy fence.
///
/// The fence interrupts every running thread of the process. In a virtual machine it also waits for CPUs that the host has
/// taken away: beside one busy thread it took 34 µs in the median and 6 ms once in a hundred times (Xeon, 2 virtual CPUs).
const WITHOUT_A_FENCE: Duration = Duration::from_millis(1);

/// The sleeps of an heir that has stored a request, in this order.
#[derive(Clone, Copy)]
enum Sleep {
    Tenure,
    Millisecond,
    /// After a heavy fence.
    Slice(Slice),
}

impl Sleep {
    /// Returns the next sleep, after one that has timed out.
    fn next<P: Host>(self) -> Self {
        match self {
            Self::Tenure => Self::Millisecond,
            Self::Millisecond => {
                // spec: Mutex!AskHeavy
                P::heavy_fence();
                Self::Slice(Slice::begin::<P>())
            }
            Self::Slice(mut slice) => {
                slice.next::<P>();
                Self::Slice(slice)
            }
        }
    }

    /// Sleeps until the caller's status changes, its deadline passes, or this sleep ends.
    fn as_heir<P: Host>(self, waiting: &Waiting<'_, P>, waits: &Waits) -> FutexWait {
        let until = match self {
            Self::Tenure => P::now().after(ticks_as_duration::<P>(waits.tenure)),
            Self::Millisecond => P::now().after(WITHOUT_A_FENCE),
            Self::Slice(slice) => slice.end,
        };
        let until = waiting.deadline.map_or(until, |deadline| deadline.min(until));
        // spec: Mutex!AskSleep
        P::futex_wait(waiting.node.word(), status::HEIR, Some(until))
    }
}

/// Sleeps for `ticks` without polling the lock.
fn nap<P: Host>(waiting: &Waiting<'_, P>, ticks: usize) {
    let now = P::ticks() as usize;
    // A timer may fire that late.
    waiting.node.rests_until.store(now.wrapping_add(4 * ticks), Ordering::Relaxed);
    let until: Timestamp = P::now().after(ticks_as_duration::<P>(ticks));
    let until = waiting.deadline.map_or(until, |deadline| deadline.min(until));
    // The caller reads its status next, whatever the result.
    let _ = P::futex_wait(waiting.node.word(), status::HEIR, Some(until));
    waiting.node.rests_until.store(P::ticks() as usize, Ordering::Relaxed);
}

/// Waits until `ticks` after `start`, or until the caller's status changes. Returns the time at its end.
fn pause_until_told<P: Host>(waiting: &Waiting<'_, P>, start: usize, ticks: usize) -> usize {
    loop {
        let now = P::ticks() as usize;
        if now.wrapping_sub(start) >= ticks || waiting.node.status() != status::HEIR {
            return now;
        }
        P::pause();
    }
}
