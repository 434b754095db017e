//! The condition variable's own byte, waiting, and moving waiters to their mutex.

use core::fmt;

use crate::mutex::{self, RawMutex};
use crate::parking::{Guard, Node, Pair, announce, status};
use crate::platform::{AtomicInt, FutexWait, Host, Ordering, Timestamp};

/// A condition variable for [`RawMutex`], one byte; see the [module](super) for its protocol.
///
/// Waiters of one condition variable may use different mutexes, even at the same time.
#[repr(transparent)]
pub struct RawCondvar<P: Host> {
    pub(super) waited: P::AtomicU8,
}

impl<P: Host> fmt::Debug for RawCondvar<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawCondvar").field("has_waiters", &self.has_waiters()).finish()
    }
}

impl<P: Host> Default for RawCondvar<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Host> RawCondvar<P> {
    /// A condition variable that nobody waits for.
    pub fn new() -> Self {
        Self { waited: AtomicInt::new(0) }
    }

    /// Whether somebody may be waiting.
    ///
    /// Relaxed: a waiter says so before it releases its mutex, so whoever has had that mutex since
    /// sees it.
    #[inline]
    pub fn has_waiters(&self) -> bool {
        self.waited.load(Ordering::Relaxed) != 0
    }

    fn address(&self) -> usize {
        (&raw const self.waited).addr()
    }

    /// Releases the mutex, sleeps until notified or until the deadline, and acquires the mutex
    /// again. Says whether it was notified.
    ///
    /// Does not return spuriously, but the caller's condition may have changed again before it got
    /// the mutex.
    ///
    /// # Safety
    ///
    /// The calling thread owns the mutex.
    pub unsafe fn wait(&self, mutex: &RawMutex<P>, deadline: Option<Timestamp>) -> bool {
        let bucket = P::bucket(self.address());
        let now = P::ticks() as usize;
        let node = Node::<P>::new(self.address(), mutex.byte(), now);
        let budget = P::polling().watch;
        node.cpu.store(P::cpu(), Ordering::Relaxed);
        // spec: Condvar!Link
        let guard = bucket.lock();
        if budget != 0 {
            // Only the newest watches. The one before has had its time, or loses the rest.
            if let Some(before) = guard.newest(self.address()) {
                before.stop_watching(status::PARKED);
            }
            node.word().store(status::WATCHING, Ordering::Relaxed);
        }
        // SAFETY: it is new, and taken out before this function returns.
        unsafe { guard.link(&node) };
        self.waited.store(1, Ordering::Relaxed);
        drop(guard);
        // SAFETY: the caller owns it.
        unsafe { mutex.unlock() };
        // Its address is that of a mutex that this thread will lock again, so it is there.
        P::bucket(mutex.address()).call_on_deck(mutex.address());
        watch(&node, budget);

        let mut deadline = deadline;
        loop {
            // spec: Condvar!Wait
            let status = node.status();
            if status != status::PARKED {
                mutex.wait_woken(&node, status);
                return true;
            }
            if P::futex_wait(node.word(), status::PARKED, deadline) == FutexWait::TimedOut {
                // spec: Condvar!TimeOut
                if self.withdraw(&node) {
                    mutex.lock();
                    return false;
                }
                // Notified at the last moment: what it waits for now has no deadline.
                deadline = None;
            }
        }
    }

    /// Takes a waiter off whose time is over; false if it has been notified before.
    fn withdraw(&self, node: &Node<P>) -> bool {
        let address = self.address();
        // spec: Condvar!Withdraw
        let guard = P::bucket(address).lock();
        // A notifier changes the address under this lock.
        if node.address() != address {
            return false;
        }
        // SAFETY: who has not been notified is linked here.
        unsafe { guard.unlink(node) };
        if guard.oldest(address).is_none() {
            self.waited.store(0, Ordering::Relaxed);
        }
        true
    }

    /// Notifies one waiter; says how many there were, 0 or 1.
    ///
    /// The newest, whose caches are warm and who may still be awake; now and then the oldest, once
    /// that has waited for a millisecond. A load if nobody waits.
    #[inline]
    pub fn notify_one(&self) -> usize {
        // spec: Condvar!HasWaiters
        if self.has_waiters() { self.notify(1) } else { 0 }
    }

    /// Notifies every waiter; says how many there were.
    ///
    /// A load if nobody waits.
    #[inline]
    pub fn notify_all(&self) -> usize {
        // spec: Condvar!HasWaiters
        if self.has_waiters() { self.notify(usize::MAX) } else { 0 }
    }

    #[cold]
    fn notify(&self, most: usize) -> usize {
        let mut moved = 0;
        // One turn unless waiters use different mutexes. The condition variable is not touched
        // after the turn that takes the last waiter off, because that one may free it.
        loop {
            let (more, last) = self.move_waiters(most - moved);
            moved += more;
            if last || moved == most {
                return moved;
            }
        }
    }

