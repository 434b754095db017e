//! The threads that wait for a mutex, under the lock of its bucket: which one is the heir, which one was woken, and which
//! one is responsible for the parked ones.
//!
//! Everything that changes a thread's role is here, and all of it is done under that lock. So there are no two views of
//! which thread is responsible, and no fence: the invariant (2) of the [module](super) is one sentence about a queue.

use core::ptr;

use super::parts::Part;
use crate::parking::{Distance, Guard, Kind, Node, Request, has_come, is_known, place, status};
use crate::platform::{AtomicInt, Host, Ordering};

/// A woken thread that has not run for so long does not keep others asleep any more: many wakes of every machine, a few
/// time slices of no scheduler.
const LOST_AFTER_NANOS: u32 = 1_000_000;

/// A heir wakes no further thread before the one that was woken last has run, for so long: on busy CPUs woken threads wait
/// for a time slice each, and those behind them would only come to find the lock taken. Some time slices of a scheduler.
const QUEUED_NANOS: u32 = 8_000_000;

/// How many of the oldest threads are looked at for one to prefer, and for how long the oldest may be passed over. Of 32 on a
/// server with 8 last-level caches some four are near: simulated, 100/500 ns, 64 to 256 CPUs have 1.0 to 1.1 times the
/// throughput with 8, 1.1 to 1.2 with 32. With 64, one of as many threads waits until it may not be passed over.
const PASSED_OVER: usize = 32;
const PASSED_OVER_NANOS: u32 = 16_000_000;

/// The time between two parked threads that a heir wakes: the longest that threads wait behind a captured lock is this
/// for each of them. Each costs a change of owner.
const ROTATION_NANOS: u32 = 500_000;

/// A word to wake a thread at, without the bucket's lock.
pub(crate) type Wake<P> = *const <P as crate::platform::Platform>::AtomicU32;

/// Links the caller's node, which has not been linked. It is the heir if there is none.
pub(super) fn enter<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    let address = node.address();
    let is_first = guard.newest(Kind::Lock, address).is_none();
    node.since.store(now, Ordering::Relaxed);
    // SAFETY: it is new, and is unlinked by its own thread before `wait` returns, which it outlives.
    unsafe { guard.link(Kind::Lock, node) };
    if is_first {
        node.set_due(now.wrapping_add(P::ticks_in(ROTATION_NANOS)));
    }
    take_role(guard, node, now);
}

/// Makes the linked node the heir, if there is none, or only one that has lost its CPU.
pub(super) fn take_role<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    // spec: Mutex!TakeRole
    match heir(guard, node.address()) {
        Some(other) if !is_lost(other, now) => {}
        _ => become_heir(guard, node, now),
    }
}

/// The caller was woken and has found the lock taken: it takes the role from a heir that watches. One that sleeps with a
/// request keeps it: the lock is held for long, and that thread will have it first. Returns whether there was no heir.
pub(super) fn land<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) -> bool {
    // spec: Mutex!Land
    if node.status() != status::WOKEN {
        return false;
    }
    forget_woken(guard, node);
    node.place.store(place::<P>(), Ordering::Relaxed);
    let heir = heir(guard, node.address());
    match heir {
        Some(other)
            if (has_asked(other) || !Part::Takeover.is_in())
                && priority(other) >= priority(node) =>
        {
            node.set_status(status::PARKED);
        }
        _ => become_heir(guard, node, now),
    }
    heir.is_none()
}

/// Makes the linked node the heir in place of any other, which is parked then.
pub(super) fn become_heir<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    // spec: Mutex!BecomeHeir
    let address = node.address();
    let Some(newest) = guard.newest(Kind::Lock, address) else { return };
    if let Some(other) = heir(guard, address) {
        // It finds out by itself: it reads its status before each attempt and after each sleep.
        other.set_status(status::PARKED);
        other.has_asked.store(0, Ordering::Relaxed);
    }
    // A debt is paid by this, and a request was the other heir's.
    guard.withdraw_request(address);
    newest.set_heir(Some(node));
    node.rests_until.store(now, Ordering::Relaxed);
    node.set_status(status::HEIR);
}

