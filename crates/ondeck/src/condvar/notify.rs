//! Notifying: which waiter, and what becomes of it.

use super::{OVERDUE_NANOS, RawCondvar};
use crate::mutex::roles;
use crate::parking::{Chosen, Guard, Kind, Node, Pair, has_come, status};
use crate::platform::{AtomicInt, Host, Ordering};

impl<P: Host> RawCondvar<P> {
    /// Notifies one waiter; says how many there were, 0 or 1.
    ///
    /// The newest, whose caches are warm and which may still be awake; now and then the oldest, once
    /// that has waited for a millisecond. A load if no thread waits.
    ///
    /// Of sleeping threads of a real-time scheduling class the one of the highest priority comes first, and of several the
    /// one that has waited longest.
    #[inline]
    pub fn notify_one(&self) -> usize {
        // spec: Condvar!HasWaiters
        if self.has_waiters() { self.notify(1) } else { 0 }
    }

    /// Notifies every waiter; says how many there were.
    ///
    /// A load if no thread waits. Where waiters use several mutexes it is a step for each: a thread that
    /// begins to wait in between is notified, too.
    #[inline]
    pub fn notify_all(&self) -> usize {
        // spec: Condvar!HasWaiters
        if self.has_waiters() { self.notify(usize::MAX) } else { 0 }
    }

    #[cold]
    fn notify(&self, most: usize) -> usize {
        let (mut notified, last) = self.notify_near(most);
        if last || notified == most {
            return notified;
        }
        // One turn unless waiters use different mutexes. The condition variable is not touched
        // after the turn that takes the last waiter off, because that one may free it.
        loop {
            let (more, last) =
                notify_some::<P>(&raw const self.waited, most - notified, Choice::Usual);
            notified += more;
            if last || notified == most {
                return notified;
            }
        }
    }

    /// Notifies at most `most` of the newest waiters, as long as they are near, for which their mutex's
    /// bucket is not needed. Says how many, and whether no waiter is left.
    fn notify_near(&self, most: usize) -> (usize, bool) {
        let address = self.address();
        // spec: Condvar!LockNear
        let guard = P::bucket(address).lock();
        let mut notified = 0;
        loop {
            let Some(newest) = guard.newest(Kind::Condvar, address) else {
                return (notified, true);
            };
            let now = P::ticks() as usize;
            // spec: Condvar!EndNear
            let is_near = newest.status() == status::NEAR && !has_urgent(&guard, address);
            if notified == most || !is_near || newest.may_be_due(now) {
                return (notified, false);
            }
            // spec: Condvar!NotifyNear
            // SAFETY: it is linked.
            unsafe { guard.unlink(Kind::Condvar, newest) };
            if guard.newest(Kind::Condvar, address).is_none() {
                // Before it is told: once it may go on, it may free the condition variable.
                self.waited.store(0, Ordering::Relaxed);
            }
            newest.readdress(Kind::Lock, newest.mutex().addr(), now);
            // spec: Condvar!TellNear
            // It is near still, because a waiter parks under this lock. It may be gone from here on.
            newest.tell(status::COMPETE);
            notified += 1;
        }
    }
}

/// Which waiters a turn of a notification is for.
#[derive(Clone, Copy)]
pub(super) enum Choice {
    /// Those that a notification prefers.
    Usual,
    /// The oldest ones, of this series only.
    OldestOf(usize),
}

impl Choice {
    /// The waiter whose mutex the turn is for.
    fn first_waiter<'a, P: Host>(
        self,
        guard: &'a Guard<'_, P>,
        address: usize,
    ) -> Option<&'a Node<P>> {
        let newest = guard.newest(Kind::Condvar, address)?;
        match self {
            Self::Usual if has_urgent(guard, address) => guard.oldest(Kind::Condvar, address),
            Self::Usual => Some(newest),
            Self::OldestOf(series) if newest.series() == series => {
                guard.oldest(Kind::Condvar, address)
            }
            Self::OldestOf(_) => None,
        }
    }

    /// The waiter to notify next.
    fn next_waiter<'a, P: Host>(
        self,
        guard: &'a Guard<'_, P>,
        address: usize,
        now: usize,
    ) -> Option<&'a Node<P>> {
        match self {
            Self::Usual => next(guard, address, now),
            Self::OldestOf(_) => self.first_waiter(guard, address),
        }
    }
}

