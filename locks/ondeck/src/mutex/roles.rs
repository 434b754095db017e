//! The roles of the threads that wait for a mutex, under the lock of its bucket: which thread is
//! the heir, which one was woken, and which one is responsible for the parked ones.
//!
//! All changes of a thread's role are in this file, and all are made under that lock. So all
//! threads agree on which thread is responsible, without a fence, and invariant (2) of the
//! [module](super) is one sentence about a queue.

use core::ptr;

use crate::parking::{
    Distance, Guard, Kind, Node, Request, TURN_NANOS, has_come, is_known, place, status,
};
use crate::platform::{AtomicInt, Host, Ordering};

/// A woken thread that has not run for this time no longer counts as responsible for parked
/// threads, and further threads are woken beside it. It is many times a wake on any machine. On
/// busy CPUs each woken thread waits for a time slice, and further threads would run only to find
/// the lock taken.
const LOST_AFTER_NANOS: u32 = 2 * TURN_NANOS;

/// The number of oldest threads among which a wake looks for a preferred one. On a server with 8
/// last-level caches about four of 32 are near. Simulated with 100/500 ns, 64 to 256 CPUs have 1.0
/// to 1.1 times the throughput with 8, and 1.1 to 1.2 times with 32.
const PASSED_OVER: usize = 32;

/// The word at which to wake a thread, without the bucket's lock.
pub(crate) type Wake<P> = *const <P as crate::platform::Platform>::AtomicU32;

/// How a wait ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The thread has acquired the lock.
    Acquired,
    /// The lock was offered to the thread.
    Offered,
    /// The thread's deadline has passed.
    TimedOut,
}

/// Links the caller's node for the first time. The caller becomes the heir if there is none. If the
/// oldest thread is due, and its wake is under way, the caller leaves the role to it. Returns a
/// thread to wake.
///
/// The displaced owner of a captured lock is about to nap. So it is the one to wake the thread that
/// has the next turn, and the new owner has nothing to do for that. The woken thread takes the role
/// when it runs; if it gets no CPU in time, the caller has the next turn.
pub(super) fn enter<P: Host>(
    guard: &Guard<'_, P>,
    node: &Node<P>,
    is_displaced: bool,
    now: usize,
) -> Option<Wake<P>> {
    node.since.store(now, Ordering::Relaxed);
    // SAFETY: it is new, and its own thread unlinks it before `wait` returns; the node outlives
    // that call.
    unsafe { admit(guard, node, now) };
    let newest = guard.newest(Kind::Lock, node.address())?;
    let is_next_known = newest.heir().is_some();
    let is_oldest_next = newest.may_be_due(now) && is_responsible(guard, node.address(), now);
    if is_displaced || is_next_known || !is_oldest_next {
        take_role(guard, node, now);
    }
    if !is_displaced || is_next_known || has_woken(newest, now) {
        return None;
    }
    // spec: Mutex!Displaced
    next_to(guard, node).map(|next| wake(newest, next, now))
}

/// Makes the linked node the heir if there is none, or if the heir has lost its CPU.
pub(super) fn take_role<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    // spec: Mutex!TakeRole
    match heir(guard, node.address()) {
        Some(other) if !is_lost(guard, other, now) => note_offer(node, other),
        _ => become_heir(guard, node, now),
    }
}

/// Records in the node of a thread that parks until when the lock is kept for the heir, if it was
/// offered to it.
fn note_offer<P: Host>(node: &Node<P>, heir: &Node<P>) {
    let is_offered = heir.status() == status::OFFERED;
    let until = if is_offered { heir.rests_until.load(Ordering::Relaxed) } else { 0 };
    node.rests_until.store(until, Ordering::Relaxed);
}

