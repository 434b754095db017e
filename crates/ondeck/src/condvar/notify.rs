//! Notifying: which waiter, and what becomes of it.

use super::RawCondvar;
use crate::mutex;
use crate::parking::{Chosen, Guard, Kind, Node, Pair, status};
use crate::platform::{AtomicInt, Host, Ordering};

impl<P: Host> RawCondvar<P> {
    /// Notifies one waiter; says how many there were, 0 or 1.
    ///
    /// The newest, whose caches are warm and which may still be awake; now and then the oldest, once
    /// that has waited for a millisecond. A load if no thread waits.
    ///
    /// In a process that has threads of a real-time scheduling class: of those that sleep the one of the highest
    /// priority, and of several the one that has waited longest. Each notification then looks at all waiters.
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
        // Of all waiters the mutex chooses among those that are moved there, by priority, too.
        let choice = if most == 1 && P::has_real_time_threads() {
            Choice::MostUrgent
        } else {
            Choice::Usual
        };
        let (mut notified, last) = match choice {
            Choice::MostUrgent => (0, false),
            _ => self.notify_near(most),
        };
        if last || notified == most {
            return notified;
        }
        // One turn unless waiters use different mutexes. The condition variable is not touched
        // after the turn that takes the last waiter off, because that one may free it.
        loop {
            let (more, last) = notify_some::<P>(&raw const self.waited, most - notified, choice);
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
            if notified == most || newest.status() != status::NEAR || newest.may_be_due(now) {
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
    /// The one of the highest real-time priority, or as usual if all are ordinary threads.
    MostUrgent,
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
            Self::Usual => Some(newest),
            Self::MostUrgent => most_urgent(guard, address).or(Some(newest)),
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
            Self::MostUrgent => most_urgent(guard, address).or_else(|| next(guard, address, now)),
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
    let Some((locks, mutex)) = lock_both::<P>(address, choice) else {
        // Another notification, or a deadline, was faster.
        return (0, true);
    };
    let (from, to) = (locks.first(), locks.second());
    let now = P::ticks() as usize;
    let (mut notified, mut moved, mut last) = (0, 0, false);
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
                    move_parked(to, node);
                    moved += 1;
                }
            }
        }
        notified += 1;
    }
    // spec: Condvar!EndMoving
    // Without a parked waiter the mutex may be gone: one that runs looks after itself.
    let woken = if moved != 0 { wake_if_free(to, mutex) } else { None };
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
    if !newest.may_be_due(now) {
        return Some(newest);
    }
    let oldest = guard.oldest(Kind::Condvar, address)?;
    let (is_overdue, due) = mutex::is_due_again(oldest, now);
    newest.set_due(due);
    let chosen = is_overdue && oldest.mutex() == newest.mutex();
    Some(if chosen { oldest } else { newest })
}

/// The waiter of the highest real-time priority, if one has any.
fn most_urgent<'a, P: Host>(guard: &'a Guard<'_, P>, address: usize) -> Option<&'a Node<P>> {
    mutex::most_urgent(guard, Kind::Condvar, address)
        .filter(|node| node.priority.load(Ordering::Relaxed) != 0)
}

/// Moves a parked waiter of a condition variable to the queue of its mutex.
///
/// # Safety
///
/// The node is linked nowhere, has the mutex's address, and its mutex's bucket is `to`.
unsafe fn move_parked<P: Host>(to: &Guard<'_, P>, node: &Node<P>) {
    // spec: Condvar!Tell
    let record = to.claim(node.address());
    // SAFETY: as the caller promises.
    unsafe { to.link(Kind::Lock, node) };
    to.count(record, node, mutex::handoff_due(node));
    to.unpin(node);
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

/// Waiters have just been linked for the mutex: if it is free, no unlock would find them, so one of
/// them is chosen here. Says which word to wake it at.
fn wake_if_free<P: Host>(
    guard: &Guard<'_, P>,
    mutex: *const P::AtomicU8,
) -> Option<*const P::AtomicU32> {
    let record = guard.claim(mutex.addr());
    // A full fence, because the waiters' pins keep the record fenced; a heavy one, under the locks,
    // only where a pin could not be had in a bucket that is full.
    // spec: Condvar!Publish
    guard.publish(record, mutex.addr()).complete(record);
    // spec: Condvar!LookAtMutex
    // SAFETY: a waiter of the mutex is linked, so the mutex is in use.
    if unsafe { &*mutex }.load(Ordering::Relaxed) != 0 {
        return None;
    }
    // spec: Condvar!Choose
    mutex::choose(guard, mutex.addr())
}