/// Unlinks the caller's node: it owns the lock, or gives up. Returns whether the lock was handed to it meanwhile, and a
/// thread to wake.
///
/// If parked threads remain and none is responsible for them, an owner leaves a debt to its own unlock, which needs no
/// fence: it reads what it has stored. A thread that gives up wakes the oldest.
pub(super) fn leave<P: Host>(
    guard: &Guard<'_, P>,
    node: &Node<P>,
    is_owner: bool,
    now: usize,
) -> (bool, Option<Wake<P>>) {
    // spec: Mutex!Leave
    let address = node.address();
    let is_owner = is_owner || node.status() == status::DONE;
    let Some(newest) = guard.newest(Kind::Lock, address) else { return (is_owner, None) };
    if newest.heir().is_some_and(|heir| ptr::eq(heir, node)) {
        newest.set_heir(None);
        guard.withdraw_request(address);
    }
    forget_woken(guard, node);
    // SAFETY: it is linked, as every node is whose thread has not left.
    unsafe { guard.unlink(Kind::Lock, node) };
    if guard.newest(Kind::Lock, address).is_none() {
        // A debt to threads that have given up since.
        guard.withdraw_request(address);
        return (is_owner, None);
    }
    if is_responsible(guard, address, now) || is_owner && guard.ask(address, Request::Debt) {
        return (is_owner, None);
    }
    (is_owner, wake_oldest(guard, address, now))
}

/// An unlock has found a request: wakes the heir, or the oldest parked thread, unless a running thread is responsible.
pub(super) fn serve<P: Host>(guard: &Guard<'_, P>, address: usize, now: usize) -> Option<Wake<P>> {
    // spec: Mutex!Serve
    guard.withdraw_request(address);
    let newest = guard.newest(Kind::Lock, address)?;
    if let Some(heir) = newest.heir().filter(|heir| has_asked(heir)) {
        newest.set_heir(None);
        heir.has_asked.store(0, Ordering::Relaxed);
        return Some(wake(newest, heir, now));
    }
    look_after(guard, address, now)
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

/// The heir wakes the oldest parked thread, if that is due: it will take the role when it runs. Returns its word, and when
/// to look again.
pub(super) fn rotate<P: Host>(
    guard: &Guard<'_, P>,
    address: usize,
    now: usize,
) -> (Option<Wake<P>>, usize) {
    let Some(newest) = guard.newest(Kind::Lock, address) else { return (None, now) };
    let again = now.wrapping_add(P::ticks_in(ROTATION_NANOS));
    if !newest.may_be_due(now) || !Part::Rotation.is_in() {
        return (None, newest.due());
    }
    if Part::Queued.is_in() && has_woken(newest, now, QUEUED_NANOS) {
        return (None, again);
    }
    // spec: Mutex!Rotate
    (wake_oldest(guard, address, now), again)
}

/// Hands the lock, which the caller owns, to the heir if it has requested that; to the thread that has waited longest if
/// `unasked`. Returns its word, or `None` if there is no such thread: the caller still owns the lock.
pub(super) fn hand_over<P: Host>(
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
        let wants = guard.request(address) == Some(Request::Hand);
        newest.heir().filter(|_| wants)?
    };
    if newest.heir().is_some_and(|heir| ptr::eq(heir, node)) {
        newest.set_heir(None);
        guard.withdraw_request(address);
    }
    node.woken.store(now, Ordering::Relaxed);
    Some(node.tell(status::DONE))
}

/// When the heir is to wake the oldest parked thread.
pub(super) fn rotation_due<P: Host>(guard: &Guard<'_, P>, address: usize, now: usize) -> usize {
    guard.newest(Kind::Lock, address).map_or(now, Node::due)
}

/// The heir asks unlocks to wake it, or to hand it the lock. False if it is no longer the heir, or if unlocks of another
/// mutex of the bucket are asked something.
pub(super) fn ask<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, request: Request) -> bool {
    // spec: Mutex!Ask
    let asked = node.status() == status::HEIR && guard.ask(node.address(), request);
    if asked {
        node.has_asked.store(1, Ordering::Relaxed);
    }
    asked
}

