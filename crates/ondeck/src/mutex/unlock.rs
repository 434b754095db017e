//! Unlocking: the store, and, if a thread may wait, the look at the lock's record, the choice of the
//! thread to wake, the handoff.

use super::RawMutex;
use crate::parking::unlock_mode::{LOOK, SKIP, SOME, concerns};
use crate::parking::{
    Awake, Bucket, Guard, Kind, LONGEST_REST_NANOS, Node, Record, has_come, relax, relax_by_time,
    status,
};
use crate::platform::{AtomicInt, Host, Ordering};

/// A thread that has been parked for so long is overdue: it is woken to compete, then handed the lock.
/// A few time slices of no scheduler, many wakes of every machine.
const HANDOFF_AFTER_NANOS: u32 = 1_000_000;

/// The time between two overdue threads of one lock, in wakes: a handoff rests the lock for one, so for a twentieth of
/// its time at most.
///
/// The longest that a thread waits is this for each thread. A simulated machine with 64 CPUs and 128 threads showed 15 ms
/// of wait instead of 121 with [`LONGEST_REST_NANOS`] alone, and the same throughput. That is the most, because a wake is
/// measured, and long where threads wait for a CPU, too.
const HANDOFF_EVERY_WAKES: usize = 20;

/// A thread of a lock that shares its record and has been overdue for so long no longer relies on its turn: one
/// unlock in [`SAMPLE`] serves it, which rests the lock seldom enough.
const DESPERATE_AFTER_NANOS: u32 = 16_000_000;

/// One unlock in so many, of each thread, does what all of them together should do now and then: a count
/// of all would be a cache line that all of them write.
const SAMPLE: u32 = 128;

impl<P: Host> RawMutex<P> {
    /// Unlocks.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn unlock(&self) {
        let mode = P::unlock_mode(self.address());
        // spec: Mutex!ReadModeBefore
        // Relaxed: an older value costs the oldest parked thread another turn, no more.
        if mode.load(Ordering::Relaxed) != SKIP {
            return self.unlock_slow();
        }
        let byte = self.byte();
        // spec: Mutex!Release
        self.locked.store(0, Ordering::Release);
        P::presumed_light_fence();
        // spec: Mutex!ReadModeAfter
        // Relaxed: see `parking/publish.rs`.
        if mode.load(Ordering::Relaxed) != SKIP {
            look_late::<P>(byte);
        }
    }

    /// Unlocks, knowing that threads wait in the lock's bucket. Most of the time one of them polls the
    /// lock or was woken for it, or they wait for another lock, and there is nothing else to do.
    ///
    /// Before its store it asks only whether it is to hand the lock over, and of the unlock mode: the record's lines
    /// are other threads' most of the time, and while it waited for them the lock would not be free. How fences
    /// are paired is asked behind the store; asked before, it may be true no more when the store is made.
    #[cold]
    #[inline(never)]
    pub(super) fn unlock_slow(&self) {
        let byte = self.byte();
        // spec: Mutex!ReadModeBeside
        // Relaxed: an owner that does not see a request yet passes the oldest by once more.
        if P::unlock_mode(byte.addr()).load(Ordering::Relaxed) != SOME {
            let record = P::bucket(byte.addr()).record(byte.addr());
            // spec: Mutex!ReadRequest
            if record.is_some_and(Record::is_requested) && hand_over::<P>(byte, true) {
                return;
            }
        }
        let bucket = P::bucket(byte.addr());
        // spec: Mutex!ReleaseBeside
        self.locked.store(0, Ordering::Release);
        P::presumed_light_fence();
        // Most unlocks of a contended lock are over here. What the unlock mode says is not asked: where nothing is
        // known no record is light.
        // spec: Mutex!FindLight
        if let Some(record) = bucket.own_record(byte.addr())
            && record.is_light_and_calm()
        {
            // spec: Mutex!LookAwakeLight
            let awake = record.awake();
            // Behind the marks: the record may have gone to another lock, and then they are that one's.
            // spec: Mutex!LookOfLight
            if awake.any() && record.is_of(byte.addr()) {
                return leave_to_others(bucket, record, byte.addr(), awake);
            }
        }
        look_late::<P>(byte);
    }

    /// Unlocks by handing the lock to the thread that has been parked longest, if there is one.
    ///
    /// That thread is asleep, so the lock rests until it runs: some microseconds, where
    /// [`unlock`](Self::unlock) would have let others have it. The poller is not handed the lock; it
    /// finds it free.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn unlock_fair(&self) {
        if !self.may_have_parked() || !hand_over::<P>(self.byte(), false) {
            // SAFETY: as the caller promises.
            unsafe { self.unlock() };
        }
    }

    /// Lets the thread that has been parked longest have the lock for a turn, if there is one, and gets
    /// it back: [`unlock_fair`](Self::unlock_fair) and [`lock`](Self::lock), or two loads.
    ///
    /// # Safety
    ///
    /// The calling thread owns the lock.
    #[inline]
    pub unsafe fn bump(&self) {
        if self.may_have_parked() && hand_over::<P>(self.byte(), false) {
            self.lock();
        }
    }

    /// Does what an unlock does after its store: for a thread that had a mark and goes without the lock.
    pub(super) fn look(&self) {
        look::<P>(P::bucket(self.address()), self.byte());
    }

    /// For the owner: a thread whose count it does not see yet has not had its last look.
    #[inline]
    fn may_have_parked(&self) -> bool {
        let address = self.address();
        // spec: Mutex!FairLock
        concerns::<P>(address) && P::bucket(address).record(address).is_some_and(Record::has_parked)
    }
}