    /// Moves at most `most` waiters, all of one mutex. Says how many, and whether none is left.
    fn move_waiters(&self, most: usize) -> (usize, bool) {
        let address = self.address();
        let Some((locks, mutex)) = lock_both::<P>(address) else {
            // Another notifier, or a deadline, was faster.
            return (0, true);
        };
        let (from, to) = (locks.first(), locks.second());
        let now = P::ticks() as usize;
        let (mut moved, mut asleep, mut last) = (0, 0, false);
        while moved < most
            && let Some(node) = next(from, address, now).filter(|node| node.mutex() == mutex)
        {
            // spec: Condvar!Move
            // SAFETY: it is linked in the first bucket.
            unsafe { from.unlink(node) };
            last = from.newest(address).is_none();
            if last {
                // Before it is told: once it may go on, it may free the condition variable.
                self.waited.store(0, Ordering::Relaxed);
            }
            // SAFETY: it is not linked, and the second bucket is its mutex's.
            let linked = unsafe { move_waiter(node, to, now) };
            asleep += usize::from(linked);
            moved += 1;
        }
        // spec: Condvar!EndMoving
        // Without a sleeper the mutex may be gone: who went on deck looks after itself.
        let woken = if asleep != 0 { wake_if_free(to, mutex) } else { None };
        // spec: Condvar!Drop
        drop(locks);
        if let Some(word) = woken {
            // spec: Condvar!WakeChosen
            P::futex_wake(word, 1);
        }
        (moved, last)
    }
}

/// Looks at the caller's own status until it is notified, or for `nanos`. Its own cache line, which
/// nobody else reads: unlike a poll of a lock this disturbs no one.
fn watch<P: Host>(node: &Node<P>, nanos: u32) {
    let start = P::ticks() as usize;
    while node.status() == status::WATCHING {
        P::pause();
        // spec: Condvar!StopWatching
        if (P::ticks() as usize).wrapping_sub(start) >= P::ticks_in(nanos) {
            node.stop_watching(status::PARKED);
        }
    }
}

/// The waiter to notify next: as a lock chooses, the newest, or the oldest if it is its time. Always
/// one of the newest's mutex, whose bucket the caller has locked.
fn next<'a, P: Host>(guard: &'a Guard<'_, P>, address: usize, now: usize) -> Option<&'a Node<P>> {
    let newest = guard.newest(address)?;
    let overdue =
        mutex::overdue(guard, address, now).filter(|oldest| oldest.mutex() == newest.mutex());
    Some(overdue.unwrap_or(newest))
}

/// Moves a waiter of a condition variable to its mutex: on deck if it is awake and nobody else is for
/// that mutex, else among the sleepers. Says whether it is among them.
///
/// # Safety
///
/// The node is linked nowhere, and its mutex's bucket is `to`.
unsafe fn move_waiter<P: Host>(node: &Node<P>, to: &Guard<'_, P>, now: usize) -> bool {
    let address = node.mutex().addr();
    // spec: Condvar!Move
    node.readdress(address, now);
    let marked = node.status() == status::WATCHING && to.bucket().set_on_deck(address).is_ok();
    // spec: Condvar!Tell
    if marked && node.stop_watching(status::ON_DECK) {
        // It may be gone by now.
        return false;
    }
    node.stop_watching(status::PARKED);
    // SAFETY: it is linked nowhere, as the caller promises, and is not told that it is free to go.
    unsafe { to.link(node) };
    to.count_parked(node, mutex::patience::<P>());
    if marked {
        // spec: Condvar!Unmark
        // It went to sleep meanwhile. In the order of a waiter that goes off deck: counted first.
        to.bucket().clear_on_deck();
    }
    true
}

/// The locks of the buckets of the condition variable at `address` and of the mutex of its newest
/// waiter, and that mutex. None if nobody waits.
fn lock_both<P: Host>(address: usize) -> Option<(Pair<'static, P>, *const P::AtomicU8)> {
    // spec: Condvar!LockFirst
    let mut guard = P::bucket(address).lock();
    loop {
        let mutex = guard.newest(address)?.mutex();
        match Pair::extend(guard, P::bucket(mutex.addr())) {
            Ok(locks) => return Some((locks, mutex)),
            Err(locks) => {
                // spec: Condvar!LookAgain
                if locks.first().newest(address)?.mutex() == mutex {
                    return Some((locks, mutex));
                }
                guard = locks.into_first();
            }
        }
    }
}

/// Waiters have just been linked for the mutex: if it is free, nobody's release would find them, so
/// one of them is chosen here. Says whom to wake.
fn wake_if_free<P: Host>(
    guard: &Guard<'_, P>,
    mutex: *const P::AtomicU8,
) -> Option<*const P::AtomicU32> {
    // spec: Condvar!Announce
    announce(guard, mutex.addr());
    // spec: Condvar!LookAtMutex
    // SAFETY: a waiter of the mutex is linked, so the mutex is in use.
    if unsafe { &*mutex }.load(Ordering::Relaxed) != 0 {
        return None;
    }
    // spec: Condvar!Choose
    mutex::choose(guard, mutex)
}
