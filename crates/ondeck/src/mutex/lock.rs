//! Locking: the attempt, and, if the lock is taken, the wait until the caller owns it.

use super::heir::Watched;
use super::parts::Part;
use super::waiting::{Rest, Waiting};
use super::{RawMutex, roles};
use crate::observe;
use crate::parking::{Kind, Node, Slice, end_of_sleep, place, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};
use crate::spin::{Waits, wait_for};

/// One of this number of successful attempts is timed.
const TRANSFERS_PER_SAMPLE: u32 = 16;

/// How a part of a wait ended.
enum Waited {
    /// The caller has acquired the lock, or its deadline has passed: the wait ends.
    Leave { is_owner: bool },
    /// The caller's status may have changed.
    Look,
}

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
            // There is no other thread, so plain accesses suffice. A signal handler that interrupts them unlocks whatever it
            // locks.
            let free = self.locked.load(Ordering::Relaxed) == 0;
            self.locked.store(1, Ordering::Relaxed);
            return free;
        }
        // spec: Mutex!TryLock
        !P::test_and_set(&self.locked, Ordering::Acquire)
    }

    /// As [`lock`](Self::lock), but gives up at the deadline. Returns whether the caller owns the lock.
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
        let lost = history.filter(|history| history.was_taken_within(now, waits.lost));
        if lost.is_none()
            && let Some(history) = history
        {
            history.note_arrival();
        }
        // The owner of a captured lock is not disturbed.
        let is_captured = history.is_some_and(|history| history.is_captured(now));
        if lost.is_none() && !is_captured && self.is_free_soon(now, &waits) {
            return true;
        }
        let is_captured = lost.is_some_and(|history| history.note_return(now));
        let rest = match lost.filter(|_| is_captured) {
            Some(history) if history.is_left(now) && Part::Pause.is_in() => Rest::Pause,
            Some(_) if Part::Nap.is_in() => Rest::Nap,
            _ => Rest::None,
        };
        observe::parks::<P>(self.address());
        let node = Node::<P>::new(Kind::Lock, self.address(), self.byte(), now);
        // Before the bucket is locked: on each CPU the first such query takes some microseconds.
        node.place.store(place::<P>(), Ordering::Relaxed);
        // spec: Mutex!Enter
        roles::enter(&bucket.lock(), &node, now);
        self.wait(&mut Waiting { rest, ..Waiting::new(bucket, &node, deadline) })
    }

    /// Tries the lock, which was taken at the time `now`, again for some transfers of a cache line, ever more rarely.
    /// Returns whether the caller is the owner.
    ///
    /// Each attempt is an exchange. A thread that reads first would fetch the line twice: once shared, and once exclusive.
    fn is_free_soon(&self, now: usize, waits: &Waits) -> bool {
        if waits.polling == 0 || !Part::Brief.is_in() {
            return false;
        }
        let (mut at, mut pause) = (now, waits.short);
        while at.wrapping_sub(now) < waits.long {
            at = wait_for::<P>(at, pause);
            // spec: Mutex!ArriveTry
            if self.try_lock() {
                if P::once_in(TRANSFERS_PER_SAMPLE) {
                    // The line came from the CPU whose store has cleared the lock.
                    P::note_transfer((P::ticks_ordered() as usize).wrapping_sub(at));
                }
                return true;
            }
            pause *= 2;
        }
        false
    }

    /// Waits until the caller, whose node is linked, owns the lock. Returns false if the deadline passes first. When this
    /// returns, the node is unlinked.
    pub(super) fn wait(&self, waiting: &mut Waiting<'_, P>) -> bool {
        loop {
            let waited = match waiting.node.status() {
                status::HEIR => self.watch_as_heir(waiting),
                // spec: Mutex!Told
                status::WOKEN => self.land(waiting),
                // spec: Mutex!Told
                status::DONE => Waited::Leave { is_owner: true },
                _ => sleep(waiting),
            };
            if let Waited::Leave { is_owner } = waited {
                return leave(waiting, is_owner);
            }
        }
    }

    fn watch_as_heir(&self, waiting: &mut Waiting<'_, P>) -> Waited {
        match self.watch(waiting) {
            Watched::Acquired => {
                // First of all: the displaced owner may come back at once.
                let now = P::ticks() as usize;
                waiting.bucket.history_from(self.address(), now).note_taken(now);
                Waited::Leave { is_owner: true }
            }
            Watched::Told => Waited::Look,
            Watched::TimedOut => Waited::Leave { is_owner: false },
        }
    }

    /// Tries the lock on behalf of the woken caller, which becomes the heir if the lock is taken.
    fn land(&self, waiting: &mut Waiting<'_, P>) -> Waited {
        let node = waiting.node;
        let now = P::ticks() as usize;
        node.note_wake(now);
        waiting.slice = None;
        // spec: Mutex!LandTry
        if self.try_lock() {
            return Waited::Leave { is_owner: true };
        }
        waiting.was_woken_in_vain = true;
        let is_here = node.is_here();
        let is_alone = roles::land(&waiting.bucket.lock(), node, now);
        waiting.stands_aside = is_here && is_alone && Part::Aside.is_in();
        Waited::Look
    }
}

/// Sleeps as a parked thread until it is woken, its deadline passes, or its slice ends.
fn sleep<P: Host>(waiting: &mut Waiting<'_, P>) -> Waited {
    let node = waiting.node;
    if waiting.slice.is_none() {
        let priority = P::priority();
        if priority != 0 {
            roles::go_first(&waiting.bucket.lock(), node, priority, P::ticks() as usize);
        }
    }
    let slice = waiting.slice.get_or_insert_with(Slice::begin::<P>);
    let until = end_of_sleep(waiting.deadline, Some(*slice));
    // spec: Mutex!Sleep
    if P::futex_wait(node.word(), status::PARKED, until) != FutexWait::TimedOut {
        return Waited::Look;
    }
    // spec: Mutex!TimeOut
    if waiting.has_timed_out() {
        return Waited::Leave { is_owner: false };
    }
    if let Some(slice) = &mut waiting.slice {
        slice.next::<P>();
    }
    // The heir or the woken thread may get no CPU.
    let guard = waiting.bucket.lock();
    if node.status() == status::PARKED {
        // spec: Mutex!Rescue
        roles::take_role(&guard, node, P::ticks() as usize);
    }
    Waited::Look
}

/// Ends the caller's wait. Returns whether the caller is the owner: it is also if the lock was handed to it as its deadline
/// passed.
fn leave<P: Host>(waiting: &Waiting<'_, P>, is_owner: bool) -> bool {
    let guard = waiting.bucket.lock();
    let (is_owner, wake) = roles::leave(&guard, waiting.node, is_owner, P::ticks() as usize);
    drop(guard);
    if let Some(word) = wake {
        // spec: Mutex!FutexWake
        P::futex_wake(word, 1);
    }
    is_owner
}
