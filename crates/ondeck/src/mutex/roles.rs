//! The roles of the threads that wait for a mutex, under the lock of its bucket: which thread is the heir, which one was
//! woken, and which one is responsible for the parked ones.
//!
//! All changes of a thread's role are in this file, and all are made under that lock. So all threads agree on which thread
//! is responsible, without a fence, and invariant (2) of the [module](super) is one sentence about a queue.

use core::ptr;

use super::parts::Part;
use crate::parking::{Distance, Guard, Kind, Node, Request, has_come, is_known, place, status};
use crate::platform::{AtomicInt, Host, Ordering};

/// A woken thread that has not run for this time no longer counts as responsible for parked threads. It is many times a wake
/// on any machine, and less than a few time slices of any scheduler.
const LOST_AFTER_NANOS: u32 = 1_000_000;

/// While the last woken thread has not run, an heir wakes no further thread for this time. On busy CPUs each woken thread
/// waits for a time slice, and further threads would run only to find the lock taken. It is some time slices of a scheduler.
const QUEUED_NANOS: u32 = 8_000_000;

/// The number of oldest threads among which a wake looks for a preferred one, and the time for which it may pass over the
/// oldest. On a server with 8 last-level caches about four of 32 are near. Simulated with 100/500 ns, 64 to 256 CPUs have
/// 1.0 to 1.1 times the throughput with 8, and 1.1 to 1.2 times with 32. With 64, in a run of as many threads, one thread
/// waits until it may no longer be passed over.
const PASSED_OVER: usize = 32;
const PASSED_OVER_NANOS: u32 = 16_000_000;

/// The time between two parked threads that an heir wakes. It is the longest that a captured lock makes each of its parked
/// threads wait. Each wake costs a change of owner.
const ROTATION_NANOS: u32 = 500_000;

/// The word at which to wake a thread, without the bucket's lock.
pub(crate) type Wake<P> = *const <P as crate::platform::Platform>::AtomicU32;

/// Links the caller's node for the first time. The caller becomes the heir if there is none.
pub(super) fn enter<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    let address = node.address();
    let is_first = guard.newest(Kind::Lock, address).is_none();
    node.since.store(now, Ordering::Relaxed);
    // SAFETY: it is new, and its own thread unlinks it before `wait` returns; the node outlives that call.
    unsafe { guard.link(Kind::Lock, node) };
    if is_first {
        node.set_due(now.wrapping_add(P::ticks_in(ROTATION_NANOS)));
    }
    take_role(guard, node, now);
}

/// Makes the linked node the heir if there is none, or if the heir has lost its CPU.
pub(super) fn take_role<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    // spec: Mutex!TakeRole
    match heir(guard, node.address()) {
        Some(other) if !is_lost(other, now) => {}
        _ => become_heir(guard, node, now),
    }
}

/// Takes the role from an heir that watches, for the woken caller that has found the lock taken. An heir that sleeps with a
/// request keeps the role: the lock is held for long, and that heir will be the next owner. Returns whether there was no
/// heir.
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

/// Makes the linked node the heir, and parks any other heir.
pub(super) fn become_heir<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    // spec: Mutex!BecomeHeir
    let address = node.address();
    let Some(newest) = guard.newest(Kind::Lock, address) else { return };
    if let Some(other) = heir(guard, address) {
        // The other thread notices: it reads its status before each attempt and after each sleep.
        other.set_status(status::PARKED);
        other.has_asked.store(0, Ordering::Relaxed);
    }
    // A debt is paid by this, and a request was the other heir's.
    guard.withdraw_request(address);
    newest.set_heir(Some(node));
    node.rests_until.store(now, Ordering::Relaxed);
    node.set_status(status::HEIR);
}

/// Unlinks the caller's node: the caller owns the lock, or gives up. Returns whether the lock was handed to it before that,
/// and a thread to wake.
///
/// If parked threads remain and no thread is responsible for them, an owner leaves a debt to its own unlock. That needs no
/// fence, because the owner reads its own store. A thread that gives up wakes the oldest.
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
    // SAFETY: it is linked, as is every node whose thread has not left.
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

/// Serves the request that an unlock has found: wakes the heir, or the oldest parked thread unless a running thread is
/// responsible.
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

/// Wakes the oldest parked thread on behalf of the heir, if that is due; the woken thread takes the role when it runs.
/// Returns its word, and when the next one is due.
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

