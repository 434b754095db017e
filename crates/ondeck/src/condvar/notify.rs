//! Notifying: the choice of a waiter, and its way to the mutex.

use super::{OVERDUE_NANOS, RawCondvar};
use crate::mutex::roles;
use crate::parking::{Chosen, Guard, Kind, Node, Pair, has_come, status};
use crate::platform::{AtomicInt, Host, Ordering};

impl<P: Host> RawCondvar<P> {
    /// Notifies one waiter. Returns the number notified, 0 or 1.
    ///
    /// It chooses the newest, whose caches are warm and which may still be awake; now and then the oldest, once that has
    /// waited for a millisecond. If no thread waits, it is a load.
    ///
    /// Among sleeping threads of a real-time scheduling class, the one of the highest priority comes first, and among
    /// several of that priority the one that has waited longest.
    #[inline]
    pub fn notify_one(&self) -> usize {
        // spec: Condvar!HasWaiters
        if self.has_waiters() { self.notify(1) } else { 0 }
    }

    /// Notifies every waiter. Returns the number notified.
    ///
    /// If no thread waits, it is a load. If waiters use several mutexes, it takes one step for each mutex: a thread that
    /// begins to wait between two steps is also notified.
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
        // One turn unless waiters use different mutexes. After the turn that takes the last waiter off, the condition
        // variable is not touched, because that waiter may free it.
        loop {
            let (more, last) =
                notify_some::<P>(&raw const self.waited, most - notified, Choice::Usual);
            notified += more;
            if last || notified == most {
                return notified;
            }
        }
    }

    /// Notifies at most `most` of the newest waiters, as long as they are near. The bucket of their mutex is not needed.
    /// Returns their number, and whether no waiter is left.
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
                // Before its new status is stored: once it may continue, it may free the condition variable.
                self.waited.store(0, Ordering::Relaxed);
            }
            newest.readdress(Kind::Lock, newest.mutex().addr(), now);
            // spec: Condvar!TellNear
            // It is still near, because a waiter parks under this lock. After this it may be gone.
            newest.tell(status::COMPETE);
            notified += 1;
        }
    }
}

/// The waiters that a turn of a notification is for.
#[derive(Clone, Copy)]
pub(super) enum Choice {
    /// The waiters that a notification prefers.
    Usual,
    /// The oldest waiters, of this series only.
    OldestOf(usize),
}

impl Choice {
    /// Returns the waiter whose mutex the turn is for.
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

    /// Returns the waiter to notify next.
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

/// Notifies at most `most` waiters of the condition variable with its byte at `waited`, all of one mutex or all without one.
/// Returns their number, and whether none is left.
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
        // Another notification, or a deadline, came first.
        return (0, true);
    };
    let (from, to) = (locks.first(), locks.second());
    let now = P::ticks() as usize;
    let (mut notified, mut moved, mut last) = (0, (None, 0), false);
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
            // Before its new status is stored: once it may continue, it may free the condition variable.
            // SAFETY: a waiter that has not been notified is still at the condition variable. It is at this one, because it
            // is of the same series as the caller's, if the caller is a waiter.
            unsafe { &*waited }.store(0, Ordering::Relaxed);
        }
        node.readdress(Kind::Lock, mutex.addr(), now);
        // spec: Condvar!Tell
        if !node.leave_near(status::COMPETE) {
            // It sleeps. A waiter that runs may be gone already.
            // SAFETY: it is not linked, and the second bucket is its mutex's, if it has one. If it has none, it does not
            // leave before it is notified.
            unsafe {
                if mutex.is_null() {
                    foreign.push(node);
                } else {
                    roles::admit(to, node, now);
                    moved = (Some(node), moved.1 + 1);
                }
            }
        }
        notified += 1;
    }
    // spec: Condvar!EndMoving
    // If no waiter is parked, the mutex may be gone. A waiter that runs needs no help.
    let woken = moved.0.and_then(|node| {
        roles::look_after_moved(to, node, moved.1 == 1, may_lend, now)
    });
    // spec: Condvar!Drop
    drop(locks);
    if let Some(word) = woken {
        // spec: Condvar!FutexWake
        P::futex_wake(word, 1);
    }
    foreign.wake();
    (notified, last)
}

/// Returns the waiter to notify next, chosen as by a lock: the newest, or the oldest if it is overdue. It always wants the
/// same mutex as the newest, whose bucket the caller has locked.
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

/// Returns whether a real-time thread sleeps there: it is then linked as the oldest.
fn has_urgent<P: Host>(guard: &Guard<'_, P>, address: usize) -> bool {
    let oldest = guard.oldest(Kind::Condvar, address);
    oldest.is_some_and(|oldest| oldest.priority.load(Ordering::Relaxed) != 0)
}

/// Locks the buckets of the condition variable at `address` and of the mutex of the first waiter to notify. Returns the
/// locks and that mutex, or `None` if there is no such waiter. For a waiter without a mutex it locks one bucket only.
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