/// Takes the role from an heir that watches, for the woken caller that has found the lock taken. An
/// heir that sleeps with a request, or has been offered the lock, keeps the role: it will be the
/// next owner.
pub(super) fn land<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    // spec: Mutex!Land
    if node.status() != status::WOKEN {
        return;
    }
    forget_woken(guard, node);
    node.place.store(place::<P>(), Ordering::Relaxed);
    match heir(guard, node.address()) {
        Some(other)
            if (priority(other) > priority(node)
                || priority(other) == priority(node) && has_asked(guard, other)
                || other.status() == status::OFFERED)
                && !is_lost(guard, other, now) =>
        {
            note_offer(node, other);
            node.set_status(status::PARKED);
        }
        _ => become_heir(guard, node, now),
    }
}

/// Makes the linked node the heir, and parks any other heir. If the lock was offered to that one,
/// it is offered to this one.
pub(super) fn become_heir<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    // spec: Mutex!BecomeHeir
    let Some(newest) = guard.newest(Kind::Lock, node.address()) else { return };
    let mut role = status::HEIR;
    if let Some(other) = newest.heir() {
        if other.status() == status::OFFERED {
            role = status::OFFERED;
        }
        // The other thread notices: it reads its status before each attempt and after each sleep.
        other.set_status(status::PARKED);
        // Its pause is over: the lock is not kept for another thread until then.
        other.rests_until.store(0, Ordering::Relaxed);
    }
    // The new heir settles any debt, and a pending request belonged to the old heir.
    guard.withdraw_request(newest);
    newest.set_heir(Some(node));
    node.rests_until.store(now, Ordering::Relaxed);
    node.set_status(role);
}

/// Unlinks the caller's node, because its wait has ended. Returns whether the caller owns the lock,
/// which was perhaps offered to it just before its deadline, and a thread to wake. Returns `None`
/// if the lock is no longer offered to the caller: then its wait goes on.
///
/// If parked threads remain and no thread is responsible for them, an owner leaves a debt to its
/// own unlock. That needs no fence, because the owner reads its own store. A thread that gives up
/// wakes the oldest.
pub(super) fn leave<P: Host>(
    guard: &Guard<'_, P>,
    node: &Node<P>,
    end: End,
    now: usize,
) -> Option<(bool, Option<Wake<P>>)> {
    // spec: Mutex!Leave
    let address = node.address();
    let is_offered = node.status() == status::OFFERED;
    if end == End::Offered && !is_offered {
        return None;
    }
    let is_owner = end == End::Acquired || is_offered;
    let newest = guard.newest(Kind::Lock, address)?;
    if newest.heir().is_some_and(|heir| ptr::eq(heir, node)) {
        newest.set_heir(None);
        guard.withdraw_request(newest);
    }
    forget_woken(guard, node);
    let is_oldest = guard.oldest(Kind::Lock, address).is_some_and(|oldest| ptr::eq(oldest, node));
    if is_owner && is_oldest {
        newest.set_due(now.wrapping_add(P::ticks_in(TURN_NANOS)));
    }
    if ptr::eq(guard.next_older(node), node) {
        // A debt to threads that have given up since.
        guard.withdraw_request(newest);
    }
    // SAFETY: it is linked, as is every node whose thread has not left.
    unsafe { guard.unlink(Kind::Lock, node) };
    let Some(newest) = guard.newest(Kind::Lock, address) else { return Some((is_owner, None)) };
    if is_responsible(guard, address, now) {
        return Some((is_owner, None));
    }
    if is_owner {
        guard.ask(newest, Request::Debt);
        return Some((is_owner, None));
    }
    Some((is_owner, wake_oldest(guard, address, now)))
}

/// Serves the request that an unlock has found after its store: wakes the heir, or the oldest
/// parked thread unless a running thread is responsible. For an heir that asks for the lock,
/// acquires it. If another thread locked first, that thread's unlock serves the request.
pub(super) fn serve<P: Host>(guard: &Guard<'_, P>, address: usize, now: usize) -> Option<Wake<P>> {
    // spec: Mutex!Serve
    let newest = guard.newest(Kind::Lock, address)?;
    let request = newest.request()?;
    match newest.heir() {
        Some(heir) if request == Request::Wake => {
            guard.withdraw_request(newest);
            newest.set_heir(None);
            Some(wake(newest, heir, now))
        }
        Some(heir) if request == Request::Offer => {
            // SAFETY: the heir is linked here, so it waits, and its mutex is live until that wait
            // ends.
            let byte = unsafe { &*heir.mutex() };
            if P::test_and_set(byte, Ordering::Acquire) {
                None
            } else {
                offer(guard, address, false, now)
            }
        }
        _ => {
            guard.withdraw_request(newest);
            look_after(guard, address, now)
        }
    }
}

