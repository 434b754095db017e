//! The heir: the one waiting thread that watches the lock. It relies on no other thread until it has asked unlocks for the
//! lock.

use core::time::Duration;

use super::parts::Part;
use super::waiting::{Rest, Waiting};
use super::{RawMutex, roles};
use crate::parking::{Request, Slice, has_come, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};
use crate::spin::{Waits, ticks_as_duration};

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
        let mut pause = match core::mem::replace(&mut waiting.rest, Rest::None) {
            Rest::None => waits.short,
            Rest::Pause => waits.long,
            Rest::Nap => {
                nap(waiting, waits.tenure);
                0
            }
        };
        loop {
            // Not for good: a poll is what finds that the caller is no longer the heir, or that the lock is free, if nothing
            // can be asked.
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

    /// Polls for as long as a wake takes, after a first pause and then ever more rarely. `None` after that time.
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

    /// Wakes the oldest parked thread, if that is due. Returns when to look for that again.
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

    /// Asks unlocks to wake the caller, and sleeps. `None` if that could not be asked, after a nap.
    ///
    /// A heir that was woken in vain asks to be handed the lock: its owner takes it again before a thread can wake, and would
    /// otherwise have it for as long as it likes. It stays awake for as long as a wake takes, because the lock rests until
    /// it runs. Not so if it stands aside.
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

    /// Sleeps after the caller's request was stored.
    ///
    /// It is Dekker's pattern: an unlock clears the lock and then reads the request, and the caller stores the request and
    /// then tries the lock. The unlock has no fence, so the caller owes a heavy one before it sleeps for long (Dave Dice,
    /// Hui Huang and Mingyao Yang, "Asymmetric Dekker Synchronization"). Before its shorter sleeps it has a full fence only.
    /// The two miss each other only if the unlock's store was under way just then, and then the caller sleeps until the end
    /// of such a sleep. Most locks are unlocked before.
    ///
    /// Before all of that it stays awake for `awake` ticks.
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

/// The longest sleep of a heir that has made no heavy fence.
///
/// The fence interrupts every running thread of the process. In a virtual machine it also waits for CPUs that the host has
/// taken away: beside one busy thread it took 34 µs in the median and 6 ms once in a hundred times (Xeon, 2 virtual CPUs).
const WITHOUT_A_FENCE: Duration = Duration::from_millis(1);

/// The sleeps of a heir that has stored a request, in this order.
#[derive(Clone, Copy)]
enum Sleep {
    Tenure,
    Millisecond,
    /// After a heavy fence.
    Slice(Slice),
}

impl Sleep {
    /// The next sleep, after one that has ended by its time.
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

    /// Sleeps until the caller's status changes, until its deadline, or until the end of this sleep.
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

/// Sleeps for `ticks`, and leaves the lock alone meanwhile.
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