/// The waiters that a notification has moved to the mutex.
pub(crate) enum Moved<'a, P: Host> {
    None,
    One(&'a Node<P>),
    /// The last one of several.
    Several(&'a Node<P>),
}

impl<'a, P: Host> Moved<'a, P> {
    /// These and one more.
    pub(crate) fn and(self, node: &'a Node<P>) -> Self {
        if matches!(self, Self::None) { Self::One(node) } else { Self::Several(node) }
    }
}

/// Wakes a thread, if one is due, after a notification has moved waiters to the mutex.
///
/// A single waiter of a free mutex is woken even if a woken thread has not run yet: the program has something to do for
/// both. Of several waiters the first one to run wakes the next.
///
/// A waiter that last ran on the notifier's CPU would often preempt the notifier there, which owns the mutex, and sleep
/// again. It is left to the owner as its debt: `may_lend` is [`may_lend`].
pub(crate) fn look_after_moved<P: Host>(
    guard: &Guard<'_, P>,
    moved: &Moved<'_, P>,
    may_lend: bool,
    now: usize,
) -> Option<Wake<P>> {
    let node = match moved {
        Moved::None => return None,
        Moved::One(node) | Moved::Several(node) => node,
    };
    // SAFETY: the node is linked here, so its thread waits, and its mutex is there until it has waited.
    let byte = unsafe { &*node.mutex() };
    let is_locked = || byte.load(Ordering::Relaxed) != 0;
    // spec: Condvar!EndMoving
    match moved {
        Moved::One(node) if !is_locked() => {
            Some(wake(guard.newest(Kind::Lock, node.address()).unwrap_or(node), node, now))
        }
        _ if may_lend
            && node.is_here()
            && leave_to_owner(guard, node.address(), is_locked, now) =>
        {
            None
        }
        // Not `now`: a fence may have taken a while.
        _ => look_after(guard, node.address(), P::ticks() as usize),
    }
}

/// Whether a notification may leave waiters to the owner of their mutex. Asked before any bucket is locked, because the
/// first such question of a process may take milliseconds.
///
/// Fences are asymmetric. The heavy one that this takes is cheap: it costs far less than the wake that it saves, and
/// interrupts one other CPU at most where threads may use two. It is made with the bucket locked, so not where a real-time
/// thread may want that.
pub(crate) fn may_lend<P: Host>() -> bool {
    Part::Lend.is_in()
        && P::cpus() <= 2
        && P::fences_are_asymmetric()
        && P::heavy_cost_ticks() <= P::wake_ticks() / 4
        && !P::has_real_time_threads()
}

/// Leaves the parked threads to the owner, if there is one and no other thread is responsible: its unlock wakes the oldest.
/// Returns whether a thread is responsible.
///
/// The owner may be another thread than the caller, and its unlock may be under way: it clears the byte and then reads the
/// debt, and the caller stores the debt and then reads the byte. The unlock has no fence, so the caller makes a heavy one.
fn leave_to_owner<P: Host>(
    guard: &Guard<'_, P>,
    address: usize,
    is_locked: impl Fn() -> bool,
    now: usize,
) -> bool {
    if is_responsible(guard, address, now) {
        return true;
    }
    if !is_locked() || !guard.ask(address, Request::Debt) {
        return false;
    }
    // spec: Condvar!Lend
    P::heavy_fence();
    if !is_locked() || P::heavy_fences_are_refused() {
        guard.withdraw_request(address);
        return false;
    }
    true
}

/// Links a thread that a notification has moved to the mutex, whose node has the mutex's address by now.
///
/// # Safety
///
/// The node is linked nowhere, and this is its mutex's bucket.
pub(crate) unsafe fn admit<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    let is_first = guard.newest(Kind::Lock, node.address()).is_none();
    // SAFETY: as the caller promises; its own thread unlinks it.
    unsafe { link(guard, node) };
    if is_first {
        node.set_due(now.wrapping_add(P::ticks_in(ROTATION_NANOS)));
    }
}

/// Links a node by its thread's priority, and by age.
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

/// The parked caller is of a real-time class: it goes before all threads of lower priority, the heir included.
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