/// The lock at `byte` was unlocked without a fence, and its unlock mode may concern it: makes the fence, if the
/// record asks for one, and looks.
///
/// From here on the mutex may be gone (6): `byte` is an address to compare.
#[cold]
#[inline(never)]
pub(super) fn look_late<P: Host>(byte: *const P::AtomicU8) {
    let bucket = P::bucket(byte.addr());
    // spec: Mutex!LookLate
    if !concerns::<P>(byte.addr()) {
        return;
    }
    // spec: Mutex!ReadFenceLate
    if !bucket.record(byte.addr()).is_some_and(Record::is_light) {
        // spec: Mutex!LateFence
        // Pairs with the full fence of a thread that parks.
        P::fence(Ordering::SeqCst);
    }
    look::<P>(bucket, byte);
}

/// The lock at `byte` was unlocked: has a parked thread woken, unless one is awake already.
fn look<P: Host>(bucket: &Bucket<P>, byte: *const P::AtomicU8) {
    let address = byte.addr();
    // Behind the fence: the record of before it may be another lock's now.
    // spec: Mutex!LookRecord
    let Some(record) = bucket.record(address) else {
        return relax(bucket, address, 0);
    };
    // spec: Mutex!LookAwake
    let awake = record.awake();
    if awake.any() && !record.is_urgent() {
        return leave_to_others(bucket, record, address, awake);
    }
    // spec: Mutex!LookParked
    if record.has_parked() {
        wake::<P>(bucket, byte);
    } else if P::unlock_mode(address).load(Ordering::Relaxed) == LOOK || P::once_in(SAMPLE) {
        relax(bucket, address, record.count_releases(SAMPLE));
    }
}

/// A poller, or a thread in flight, will have the lock: an unlock has nothing to do. The poller looks after
/// the others, a thread in flight does not.
#[inline]
fn leave_to_others<P: Host>(bucket: &Bucket<P>, record: &Record<P>, address: usize, awake: Awake) {
    if !awake.has_poller() && P::once_in(SAMPLE) {
        tend(bucket, record, address, P::ticks() as usize);
    }
}

/// What unlocks leave to the poller because it has the time: has a parked thread that is overdue woken or
/// handed the lock, or lets unlocks do without fences.
pub(super) fn tend<P: Host>(bucket: &Bucket<P>, record: &Record<P>, address: usize, now: usize) {
    if !record.has_parked() || !record.may_be_due(now) {
        return relax_by_time(bucket, record, address, now);
    }
    // spec: Mutex!TendLock
    let Some(guard) = bucket.try_lock() else { return };
    if let Some(word) = choose(&guard, address) {
        drop(guard);
        // spec: Mutex!FutexWake
        P::futex_wake(word, 1);
    }
}

fn wake<P: Host>(bucket: &Bucket<P>, byte: *const P::AtomicU8) {
    // spec: Mutex!WakeLock
    let guard = bucket.lock();
    if let Some(record) = guard.bucket().own_record(byte.addr()) {
        record.forget_vain();
    }
    if let Some(word) = choose(&guard, byte.addr()) {
        drop(guard);
        // spec: Mutex!FutexWake
        // By address: the node may be gone, and its thread sleep at another.
        P::futex_wake(word, 1);
    }
}

