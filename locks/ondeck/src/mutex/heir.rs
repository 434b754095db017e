//! The heir: the one waiting thread that watches the lock. It relies on no other thread until it
//! has placed a request to unlocks.

use core::time::Duration;

use super::RawMutex;
use super::roles::{self, End};
use super::waiting::Waiting;
use crate::parking::{History, Node, Request, Slice, has_come, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering};
use crate::spin::{Waits, wait_for};

/// The most naps in which an heir sits out a turn: each is twice as long as the one before, and the
/// first lasts 4 µs or more.
const NAPS_OF_A_TURN: u32 = 8;

impl<P: Host> RawMutex<P> {
    /// Watches the lock as the heir. Returns `None` when the caller's status has changed.
    pub(super) fn watch(&self, waiting: &mut Waiting<'_, P>) -> Option<End> {
        let waits = Waits::now::<P>();
        let mut pause = waits.short;
        while waiting.node.status() == status::HEIR {
            let now = P::ticks() as usize;
            let captured = waiting.bucket.history(self.address()).filter(|it| it.is_captured(now));
            let end = match captured {
                Some(history) => self.sit_out_turn(waiting, &waits, history),
                None if waiting.bucket.polls.is_worth_it() => self.poll(waiting, &waits, pause),
                None => None,
            };
            let end = end.or_else(|| self.ask(waiting, &waits));
            if end.is_some() {
                return end;
            }
            pause = 0;
        }
        None
    }

    /// Leaves a captured lock to its owner until the owner's turn ends, and naps meanwhile. Then
    /// the caller is overdue. Returns `None` at the end of the turn, or if the caller's status has
    /// changed.
    ///
    /// Each nap is twice as long as the one before. Between two naps the caller looks whether the
    /// owner has gone.
    fn sit_out_turn(
        &self,
        waiting: &mut Waiting<'_, P>,
        waits: &Waits,
        history: &History<P>,
    ) -> Option<End> {
        let (mut ticks, end) = (waits.tenure, history.end_of_turn());
        // A few naps fill a turn, unless the counter of ticks began again.
        for _ in 0..NAPS_OF_A_TURN {
            if waiting.node.status() != status::HEIR {
                return None;
            }
            // spec: Mutex!PollTry
            if self.is_left_free(waiting.node, waits, history) && self.try_lock() {
                return Some(End::Acquired);
            }
            if waiting.has_timed_out() {
                return Some(End::TimedOut);
            }
            // A nap ends about as late as a wake.
            let now = (P::ticks() as usize).wrapping_add(waits.wake);
            if has_come(now, end) {
                break;
            }
            let nap_ticks = ticks.min(end.wrapping_sub(now));
            // A timer may fire that late.
            nap(waiting, nap_ticks, nap_ticks + 4 * waits.wake);
            ticks = ticks.saturating_mul(2);
        }
        waiting.is_overdue = true;
        None
    }

    /// Returns whether the lock stays free for a long pause: its owner has gone. Records what the
    /// caller, whose node this is, sees first.
    ///
    /// Each look takes the line from an owner that is still there, which continues when it has the
    /// line back. With equal pauses all looks would see the same moment of its section or the same
    /// moment after it, so the pauses grow.
    fn is_left_free(&self, node: &Node<P>, waits: &Waits, history: &History<P>) -> bool {
        let start = P::ticks() as usize;
        let is_locked = self.is_locked();
        history.note_look(is_locked, P::cpus() > 2 && !node.is_alone(), start);
        if is_locked {
            return false;
        }
        let (mut now, mut pause) = (P::ticks_ordered() as usize, waits.at_once);
        // The owner's CPU had the line.
        P::note_transfer(now.wrapping_sub(start));
        while now.wrapping_sub(start) < waits.long {
            now = wait_for::<P>(now, pause);
            pause += pause / 4;
            if self.is_locked() {
                return false;
            }
        }
        true
    }

    /// Polls for the time of a wake, after a first pause and then ever more rarely. Returns `None`
    /// at the end of that time, or if the caller's status has changed.
    fn poll(&self, waiting: &Waiting<'_, P>, waits: &Waits, first_pause: usize) -> Option<End> {
        let node = waiting.node;
        let start = P::ticks() as usize;
        let (mut now, mut pause) = (start, first_pause);
        loop {
            node.rests_until.store(now.wrapping_add(pause), Ordering::Relaxed);
            now = pause_until_told(waiting, now, pause);
            // spec: Mutex!Poll
            if node.status() != status::HEIR {
                return None;
            }
            // spec: Mutex!PollTry
            if self.try_lock() {
                waiting.bucket.polls.note(true);
                return Some(End::Acquired);
            }
            if waiting.has_timed_out() {
                return Some(End::TimedOut);
            }
            if now.wrapping_sub(start) >= waits.polling {
                waiting.bucket.polls.note(false);
                return None;
            }
            pause = (pause * 2).clamp(waits.short, waits.long);
        }
    }