/// Wakes the oldest parked thread, unless another thread is responsible.
pub(crate) fn look_after<P: Host>(
    guard: &Guard<'_, P>,
    address: usize,
    now: usize,
) -> Option<Wake<P>> {
    // spec: Condvar!LookAfter
    if is_responsible(guard, address, now) {
        return None;
    }
    wake_oldest(guard, address, now)
}

/// Offers the lock, which the caller owns, to the heir if it has requested that, or to the oldest
/// waiter if `unasked`. Returns that thread's word, or `None` if there is no such thread: then the
/// caller still owns the lock.
///
/// That thread may be asleep and get no CPU, or be stopped. So it has the lock only when it runs,
/// and for a turn at most no other thread can have it.
pub(super) fn offer<P: Host>(
    guard: &Guard<'_, P>,
    address: usize,
    unasked: bool,
    now: usize,
) -> Option<Wake<P>> {
    // spec: Mutex!HandOver
    let newest = guard.newest(Kind::Lock, address)?;
    let node = if unasked {
        guard.oldest(Kind::Lock, address)?
    } else {
        newest.heir().filter(|_| newest.request() == Some(Request::Offer))?
    };
    become_heir(guard, node, now);
    forget_woken(guard, node);
    node.set_woken(now);
    node.rests_until.store(now.wrapping_add(P::ticks_in(TURN_NANOS)), Ordering::Relaxed);
    Some(node.tell(status::OFFERED))
}

/// Asks unlocks to wake the heir, or to offer it the lock. Returns false if the caller is no longer
/// the heir.
pub(super) fn ask<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, request: Request) -> bool {
    // spec: Mutex!Ask
    let is_heir = node.status() == status::HEIR;
    if is_heir && let Some(newest) = guard.newest(Kind::Lock, node.address()) {
        guard.ask(newest, request);
    }
    is_heir
}

/// Wakes a thread if one is due, after a notification has moved waiters to the mutex, the last of
/// which has this node.
///
/// A single waiter of a free mutex is woken even if a woken thread has not run yet: the program has
/// work for both. Of several waiters, the first one to run wakes the next.
///
/// A waiter that last ran on the notifier's CPU would often preempt the notifier, which owns the
/// mutex, and sleep again. If `may_lend`, the result of [`may_lend`], it is left to the owner as
/// its debt.
pub(crate) fn look_after_moved<P: Host>(
    guard: &Guard<'_, P>,
    node: &Node<P>,
    is_single: bool,
    may_lend: bool,
    now: usize,
) -> Option<Wake<P>> {
    // SAFETY: the node is linked here, so its thread waits, and its mutex is live until that wait
    // ends.
    let byte = unsafe { &*node.mutex() };
    let is_locked = || byte.load(Ordering::Relaxed) != 0;
    // spec: Condvar!EndMoving
    if is_single && !is_locked() {
        return Some(wake(guard.newest(Kind::Lock, node.address()).unwrap_or(node), node, now));
    }
    if may_lend && node.is_here() && leave_to_owner(guard, node.address(), is_locked, now) {
        return None;
    }
    // Not `now`: a fence may have taken a while.
    look_after(guard, node.address(), P::ticks() as usize)
}

