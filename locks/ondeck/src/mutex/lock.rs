//! Locking: the attempt, and, if the lock is taken, the wait until the caller owns it.

use super::RawMutex;
use super::heir::nap;
use super::roles::{self, End};
use super::waiting::Waiting;
use crate::observe;
use crate::parking::{
    Arrival, Kind, Node, Slice, TURN_NANOS, end_of_sleep, has_come, place, status,
};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};
use crate::spin::{Waits, wait_for};

/// The longest pause between two attempts of an arriving thread, in transfers of a cache line. With
/// pauses that grow without limit, 1 µs sections whose lengths vary have 0.9 to 0.96 of the
/// throughput, and 0.1 to 0.5 µs ones the same (Xeon, 2 virtual CPUs).
const LONGEST_PAUSE: usize = 4;

/// One of this number of successful attempts is timed.
const TRANSFERS_PER_SAMPLE: u32 = 16;

impl<P: Host> RawMutex<P> {
    /// Waits until the calling thread owns the lock.
    #[inline]
    pub fn lock(&self) {
        if !self.try_lock() {
            let owner = self.lock_slow(None);
            debug_assert!(owner, "without a deadline a wait ends with the lock");
        }
    }

    /// Acquires the lock if it is free. Returns whether it did.
    #[inline]
    pub fn try_lock(&self) -> bool {
        if P::single_threaded() {
            // There is no other thread, so plain accesses suffice. A signal handler that interrupts
            // them unlocks whatever it locks.
            let free = self.locked.load(Ordering::Relaxed) == 0;
            self.locked.store(1, Ordering::Relaxed);
            return free;
        }
        // spec: Mutex!TryLock
        !P::test_and_set(&self.locked, Ordering::Acquire)
    }

    /// As [`lock`](Self::lock), but gives up at the deadline. Returns whether the caller owns the
    /// lock.
    #[inline]
    pub fn try_lock_until(&self, deadline: Timestamp) -> bool {
        self.try_lock() || self.lock_slow(Some(deadline))
    }

    /// Waits for the lock. Returns false if the deadline passes first.
    #[cold]
    #[inline(never)]
    pub(super) fn lock_slow(&self, deadline: Option<Timestamp>) -> bool {
        let bucket = P::bucket(self.address());
        let (now, waits) = (P::ticks() as usize, Waits::now::<P>());
        let history = bucket.history(self.address());
        let arrival = history.map_or(Arrival::Usual, |it| it.note_arrival(now, waits.at_once));
        // The owner of a captured lock is not disturbed.
        let is_tried = arrival == Arrival::Usual && waits.polling != 0;
        if is_tried && bucket.polls.is_worth_it() && self.is_free_soon(now, &waits) {
            return true;
        }
        observe::parks::<P>(self.address());
        let node = Node::<P>::new(Kind::Lock, self.address(), self.byte(), now);
        // Before the bucket is locked: on each CPU the first such query takes some microseconds.
        node.place.store(place::<P>(), Ordering::Relaxed);
        // spec: Mutex!Enter
        let guard = bucket.lock();
        let woken = roles::enter(&guard, &node, arrival == Arrival::Displaced, now);
        drop(guard);
        let mut waiting = Waiting::new(bucket, &node, deadline);
        if let Some(word) = woken {
            // spec: Mutex!FutexWake
            P::futex_wake(word, 1);
            if P::priority() == 0 {
                // The heir only until the woken thread runs.
                let turn = P::ticks_in(TURN_NANOS);
                nap(&waiting, turn + 2 * P::wake_ticks(), turn);
            }
        }
        self.wait(&mut waiting)
    }

    /// Tries the lock, which was taken at the time `now`, again for some transfers of a cache line,
    /// at first ever more rarely. Returns whether the caller is the owner.
    ///
    /// Each attempt is an exchange. A thread that reads first would fetch the line twice: once
    /// shared, and once exclusive.
    fn is_free_soon(&self, now: usize, waits: &Waits) -> bool {
        let polls = &P::bucket(self.address()).polls;
        let (mut at, mut pause) = (now, waits.short);
        while at.wrapping_sub(now) < waits.long {
            at = wait_for::<P>(at, pause);
            // spec: Mutex!ArriveTry
            if self.try_lock() {
                let taken = self.note_taken();
                if P::once_in(TRANSFERS_PER_SAMPLE) {
                    // The line came from the CPU whose store has cleared the lock.
                    P::note_transfer(taken.wrapping_sub(at));
                }
                polls.note(true);
                return true;
            }
            pause = (2 * pause).min(LONGEST_PAUSE * waits.short);
        }
        polls.note(false);
        false
    }

