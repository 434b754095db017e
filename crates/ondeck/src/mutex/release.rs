//! What a release does when the table's byte tells it to look around.

use crate::parking::{Bucket, Guard, Node, attention, has_come, status};
use crate::platform::{AtomicInt, Ordering, Platform};

/// A waiter that has slept for so long is handed the lock instead of competing for it.
pub(super) const HANDOVER_AFTER_NANOS: u32 = 1_000_000;

/// The time between two handovers in one bucket.
const HANDOVER_EVERY_NANOS: u32 = 500_000;

/// While a waiter is on deck, one release in so many looks at the clock.
const RELEASES_BETWEEN_CLOCKS: u32 = 128;

/// The lock at `owned` was released; wakes a sleeper of it, unless somebody is awake.
///
/// Takes the byte as an address: the mutex may be gone, unless a waiter of it is found.
#[cold]
#[inline(never)]
pub(super) fn look_around<P: Platform>(owned: *const P::AtomicU8) {
    let address = owned.addr();
    let byte = P::attention(address);
    // Acquire: the looks below come after it also on machines that reorder loads.
    let fenced = byte.load(Ordering::Acquire) == attention::FENCED;
    if fenced {
        // Pairs with the full fence of whoever parks.
        P::fence(Ordering::SeqCst);
    }
    let bucket = P::bucket(address);
    let releases = bucket.count_release();
    if bucket.is_on_deck(address) {
        if releases % RELEASES_BETWEEN_CLOCKS == 0 && bucket.has_parked() && bucket.may_be_due(P::ticks() as usize) {
            wake::<P>(bucket, owned);
        } else if fenced && releases >= attention::RELEASES_BEFORE_LIGHT {
            relax::<P>(bucket, address, releases);
        }
    } else if bucket.has_parked() {
        wake::<P>(bucket, owned);
    } else if releases >= attention::RELEASES_BEFORE_SKIP || bucket.never_parked() || (fenced && releases == attention::RELEASES_BEFORE_LIGHT) {
        relax::<P>(bucket, address, releases);
    }
}

/// Lets releases do less from now on: nobody has parked here for a while.
#[cold]
fn relax<P: Platform>(bucket: &Bucket<P>, address: usize, releases: u32) {
    let Some(guard) = bucket.try_lock() else { return };
    if !P::may_relax() {
        guard.take_releases();
        return;
    }
    let nobody = !bucket.has_parked();
    let skip = nobody && (releases >= attention::RELEASES_BEFORE_SKIP || bucket.never_parked());
    let byte = if skip { attention::SKIP } else { attention::LIGHT };
    P::attention(address).store(byte, Ordering::Relaxed);
}

fn wake<P: Platform>(bucket: &Bucket<P>, owned: *const P::AtomicU8) {
    let address = owned.addr();
    let guard = bucket.lock();
    if let Some(word) = choose(&guard, owned, address) {
        // Woken without the bucket's lock, which it needs itself.
        drop(guard);
        P::futex_wake(word, 1);
    }
}

/// Chooses whom to wake, if anybody, and tells it what it is now.
fn choose<P: Platform>(guard: &Guard<'_, P>, owned: *const P::AtomicU8, address: usize) -> Option<*const P::AtomicU32> {
    let bucket = guard.bucket();
    let now = P::ticks() as usize;
    if bucket.may_be_due(now)
        && let Some(oldest) = guard.oldest(address)
    {
        if is_overdue::<P>(oldest, now) {
            guard.set_due(now.wrapping_add(P::ticks_in(HANDOVER_EVERY_NANOS)));
            return hand_over(guard, owned, oldest);
        }
        guard.set_due(oldest.since.load(Ordering::Relaxed).wrapping_add(P::ticks_in(HANDOVER_AFTER_NANOS)));
    }
    if bucket.is_on_deck(address) {
        return None;
    }
    let newest = guard.newest(address)?;
    match bucket.set_on_deck(address) {
        // SAFETY: it is linked and counted as parked.
        Ok(_) => Some(unsafe { guard.release(newest, status::ON_DECK) }),
        Err(other) if other == address => None,
        Err(_) => hand_over(guard, owned, newest),
    }
}

/// Takes the lock again, on behalf of a sleeper. None if somebody else was faster, whose release
/// will look around in turn.
fn hand_over<P: Platform>(guard: &Guard<'_, P>, owned: *const P::AtomicU8, node: &Node<P>) -> Option<*const P::AtomicU32> {
    // SAFETY: a waiter of this mutex is linked, and stays so while the bucket's lock is held, so
    // the mutex is in use and its byte is there.
    if P::test_and_set(unsafe { &*owned }, Ordering::Acquire) {
        return None;
    }
    // SAFETY: it is linked and counted as parked.
    Some(unsafe { guard.release(node, status::OWNER) })
}

fn is_overdue<P: Platform>(node: &Node<P>, now: usize) -> bool {
    has_come::<P>(now, node.since.load(Ordering::Relaxed).wrapping_add(P::ticks_in(HANDOVER_AFTER_NANOS)))
}