/// Returns whether a notification may leave waiters to the owner of their mutex. Call it before any
/// bucket is locked: the first call in a process may take milliseconds.
///
/// It requires asymmetric fences with a cheap heavy fence: one that costs far less than the wake it
/// saves, and interrupts at most one other CPU because the threads may use only two. The heavy
/// fence is made with the bucket locked, so it is not made where a real-time thread may want that
/// bucket.
pub(crate) fn may_lend<P: Host>() -> bool {
    P::cpus() <= 2
        && P::fences_are_asymmetric()
        && P::heavy_cost_ticks() <= P::wake_ticks() / 4
        && !P::has_real_time_threads()
}

/// Leaves the parked threads to the owner, if the mutex is locked and no other thread is
/// responsible: the owner's unlock wakes the oldest. Returns whether a thread is responsible.
///
/// The owner may be another thread than the caller, and its unlock may be under way: the unlock
/// clears the byte and then reads the debt, and the caller stores the debt and then reads the byte.
/// The unlock has no fence, so the caller makes a heavy one.
fn leave_to_owner<P: Host>(
    guard: &Guard<'_, P>,
    address: usize,
    is_locked: impl Fn() -> bool,
    now: usize,
) -> bool {
    if is_responsible(guard, address, now) {
        return true;
    }
    let Some(newest) = guard.newest(Kind::Lock, address).filter(|_| is_locked()) else {
        return false;
    };
    guard.ask(newest, Request::Debt);
    // spec: Condvar!Lend
    P::heavy_fence();
    if !is_locked() || P::heavy_fences_are_refused() {
        guard.withdraw_request(newest);
        return false;
    }
    true
}

/// Links the node of a thread that a notification has moved to the mutex. The node already has the
/// mutex's address.
///
/// # Safety
///
/// The node is not linked, and this is its mutex's bucket.
pub(crate) unsafe fn admit<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    let is_first = guard.newest(Kind::Lock, node.address()).is_none();
    // SAFETY: as the caller promises; its own thread unlinks it.
    unsafe { link(guard, node) };
    if is_first {
        node.set_due(now.wrapping_add(P::ticks_in(TURN_NANOS)));
    }
}

/// Links a node by its thread's priority, and by age within one priority.
///
/// # Safety
///
/// As for [`Guard::link`].
unsafe fn link<P: Host>(guard: &Guard<'_, P>, node: &Node<P>) {
    // SAFETY: as the caller promises.
    unsafe {
        if priority(node) == 0 {
            guard.link(Kind::Lock, node);
        } else {
            guard.link_by_priority(Kind::Lock, node);
        }
    }
}

/// Moves the parked caller, which is of a real-time class, before all threads of lower priority,
/// the heir included.
pub(super) fn go_first<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, level: u32, now: usize) {
    // spec: Mutex!GoFirst
    if node.status() != status::PARKED {
        return;
    }
    node.priority.store(level, Ordering::Relaxed);
    // SAFETY: a parked thread's node is linked.
    unsafe { guard.move_by_priority(Kind::Lock, node) };
    let heir = heir(guard, node.address());
    if heir.is_none_or(|heir| priority(heir) < level) {
        become_heir(guard, node, now);
    }
}

fn heir<'a, P: Host>(guard: &'a Guard<'_, P>, address: usize) -> Option<&'a Node<P>> {
    guard.newest(Kind::Lock, address)?.heir()
}

/// Returns whether a thread other than the parked ones is responsible for them (2).
fn is_responsible<P: Host>(guard: &Guard<'_, P>, address: usize, now: usize) -> bool {
    // spec: Mutex!IsLookedAfter
    let Some(newest) = guard.newest(Kind::Lock, address) else { return true };
    newest.heir().is_some() || has_woken(newest, now) || newest.request() == Some(Request::Debt)
}

/// Returns whether a thread that was woken a short time before `now` has yet to run.
fn has_woken<P: Host>(newest: &Node<P>, now: usize) -> bool {
    newest.woken_last().is_some_and(|woken| {
        let lost = woken.woken.load(Ordering::Relaxed).wrapping_add(P::ticks_in(LOST_AFTER_NANOS));
        !has_come(now, lost)
    })
}