/// Whether a thread other than the parked ones will look after them (2).
fn is_responsible<P: Host>(guard: &Guard<'_, P>, address: usize, now: usize) -> bool {
    // spec: Mutex!IsLookedAfter
    let Some(newest) = guard.newest(Kind::Lock, address) else { return true };
    newest.heir().is_some()
        || has_woken(newest, now, LOST_AFTER_NANOS)
        || guard.request(address) == Some(Request::Debt)
}

/// Whether a thread that was woken less than `nanos` before `now` has yet to run.
fn has_woken<P: Host>(newest: &Node<P>, now: usize, nanos: u32) -> bool {
    newest.woken_last().is_some_and(|woken| {
        let since = now.wrapping_sub(woken.woken.load(Ordering::Relaxed));
        since < P::ticks_in(nanos)
    })
}

fn forget_woken<P: Host>(guard: &Guard<'_, P>, node: &Node<P>) {
    if let Some(newest) = guard.newest(Kind::Lock, node.address())
        && newest.woken_last().is_some_and(|woken| ptr::eq(woken, node))
    {
        newest.set_woken_last(None);
    }
}

/// Wakes the parked thread that has waited longest, or one of those after it that last ran on another CPU. Kernels wake a
/// thread where it ran last, and the waker's CPU is busy with the waker: the woken thread would wait there for a time slice
/// while another CPU may be idle.
///
/// Of these the nearest to the waker is preferred: the lock and its data stay with one last-level cache, or NUMA node, for
/// longer. They move with the oldest thread, which is passed over for a while only (Milind Chabbi and others, "High
/// Performance Locks for Multi-level NUMA Systems", for queues).
fn wake_oldest<P: Host>(guard: &Guard<'_, P>, address: usize, now: usize) -> Option<Wake<P>> {
    let newest = guard.newest(Kind::Lock, address)?;
    // spec: Mutex!WakeOldest
    let parked = || {
        let all = guard.oldest_first(Kind::Lock, address);
        all.filter(|node| node.status() == status::PARKED).take(PASSED_OVER)
    };
    let oldest = parked().next()?;
    let passed_over = now.wrapping_sub(oldest.since.load(Ordering::Relaxed));
    let may_pass = Part::Elsewhere.is_in()
        && priority(oldest) == 0
        && passed_over < P::ticks_in(PASSED_OVER_NANOS);
    let node = if may_pass { preferred(parked()).unwrap_or(oldest) } else { oldest };
    newest.set_due(now.wrapping_add(P::ticks_in(ROTATION_NANOS)));
    Some(wake(newest, node, now))
}

/// The first of the nodes that are nearest to the caller, but not on its CPU.
fn preferred<'a, P: Host>(nodes: impl Iterator<Item = &'a Node<P>>) -> Option<&'a Node<P>> {
    let here = place::<P>();
    if !is_known(here) || P::cpus() == 1 {
        // No node is elsewhere, for all that can be known.
        return None;
    }
    let mut nearest: Option<(Distance, &Node<P>)> = None;
    for node in nodes {
        let place = node.place.load(Ordering::Relaxed);
        if place == here {
            continue;
        }
        let distance = Distance::between(place, here);
        if nearest.is_none_or(|(least, _)| distance < least) {
            nearest = Some((distance, node));
        }
        if distance == Distance::Cache || !Part::Home.is_in() {
            break;
        }
    }
    nearest.map(|(_, node)| node)
}

/// Wakes a linked thread. Its node stays linked: it has no role before it runs.
fn wake<P: Host>(newest: &Node<P>, node: &Node<P>, now: usize) -> Wake<P> {
    // spec: Mutex!Wake
    newest.set_woken_last(Some(node));
    node.set_woken(now);
    node.tell(status::WOKEN)
}

fn has_asked<P: Host>(heir: &Node<P>) -> bool {
    heir.has_asked.load(Ordering::Relaxed) != 0
}

fn priority<P: Host>(node: &Node<P>) -> u32 {
    node.priority.load(Ordering::Relaxed)
}

/// Whether a heir that is to watch the lock does not: it has lost its CPU.
fn is_lost<P: Host>(heir: &Node<P>, now: usize) -> bool {
    let rests_until = heir.rests_until.load(Ordering::Relaxed);
    !has_asked(heir) && has_come(now, rests_until.wrapping_add(P::wake_ticks()))
}