    /// Records that the caller has acquired the lock after it had waited. Returns the time.
    fn note_taken(&self) -> usize {
        let now = P::ticks_ordered() as usize;
        P::bucket(self.address()).history_from(self.address(), now).note_taken(now);
        now
    }

    /// Waits until the caller, whose node is linked, owns the lock. Returns false if the deadline
    /// passes first. When this returns, the node is unlinked.
    pub(super) fn wait(&self, waiting: &mut Waiting<'_, P>) -> bool {
        loop {
            let end = match waiting.node.status() {
                status::HEIR => self.watch(waiting),
                // spec: Mutex!Told
                status::WOKEN => self.land(waiting),
                // spec: Mutex!Told
                status::OFFERED => Some(End::Offered),
                _ => sleep(waiting),
            };
            if let Some(end) = end {
                if end != End::TimedOut {
                    // First of all: the displaced owner may come back at once.
                    self.note_taken();
                }
                if let Some(is_owner) = leave(waiting, end) {
                    return is_owner;
                }
            }
        }
    }

    /// Tries the lock on behalf of the woken caller, which becomes the heir if the lock is taken.
    fn land(&self, waiting: &mut Waiting<'_, P>) -> Option<End> {
        let node = waiting.node;
        let now = P::ticks() as usize;
        node.note_wake(now);
        waiting.slice = None;
        if !waiting.is_captured(now) {
            // spec: Mutex!LandTry
            if self.try_lock() {
                return Some(End::Acquired);
            }
            waiting.is_overdue = true;
        }
        roles::land(&waiting.bucket.lock(), node, now);
        None
    }
}

/// Sleeps as a parked thread until it is woken, its deadline passes, or its slice ends.
fn sleep<P: Host>(waiting: &mut Waiting<'_, P>) -> Option<End> {
    let (node, now, is_first) = (waiting.node, P::ticks() as usize, waiting.slice.is_none());
    if is_first {
        let priority = P::priority();
        if priority != 0 {
            roles::go_first(&waiting.bucket.lock(), node, priority, now);
        }
    }
    let slice = waiting.slice.get_or_insert_with(Slice::begin::<P>);
    let mut until = end_of_sleep(waiting.deadline, Some(*slice));
    let kept_until = node.rests_until.load(Ordering::Relaxed);
    let is_kept = (1..=P::ticks_in(2 * TURN_NANOS)).contains(&kept_until.wrapping_sub(now));
    if is_kept || is_first && waiting.is_captured(now) {
        // The thread that has the next turn may get no CPU: then the caller has it. If it was never
        // woken, it has come then.
        let turn = node.woken.load(Ordering::Relaxed).wrapping_add(P::ticks_in(TURN_NANOS));
        let look = if is_kept { kept_until } else { turn }.wrapping_add(2 * P::wake_ticks());
        let soon = if has_come(now, look) { 0 } else { look.wrapping_sub(now) };
        until = until.map(|until| until.min(waiting.after(soon)));
    }
    // spec: Mutex!Sleep
    if P::futex_wait(node.word(), status::PARKED, until) != FutexWait::TimedOut {
        return None;
    }
    // spec: Mutex!TimeOut
    if waiting.has_timed_out() {
        return Some(End::TimedOut);
    }
    if let Some(slice) = &mut waiting.slice
        && P::now() >= slice.end
    {
        slice.next::<P>();
    }
    // The heir or the woken thread may get no CPU.
    let guard = waiting.bucket.lock();
    if node.status() == status::PARKED {
        // spec: Mutex!Rescue
        roles::take_role(&guard, node, P::ticks() as usize);
    }
    None
}

/// Ends the caller's wait. Returns whether the caller is the owner: it is also if the lock was
/// offered to it as its deadline passed. Returns `None` if the lock is no longer offered to it.
fn leave<P: Host>(waiting: &Waiting<'_, P>, end: End) -> Option<bool> {
    let guard = waiting.bucket.lock();
    let left = roles::leave(&guard, waiting.node, end, P::ticks() as usize);
    drop(guard);
    let (is_owner, wake) = left?;
    if let Some(word) = wake {
        // spec: Mutex!FutexWake
        P::futex_wake(word, 1);
    }
    Some(is_owner)
}