/// Chooses which thread parked for the lock at `address` competes for it now, if any does, and tells
/// it. Says which word to wake it at, if it sleeps. The caller does so without the bucket's lock, which
/// that thread needs itself.
pub(crate) fn choose<P: Host>(guard: &Guard<'_, P>, address: usize) -> Option<*const P::AtomicU32> {
    // spec: Mutex!Choose
    let oldest = guard.oldest(Kind::Lock, address)?;
    let record = guard.bucket().record(address)?;
    let now = P::ticks() as usize;
    if record.is_shared() {
        // No marks here, so no thread can rely on this one: each unlock wakes another, or hands the lock
        // over.
        // At most one such in a while, or many threads would make each unlock a handoff.
        let overdue = is_overdue(record, oldest, now) && acquire_for(oldest);
        let status = if overdue { status::DONE } else { status::COMPETE };
        return dismiss(guard, record, oldest, status, now);
    }
    if record.is_urgent() {
        let urgent = most_urgent(guard, Kind::Lock, address)?;
        let (is_overdue, next) = is_due_again(urgent, now);
        if is_overdue && urgent.tried.swap(1, Ordering::Relaxed) != 0 {
            // Each unlock has it woken, and another thread locks first each time.
            record.rest(next);
            return hand_to(guard, record, urgent, now);
        }
        record.set_in_flight(true, now);
        return dismiss(guard, record, urgent, status::IN_FLIGHT, now);
    }
    if is_overdue(record, oldest, now) {
        return serve_overdue(guard, record, oldest, now);
    }
    let seen = record.awake();
    if seen.any() {
        return None;
    }
    let newest = guard.newest(Kind::Lock, address)?;
    if let Some(near) = among_newest(guard, newest, |node| node.status() == status::NEAR) {
        // spec: Mutex!Promote
        // A thread that has just arrived polls, or this one is to.
        let turn = record.take_poll(seen, now)?;
        near.set_turn(turn);
        // SAFETY: it is linked.
        unsafe { guard.unlink(Kind::Lock, near) };
        guard.uncount(record, near);
        if near.leave_near(status::POLLER) {
            return None;
        }
        // It has parked meanwhile. It is live: it has not been told yet.
        // spec: Mutex!PromoteLeave
        record.leave(turn);
        // spec: Mutex!PromoteMark
        let marked = record.set_in_flight(false, now);
        near.woken.store(now, Ordering::Relaxed);
        return Some(near.tell(if marked { status::IN_FLIGHT } else { status::COMPETE }));
    }
    // The caller's CPU is busy with the caller, and kernels wake a thread where it ran last: it would
    // wait there for a time slice while another CPU may be idle.
    let here = P::cpu();
    let elsewhere = among_newest(guard, newest, |n| n.cpu.load(Ordering::Relaxed) != here);
    if !record.set_in_flight(false, now) {
        return None;
    }
    dismiss(guard, record, elsewhere.unwrap_or(newest), status::IN_FLIGHT, now)
}

/// The first of the newest few nodes of a queue for which `is_right` says so.
fn among_newest<'a, P: Host>(
    guard: &'a Guard<'_, P>,
    newest: &'a Node<P>,
    is_right: impl Fn(&Node<P>) -> bool,
) -> Option<&'a Node<P>> {
    /// Each may be a cache miss, under the bucket's lock.
    const FEW: usize = 4;
    let mut node = newest;
    for _ in 0..FEW {
        if is_right(node) {
            return Some(node);
        }
        node = guard.next_older(node);
    }
    None
}

/// The thread of the highest real-time priority; of those the one that has waited longest.
pub(crate) fn most_urgent<'a, P: Host>(
    guard: &'a Guard<'_, P>,
    kind: Kind,
    address: usize,
) -> Option<&'a Node<P>> {
    let mut best: Option<&Node<P>> = None;
    for node in guard.oldest_first(kind, address) {
        let priority = |node: &Node<P>| node.priority.load(Ordering::Relaxed);
        if best.is_none_or(|best| priority(best) < priority(node)) {
            best = Some(node);
        }
    }
    best
}

/// Unlinks a thread and tells it what it is now. Says which word to wake it at, if it sleeps.
fn dismiss<P: Host>(
    guard: &Guard<'_, P>,
    record: &Record<P>,
    node: &Node<P>,
    status: u32,
    now: usize,
) -> Option<*const P::AtomicU32> {
    node.woken.store(now, Ordering::Relaxed);
    node.cpu.store(P::cpu(), Ordering::Relaxed);
    // SAFETY: it is linked.
    unsafe { guard.unlink(Kind::Lock, node) };
    guard.uncount(record, node);
    // spec: Mutex!Dismiss
    // A thread that is near and runs needs no wake.
    (!node.leave_near(status)).then(|| node.tell(status))
}

