//! Locking: the attempt, and, if the lock is taken, the wait until it is the caller's.

use super::heir::Watched;
use super::parts::Part;
use super::waiting::{Rest, Waiting};
use super::{RawMutex, roles};
use crate::observe;
use crate::parking::{Kind, Node, Slice, end_of_sleep, place, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};
use crate::spin::{Waits, wait_for};

/// Of this number of attempts that have acquired the lock, one is timed.
const TRANSFERS_PER_SAMPLE: u32 = 16;

/// How a part of a wait has ended.
enum Waited {
    /// The caller has acquired the lock, or its deadline has passed: it leaves.
    Leave { is_owner: bool },
    /// Its status may have changed.
    Look,
}

impl<P: Host> RawMutex<P> {
    /// Waits until the lock is the calling thread's.
    #[inline]
    pub fn lock(&self) {
        if !self.try_lock() {
            let owner = self.lock_slow(None);
            debug_assert!(owner, "without a deadline a wait ends with the lock");
        }
    }

    /// Acquires the lock if it is free; says whether it did.
    #[inline]
    pub fn try_lock(&self) -> bool {
        if P::single_threaded() {
            // There is no other thread, so plain accesses will do. A signal handler in between gives
            // back what it takes.
            let free = self.locked.load(Ordering::Relaxed) == 0;
            self.locked.store(1, Ordering::Relaxed);
            return free;
        }
        // spec: Mutex!TryLock
        !P::test_and_set(&self.locked, Ordering::Acquire)
    }

    /// As [`lock`](Self::lock), but gives up at the deadline; says whether it has the lock.
    #[inline]
    pub fn try_lock_until(&self, deadline: Timestamp) -> bool {
        self.try_lock() || self.lock_slow(Some(deadline))
    }

    /// Waits for the lock; false if the deadline passed before.
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
        // The owner of a captured lock is left alone.
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
        // Before the bucket is locked: on each CPU the first such question takes some microseconds.
        node.place.store(place::<P>(), Ordering::Relaxed);
        // spec: Mutex!Enter
        roles::enter(&bucket.lock(), &node, now);
        self.wait(&mut Waiting { rest, ..Waiting::new(bucket, &node, deadline) })
    }

    /// Found the lock taken at the moment `now`: tries it again for some transfers of a cache line, ever more rarely. Returns
    /// whether the caller is the owner.
    ///
    /// Each attempt is an exchange. A thread that reads first fetches the line twice, once to share and once to own it.
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
                    // The line was that of the CPU whose store has cleared the lock.
                    P::note_transfer((P::ticks_ordered() as usize).wrapping_sub(at));
                }
                return true;
            }
            pause *= 2;
        }
        false
    }

    /// Waits until the lock is the caller's, whose node is linked; false if the deadline passed before. The node is not
    /// linked when this returns.
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
                // Before anything else: the displaced owner may come back at once.
                let now = P::ticks() as usize;
                waiting.bucket.history_from(self.address(), now).note_taken(now);
                Waited::Leave { is_owner: true }
            }
            Watched::Told => Waited::Look,
            Watched::TimedOut => Waited::Leave { is_owner: false },
        }
    }

    /// The caller was woken: tries the lock, and is the heir if it is taken.
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

/// Sleeps as a parked thread, until it is woken, until its deadline, or until the end of a slice.
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
    // The heir, or the thread that was woken, may get no CPU.
    let guard = waiting.bucket.lock();
    if node.status() == status::PARKED {
        // spec: Mutex!Rescue
        roles::take_role(&guard, node, P::ticks() as usize);
    }
    Waited::Look
}

/// Ends the caller's wait. Returns whether it is the owner: also one that was handed the lock as its deadline passed.
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