    /// Asks unlocks to wake the caller, and sleeps. Returns `None` if the caller's status has
    /// changed.
    ///
    /// If the heir was woken and found the lock taken again, it asks for the lock: the owner locks
    /// again before a woken thread can run, and could otherwise keep the lock without limit. After
    /// that request the heir stays awake for the time of a wake, because a lock that was offered
    /// rests until the heir runs.
    fn ask(&self, waiting: &Waiting<'_, P>, waits: &Waits) -> Option<End> {
        let (request, awake) =
            if waiting.is_overdue { (Request::Offer, waits.polling) } else { (Request::Wake, 0) };
        let awake = if waiting.bucket.polls.is_worth_it() { awake } else { 0 };
        // spec: Mutex!Ask
        if roles::ask(&waiting.bucket.lock(), waiting.node, request) {
            self.sleep_until_asked(waiting, awake)
        } else {
            None
        }
    }

    /// Sleeps after the caller has stored its request.
    ///
    /// This is Dekker's pattern: an unlock clears the lock and then reads the request, and the
    /// caller stores the request and then tries the lock. The unlock has no fence, so the caller
    /// makes a heavy one before it sleeps for long (Dave Dice, Hui Huang and Mingyao Yang,
    /// "Asymmetric Dekker Synchronization"). Before its shorter sleeps it makes only a full fence.
    /// Then the two can miss each other if the unlock's store was under way at that moment, and the
    /// caller sleeps until that short sleep ends. Most locks are unlocked before the heavy fence is
    /// due.
    ///
    /// Before its first sleep the caller stays awake for `awake` ticks.
    fn sleep_until_asked(&self, waiting: &Waiting<'_, P>, awake: usize) -> Option<End> {
        // spec: Mutex!AskFence
        P::fence(Ordering::SeqCst);
        let (mut awake, mut sleep) = (awake, Sleep::Millisecond);
        // The owner of a captured lock offers it: that shows for how long it is outside of its
        // sections.
        let mut is_left_alone = awake != 0 && waiting.is_captured(P::ticks() as usize);
        loop {
            // spec: Mutex!AskTry
            if !core::mem::take(&mut is_left_alone) && !self.is_locked() && self.try_lock() {
                return Some(End::Acquired);
            }
            let slept = if awake == 0 {
                sleep.as_heir(waiting)
            } else {
                pause_until_told(waiting, P::ticks() as usize, core::mem::take(&mut awake));
                FutexWait::Woken
            };
            // spec: Mutex!AskWoken
            if waiting.node.status() != status::HEIR {
                return None;
            }
            // spec: Mutex!TimeOut
            if waiting.has_timed_out() {
                return Some(End::TimedOut);
            }
            if slept == FutexWait::TimedOut {
                sleep = sleep.next::<P>();
            }
        }
    }
}

/// The longest sleep of an heir that has made no heavy fence.
///
/// The fence interrupts every running thread of the process. In a virtual machine it also waits for
/// CPUs that the host has taken away: beside one busy thread it took 34 µs in the median and 6 ms
/// once in a hundred times (Xeon, 2 virtual CPUs).
const WITHOUT_A_FENCE: Duration = Duration::from_millis(1);

/// The sleeps of an heir that has stored a request, in this order.
#[derive(Clone, Copy)]
enum Sleep {
    Millisecond,
    /// After a heavy fence.
    Slice(Slice),
}

impl Sleep {
    /// Returns the next sleep, after one that has timed out.
    fn next<P: Host>(self) -> Self {
        match self {
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
    fn as_heir<P: Host>(self, waiting: &Waiting<'_, P>) -> FutexWait {
        let until = match self {
            Self::Millisecond => P::now().after(WITHOUT_A_FENCE),
            Self::Slice(slice) => slice.end,
        };
        let until = waiting.deadline.map_or(until, |deadline| deadline.min(until));
        // spec: Mutex!AskSleep
        P::futex_wait(waiting.node.word(), status::HEIR, Some(until))
    }
}

/// Sleeps for `ticks` without polling the lock. After `rest` ticks other threads take the caller
/// for lost.
pub(super) fn nap<P: Host>(waiting: &Waiting<'_, P>, ticks: usize, rest: usize) {
    let rests_until = (P::ticks() as usize).wrapping_add(rest);
    waiting.node.rests_until.store(rests_until, Ordering::Relaxed);
    // The caller reads its status next, whatever the result.
    let _ = P::futex_wait(waiting.node.word(), status::HEIR, Some(waiting.after(ticks)));
    waiting.node.rests_until.store(P::ticks() as usize, Ordering::Relaxed);
}

/// Waits until `ticks` after `start`, or until the caller's status changes. Returns the time at its
/// end.
fn pause_until_told<P: Host>(waiting: &Waiting<'_, P>, start: usize, ticks: usize) -> usize {
    loop {
        let now = P::ticks() as usize;
        if now.wrapping_sub(start) >= ticks || waiting.node.status() != status::HEIR {
            return now;
        }
        P::pause();
    }
}