/// Whether the oldest parked thread of a lock has waited for too long, and it is time for one such: the
/// next will not be for a while.
fn is_overdue<P: Host>(record: &Record<P>, oldest: &Node<P>, now: usize) -> bool {
    if !record.may_be_due(now) {
        // Of locks that share a record one can take every turn, because its unlocks come at the right time.
        return record.is_shared()
            && has_come(now, handoff_due(oldest).wrapping_add(P::ticks_in(DESPERATE_AFTER_NANOS)))
            && P::once_in(SAMPLE);
    }
    let (is_due, next) = is_due_again(oldest, now);
    if is_due {
        record.rest(next);
    } else if !record.is_shared() {
        // A lock whose threads are not overdue does not put off those of others that share the record.
        record.set_due(next);
    }
    is_due
}

/// Whether a thread has waited for too long at `now`; and when to ask again, in ticks.
pub(crate) fn is_due_again<P: Host>(oldest: &Node<P>, now: usize) -> (bool, usize) {
    let due = handoff_due(oldest);
    if has_come(now, due) {
        let every = P::ticks_in(LONGEST_REST_NANOS).min(HANDOFF_EVERY_WAKES * P::wake_ticks());
        (true, now.wrapping_add(every))
    } else {
        (false, due)
    }
}

/// When a thread will have waited for too long, in ticks.
pub(crate) fn handoff_due<P: Host>(node: &Node<P>) -> usize {
    node.since.load(Ordering::Relaxed).wrapping_add(P::ticks_in(HANDOFF_AFTER_NANOS))
}

/// Has the oldest thread, which has waited for too long, compete for the lock; or hands it the lock, if
/// it has competed in vain.
fn serve_overdue<P: Host>(
    guard: &Guard<'_, P>,
    record: &Record<P>,
    oldest: &Node<P>,
    now: usize,
) -> Option<*const P::AtomicU32> {
    if oldest.tried.load(Ordering::Relaxed) == 0 {
        // spec: Mutex!WakeOverdue
        if record.set_in_flight(true, now) {
            oldest.tried.store(1, Ordering::Relaxed);
            return dismiss(guard, record, oldest, status::IN_FLIGHT, now);
        }
        // The thread in flight may be of low priority on a busy CPU: then the others do not wait for it.
        if !has_come(now, lost_at(record)) {
            // Its turn is put off, and not lost: that thread may run soon.
            record.set_due(now.wrapping_add(P::wake_ticks()));
            return None;
        }
    }
    hand_to(guard, record, oldest, now)
}

/// Hands a thread the lock; or, if it is taken, requests that its owner does.
fn hand_to<P: Host>(
    guard: &Guard<'_, P>,
    record: &Record<P>,
    node: &Node<P>,
    now: usize,
) -> Option<*const P::AtomicU32> {
    if !acquire_for(node) {
        // spec: Mutex!Request
        // Another thread locked it first: that one is asked to hand the lock over.
        record.request(true);
        guard.set_mode(P::unlock_mode(node.address()));
        return None;
    }
    dismiss(guard, record, node, status::DONE, now)
}

/// When the others do not wait any more for the thread that was marked as in flight last.
fn lost_at<P: Host>(record: &Record<P>) -> usize {
    record.flown_at().wrapping_add(P::ticks_in(HANDOFF_AFTER_NANOS))
}

/// Acquires the lock on behalf of a thread that is linked for it; false if it is taken.
fn acquire_for<P: Host>(node: &Node<P>) -> bool {
    // spec: Mutex!HandOver
    // SAFETY: a waiter of this mutex is linked, and stays so while the bucket's lock is held, so the
    // mutex is in use and its byte is there (6).
    !P::test_and_set(unsafe { &*node.mutex() }, Ordering::Acquire)
}

/// Hands the lock at `byte`, which the caller owns, to the thread that has been parked longest; with
/// `requested` only if the table asks for that. False if there is none: the caller still owns the lock.
#[cold]
#[inline(never)]
fn hand_over<P: Host>(byte: *const P::AtomicU8, requested: bool) -> bool {
    let address = byte.addr();
    // spec: Mutex!HandOverLock
    let guard = P::bucket(address).lock();
    // spec: Mutex!HandOverChoose
    let Some(record) = guard.bucket().record(address) else { return false };
    if requested && !record.is_requested() {
        return false;
    }
    let node = if record.is_urgent() {
        most_urgent(&guard, Kind::Lock, address)
    } else {
        guard.oldest(Kind::Lock, address)
    };
    record.request(false);
    guard.set_mode(P::unlock_mode(address));
    let Some(node) = node else { return false };
    let word = dismiss(&guard, record, node, status::DONE, P::ticks() as usize);
    drop(guard);
    if let Some(word) = word {
        // spec: Mutex!FutexWake
        P::futex_wake(word, 1);
    }
    true
}
