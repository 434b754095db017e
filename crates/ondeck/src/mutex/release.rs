//! What a release does when the table's byte tells it to look around.

use crate::parking::{
    Bucket, Guard, Node, attention, demand, has_come, meet_demand, relax, status,
};
use crate::platform::{AtomicInt, Host, Ordering};

/// A waiter that has slept for so long is handed the lock instead of competing for it.
const HANDOVER_AFTER_NANOS: u32 = 1_000_000;

/// The time between two handovers in one bucket.
const HANDOVER_EVERY_NANOS: u32 = 500_000;

/// One release in so many, of each thread, counts and looks at the clock: some 2 µs apart where the
/// lock is busiest.
const SAMPLE: u32 = 128;

/// The lock at `owned` was released; wakes a sleeper of it, unless somebody is awake.
///
/// Takes the byte as an address: the mutex may be gone, unless a waiter of it is found.
#[cold]
#[inline(never)]
pub(super) fn look_around<P: Host>(owned: *const P::AtomicU8) {
    let address = owned.addr();
    let byte = P::attention(address);
    // spec: Mutex!LookAttention
    // Acquire: the looks below come after it also on machines that reorder loads.
    if matches!(byte.load(Ordering::Acquire), attention::FENCED | attention::HAND_OVER) {
        // spec: Mutex!LookFence
        // Pairs with the full fence of whoever parks.
        P::fence(Ordering::SeqCst);
    }
    let bucket = P::bucket(address);
    // spec: Mutex!LookDeck
    if bucket.is_on_deck(address) {
        if P::once_in(SAMPLE) {
            sample::<P>(bucket, owned);
        }
    // spec: Mutex!LookParked
    } else if bucket.has_parked() {
        wake::<P>(bucket, owned);
    } else if bucket.never_parked() || P::once_in(SAMPLE) {
        sample::<P>(bucket, owned);
    }
}

/// What all releases together should do now and then, and what would cost each a cache line.
#[cold]
fn sample<P: Host>(bucket: &Bucket<P>, owned: *const P::AtomicU8) {
    let releases = bucket.count_releases(SAMPLE);
    // spec: Mutex!Sample
    if bucket.has_parked() && bucket.may_be_due(P::ticks() as usize) {
        wake::<P>(bucket, owned);
    } else {
        relax(bucket, owned.addr(), releases);
    }
}

fn wake<P: Host>(bucket: &Bucket<P>, owned: *const P::AtomicU8) {
    // spec: Mutex!WakeLock
    let guard = bucket.lock();
    if let Some(word) = choose(&guard, owned) {
        drop(guard);
        // spec: Mutex!FutexWake
        P::futex_wake(word, 1);
    }
}

/// Chooses whom to wake, if anybody, and tells it what it is now. The caller wakes it without the
/// bucket's lock, which it needs itself.
pub(crate) fn choose<P: Host>(
    guard: &Guard<'_, P>,
    owned: *const P::AtomicU8,
) -> Option<*const P::AtomicU32> {
    let (bucket, address) = (guard.bucket(), owned.addr());
    let now = P::ticks() as usize;
    // spec: Mutex!Choose
    if let Some(oldest) = overdue(guard, address, now) {
        let word = hand_over(guard, owned, oldest);
        if word.is_none() {
            // Who was faster owns the lock now, and will hand it over.
            demand(guard, address);
        }
        return word;
    }
    if bucket.is_on_deck(address) {
        return None;
    }
    let newest = guard.newest_elsewhere(address)?;
    match bucket.set_on_deck(address) {
        Ok(_) => {
            guard.uncount_parked();
            // SAFETY: it is linked, and counted no more.
            Some(unsafe { guard.release(newest, status::ON_DECK) })
        }
        Err(other) if other == address => None,
        Err(_) => hand_over(guard, owned, newest),
    }
}

/// Takes the lock again, on behalf of a sleeper. None if somebody else was faster, whose release
/// will look around in turn.
fn hand_over<P: Host>(
    guard: &Guard<'_, P>,
    owned: *const P::AtomicU8,
    node: &Node<P>,
) -> Option<*const P::AtomicU32> {
    // spec: Mutex!HandOver
    // SAFETY: a waiter of this mutex is linked, and stays so while the bucket's lock is held, so
    // the mutex is in use and its byte is there.
    if P::test_and_set(unsafe { &*owned }, Ordering::Acquire) {
        return None;
    }
    Some(make_owner(guard, node))
}

/// Tells a sleeper that the lock, which is taken, is its own now. Says whom to wake.
fn make_owner<P: Host>(guard: &Guard<'_, P>, node: &Node<P>) -> *const P::AtomicU32 {
    guard.uncount_parked();
    // SAFETY: it is linked, and counted no more.
    unsafe { guard.release(node, status::OWNER) }
}

/// The oldest waiter at `address`, if it has waited for too long and it is time for one such in this
/// bucket: the caller serves it, the next will not be due for a while.
pub(crate) fn overdue<'a, P: Host>(
    guard: &'a Guard<'_, P>,
    address: usize,
    now: usize,
) -> Option<&'a Node<P>> {
    if !guard.bucket().may_be_due(now) {
        return None;
    }
    let oldest = guard.oldest(address)?;
    let due = oldest.since.load(Ordering::Relaxed).wrapping_add(patience::<P>());
    if has_come(now, due) {
        guard.set_due(now.wrapping_add(P::ticks_in(HANDOVER_EVERY_NANOS)));
        Some(oldest)
    } else {
        // Of another lock here somebody may be due before.
        let next = now.wrapping_add(P::ticks_in(HANDOVER_EVERY_NANOS));
        guard.set_due(if has_come(due, next) { next } else { due });
        None
    }
}

/// How long a waiter sleeps before it is handed the lock, in ticks.
pub(crate) fn patience<P: Host>() -> usize {
    P::ticks_in(HANDOVER_AFTER_NANOS)
}

/// Does what the table asks of an owner: hands its lock over, if that is the one asked for. False
/// if not: it is still the caller's.
#[cold]
#[inline(never)]
pub(super) fn hand_over_on_demand<P: Host>(owned: *const P::AtomicU8) -> bool {
    let address = owned.addr();
    // spec: Mutex!DemandLock
    let guard = P::bucket(address).lock();
    // spec: Mutex!DemandChoose
    let node = guard.demanded();
    if node.is_some_and(|node| node.address() != address) {
        return false;
    }
    meet_demand(&guard, address);
    let Some(node) = node else { return false };
    let word = make_owner(&guard, node);
    drop(guard);
    // spec: Mutex!FutexWake
    P::futex_wake(word, 1);
    true
}

/// Hands the lock, which the caller owns, to the sleeper that has waited longest. False if nobody
/// sleeps: it is still the caller's.
#[cold]
pub(super) fn hand_to_oldest<P: Host>(owned: *const P::AtomicU8) -> bool {
    let address = owned.addr();
    // spec: Mutex!FairLock
    let guard = P::bucket(address).lock();
    // spec: Mutex!FairChoose
    let Some(oldest) = guard.oldest(address) else { return false };
    let word = make_owner(&guard, oldest);
    drop(guard);
    // spec: Mutex!FutexWake
    P::futex_wake(word, 1);
    true
}