/// Notifies at most `most` waiters, all of one mutex or all without one, of the condition variable whose
/// byte is `waited`. Says how many, and whether none is left.
///
/// With [`Choice::OldestOf`] the condition variable may be gone.
pub(super) fn notify_some<P: Host>(
    waited: *const P::AtomicU8,
    most: usize,
    choice: Choice,
) -> (usize, bool) {
    let address = waited.addr();
    let may_lend = roles::may_lend::<P>();
    let Some((locks, mutex)) = lock_both::<P>(address, choice) else {
        // Another notification, or a deadline, was faster.
        return (0, true);
    };
    let (from, to) = (locks.first(), locks.second());
    let now = P::ticks() as usize;
    let (mut notified, mut moved, mut last) = (0, roles::Moved::None, false);
    let mut foreign = Chosen::new();
    while notified < most
        && let Some(node) =
            choice.next_waiter(from, address, now).filter(|node| node.mutex() == mutex)
    {
        // spec: Condvar!Notify
        // SAFETY: it is linked in the first bucket.
        unsafe { from.unlink(Kind::Condvar, node) };
        last = from.newest(Kind::Condvar, address).is_none();
        if last {
            // Before it is told: once it may go on, it may free the condition variable.
            // SAFETY: a waiter that has not been told is still at the condition variable: at this one,
            // because it is of the same series as the caller's, if the caller is a waiter.
            unsafe { &*waited }.store(0, Ordering::Relaxed);
        }
        node.readdress(Kind::Lock, mutex.addr(), now);
        // spec: Condvar!Tell
        if !node.leave_near(status::COMPETE) {
            // It sleeps. One that runs may be gone by now.
            // SAFETY: it is not linked, and the second bucket is its mutex's, if it has one. If not, it
            // does not leave before it was told.
            unsafe {
                if mutex.is_null() {
                    foreign.push(node);
                } else {
                    roles::admit(to, node, now);
                    moved = moved.and(node);
                }
            }
        }
        notified += 1;
    }
    // spec: Condvar!EndMoving
    // Without a parked waiter the mutex may be gone: one that runs looks after itself.
    let woken = roles::look_after_moved(to, &moved, may_lend, now);
    // spec: Condvar!Drop
    drop(locks);
    if let Some(word) = woken {
        // spec: Condvar!FutexWake
        P::futex_wake(word, 1);
    }
    foreign.wake();
    (notified, last)
}

/// The waiter to notify next: as a lock chooses, the newest, or the oldest if it is its time. Always
/// one of the newest's mutex, whose bucket the caller has locked.
fn next<'a, P: Host>(guard: &'a Guard<'_, P>, address: usize, now: usize) -> Option<&'a Node<P>> {
    let newest = guard.newest(Kind::Condvar, address)?;
    let oldest = guard.oldest(Kind::Condvar, address)?;
    if has_urgent(guard, address) {
        return Some(oldest);
    }
    if !newest.may_be_due(now) {
        return Some(newest);
    }
    let due = oldest.since.load(Ordering::Relaxed).wrapping_add(P::ticks_in(OVERDUE_NANOS));
    let is_overdue = has_come(now, due);
    newest.set_due(if is_overdue { now.wrapping_add(P::ticks_in(OVERDUE_NANOS)) } else { due });
    let chosen = is_overdue && oldest.mutex() == newest.mutex();
    Some(if chosen { oldest } else { newest })
}

/// Whether a real-time thread sleeps there: it is then linked as the oldest.
fn has_urgent<P: Host>(guard: &Guard<'_, P>, address: usize) -> bool {
    let oldest = guard.oldest(Kind::Condvar, address);
    oldest.is_some_and(|oldest| oldest.priority.load(Ordering::Relaxed) != 0)
}

/// The locks of the buckets of the condition variable at `address` and of the mutex of the first waiter to
/// notify, and that mutex. None if there is no such waiter. A waiter without a mutex needs one lock only.
fn lock_both<P: Host>(
    address: usize,
    choice: Choice,
) -> Option<(Pair<'static, P>, *const P::AtomicU8)> {
    let bucket = P::bucket(address);
    // spec: Condvar!LockFirst
    let mut guard = bucket.lock();
    loop {
        let mutex = choice.first_waiter(&guard, address)?.mutex();
        let second = if mutex.is_null() { bucket } else { P::bucket(mutex.addr()) };
        match Pair::extend(guard, second) {
            Ok(locks) => return Some((locks, mutex)),
            Err(locks) => {
                // spec: Condvar!LookAgain
                if choice.first_waiter(locks.first(), address)?.mutex() == mutex {
                    return Some((locks, mutex));
                }
                guard = locks.into_first();
            }
        }
    }
}