fn forget_woken<P: Host>(guard: &Guard<'_, P>, node: &Node<P>) {
    if let Some(newest) = guard.newest(Kind::Lock, node.address())
        && newest.woken_last().is_some_and(|woken| ptr::eq(woken, node))
    {
        newest.set_woken_last(None);
    }
}

/// Wakes the oldest parked thread, or, until its turn comes, one of the next oldest that last ran
/// on another CPU. Kernels wake a thread on the CPU where it ran last. If that is the waker's CPU,
/// it is busy with the waker: the woken thread would wait there for a time slice while another CPU
/// may be idle.
///
/// Of these, the nearest to the waker is preferred, so that the lock and its data stay with one
/// last-level cache or NUMA node for longer. They move on with the oldest thread (Milind Chabbi and
/// others, "High Performance Locks for Multi-level NUMA Systems", for queues).
fn wake_oldest<P: Host>(guard: &Guard<'_, P>, address: usize, now: usize) -> Option<Wake<P>> {
    let newest = guard.newest(Kind::Lock, address)?;
    // spec: Mutex!WakeOldest
    let oldest = parked(guard, address).next()?;
    if priority(oldest) == 0
        && !newest.may_be_due(now)
        && let Some(node) = nearest_elsewhere(parked(guard, address))
        && !ptr::eq(node, oldest)
    {
        return Some(wake(newest, node, now));
    }
    newest.set_due(now.wrapping_add(P::ticks_in(TURN_NANOS)));
    Some(wake(newest, oldest, now))
}

/// Returns the parked thread that has the next turn when the caller, which is about to sleep, is
/// linked last.
fn next_to<'a, P: Host>(guard: &'a Guard<'_, P>, caller: &Node<P>) -> Option<&'a Node<P>> {
    // spec: Mutex!WakeOldest
    parked(guard, caller.address()).find(|node| !ptr::eq(*node, caller))
}

/// Returns the oldest parked threads, at most as many as a wake may pass over.
fn parked<'a, P: Host>(
    guard: &'a Guard<'_, P>,
    address: usize,
) -> impl Iterator<Item = &'a Node<P>> {
    let all = guard.oldest_first(Kind::Lock, address);
    all.filter(|node| node.status() == status::PARKED).take(PASSED_OVER)
}

/// Returns the first of the nodes that are nearest to the caller, but not on its CPU.
fn nearest_elsewhere<'a, P: Host>(nodes: impl Iterator<Item = &'a Node<P>>) -> Option<&'a Node<P>> {
    let here = place::<P>();
    if !is_known(here) || P::cpus() == 1 {
        // No node is elsewhere, for all that can be known.
        return None;
    }
    let elsewhere = nodes.filter(|node| node.place.load(Ordering::Relaxed) != here);
    elsewhere.min_by_key(|node| Distance::between(node.place.load(Ordering::Relaxed), here))
}

/// Wakes a linked thread. Its node stays linked: the thread has no role before it runs.
fn wake<P: Host>(newest: &Node<P>, node: &Node<P>, now: usize) -> Wake<P> {
    // spec: Mutex!Wake
    newest.set_woken_last(Some(node));
    node.set_woken(now);
    node.tell(status::WOKEN)
}

/// Returns whether the heir has placed a request to unlocks.
fn has_asked<P: Host>(guard: &Guard<'_, P>, heir: &Node<P>) -> bool {
    matches!(guard.request(heir.address()), Some(Request::Wake | Request::Offer))
}

fn priority<P: Host>(node: &Node<P>) -> u32 {
    node.priority.load(Ordering::Relaxed)
}

/// Returns whether an heir that must watch the lock, or take it, has lost its CPU.
fn is_lost<P: Host>(guard: &Guard<'_, P>, heir: &Node<P>, now: usize) -> bool {
    let rests_until = heir.rests_until.load(Ordering::Relaxed);
    !has_asked(guard, heir) && has_come(now, rests_until.wrapping_add(P::wake_ticks()))
}