/// Hands off the lock, which the caller owns, to the heir if it has requested a handoff, or to the oldest waiter if
/// `unasked`. Returns that thread's word, or `None` if there is no such thread: then the caller still owns the lock.
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

/// Returns when the heir must wake the oldest parked thread.
pub(super) fn rotation_due<P: Host>(guard: &Guard<'_, P>, address: usize, now: usize) -> usize {
    guard.newest(Kind::Lock, address).map_or(now, Node::due)
}

/// Asks unlocks to wake the heir, or to hand it the lock. Returns false if the caller is no longer the heir, or if a request
/// to the unlocks of another mutex of the bucket is in place.
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
    /// The last of several.
    Several(&'a Node<P>),
}

impl<'a, P: Host> Moved<'a, P> {
    /// Adds one more.
    pub(crate) fn and(self, node: &'a Node<P>) -> Self {
        if matches!(self, Self::None) { Self::One(node) } else { Self::Several(node) }
    }
}

/// Wakes a thread if one is due, after a notification has moved waiters to the mutex.
///
/// A single waiter of a free mutex is woken even if a woken thread has not run yet: the program has work for both. Of
/// several waiters, the first one to run wakes the next.
///
/// A waiter that last ran on the notifier's CPU would often preempt the notifier, which owns the mutex, and sleep again. If
/// `may_lend`, the result of [`may_lend`], it is left to the owner as its debt.
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
    // SAFETY: the node is linked here, so its thread waits, and its mutex is live until that wait ends.
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

/// Returns whether a notification may leave waiters to the owner of their mutex. Call it before any bucket is locked: the
/// first call in a process may take milliseconds.
///
/// It requires asymmetric fences with a cheap heavy fence: one that costs far less than the wake it saves, and interrupts at
/// most one other CPU because the threads may use only two. The heavy fence is made with the bucket locked, so it is not
/// made where a real-time thread may want that bucket.
pub(crate) fn may_lend<P: Host>() -> bool {
    Part::Lend.is_in()
        && P::cpus() <= 2
        && P::fences_are_asymmetric()
        && P::heavy_cost_ticks() <= P::wake_ticks() / 4
        && !P::has_real_time_threads()
}

/// Leaves the parked threads to the owner, if the mutex is locked and no other thread is responsible: the owner's unlock
/// wakes the oldest. Returns whether a thread is responsible.
///
/// The owner may be another thread than the caller, and its unlock may be under way: the unlock clears the byte and then
/// reads the debt, and the caller stores the debt and then reads the byte. The unlock has no fence, so the caller makes a
/// heavy one.
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

/// Links the node of a thread that a notification has moved to the mutex. The node already has the mutex's address.
///
/// # Safety
///
/// The node is not linked, and this is its mutex's bucket.
pub(crate) unsafe fn admit<P: Host>(guard: &Guard<'_, P>, node: &Node<P>, now: usize) {
    let is_first = guard.newest(Kind::Lock, node.address()).is_none();
    // SAFETY: as the caller promises; its own thread unlinks it.
    unsafe { link(guard, node) };
    if is_first {
        node.set_due(now.wrapping_add(P::ticks_in(ROTATION_NANOS)));
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

/// Moves the parked caller, which is of a real-time class, before all threads of lower priority, the heir included.
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
    newest.heir().is_some()
        || has_woken(newest, now, LOST_AFTER_NANOS)
        || guard.request(address) == Some(Request::Debt)
}

/// Returns whether a thread that was woken less than `nanos` before `now` has yet to run.
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

/// Wakes the oldest parked thread, or one of the next oldest that last ran on another CPU. Kernels wake a thread on the CPU
/// where it ran last. If that is the waker's CPU, it is busy with the waker: the woken thread would wait there for a time
/// slice while another CPU may be idle.
///
/// Of these, the nearest to the waker is preferred, so that the lock and its data stay with one last-level cache or NUMA
/// node for longer. They move on with the oldest thread, which is passed over for a limited time only (Milind Chabbi and
/// others, "High Performance Locks for Multi-level NUMA Systems", for queues).
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

/// Returns the first of the nodes that are nearest to the caller, but not on its CPU.
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

/// Wakes a linked thread. Its node stays linked: the thread has no role before it runs.
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

/// Returns whether an heir that must watch the lock has lost its CPU.
fn is_lost<P: Host>(heir: &Node<P>, now: usize) -> bool {
    let rests_until = heir.rests_until.load(Ordering::Relaxed);
    !has_asked(heir) && has_come(now, rests_until.wrapping_add(P::wake_ticks()))
}
