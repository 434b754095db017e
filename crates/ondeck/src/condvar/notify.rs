//! Notifying: which waiter, and what becomes of it.

use super::RawCondvar;
use crate::mutex;
use crate::parking::{Guard, Kind, Node, Pair, status};
use crate::platform::{AtomicInt, Host, Ordering};

impl<P: Host> RawCondvar<P> {
    /// Notifies one waiter; says how many there were, 0 or 1.
    ///
    /// The newest, whose caches are warm and which may still be awake; now and then the oldest, once
    /// that has waited for a millisecond. A load if no thread waits.
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
            let (more, last) = self.notify_some(most - notified);
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

    /// Notifies at most `most` waiters, all of one mutex. Says how many, and whether none is left.
    fn notify_some(&self, most: usize) -> (usize, bool) {
        let address = self.address();
        let Some((locks, mutex)) = lock_both::<P>(address) else {
            // Another notification, or a deadline, was faster.
            return (0, true);
        };
        let (from, to) = (locks.first(), locks.second());
        let now = P::ticks() as usize;
        let (mut notified, mut moved, mut last) = (0, 0, false);
        while notified < most
            && let Some(node) = next(from, address, now).filter(|node| node.mutex() == mutex)
        {
            // spec: Condvar!Notify
            // SAFETY: it is linked in the first bucket.
            unsafe { from.unlink(Kind::Condvar, node) };
            last = from.newest(Kind::Condvar, address).is_none();
            if last {
                // Before it is told: once it may go on, it may free the condition variable.
                self.waited.store(0, Ordering::Relaxed);
            }
            node.readdress(Kind::Lock, mutex.addr(), now);
            // spec: Condvar!Tell
            if !node.leave_near(status::COMPETE) {
                // It sleeps. One that runs may be gone by now.
                // SAFETY: it is not linked, and the second bucket is its mutex's.
                unsafe { move_parked(to, node) };
                moved += 1;
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
        (notified, last)
    }
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

/// The locks of the buckets of the condition variable at `address` and of the mutex of its newest
/// waiter, and that mutex. None if no thread waits.
fn lock_both<P: Host>(address: usize) -> Option<(Pair<'static, P>, *const P::AtomicU8)> {
    // spec: Condvar!LockFirst
    let mut guard = P::bucket(address).lock();
    loop {
        let mutex = guard.newest(Kind::Condvar, address)?.mutex();
        match Pair::extend(guard, P::bucket(mutex.addr())) {
            Ok(locks) => return Some((locks, mutex)),
            Err(locks) => {
                // spec: Condvar!LookAgain
                if locks.first().newest(Kind::Condvar, address)?.mutex() == mutex {
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
