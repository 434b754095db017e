//! The names of locks by address, because a mutex is one byte and has no room for its own; and the
//! waits, which statistics count.

use core::cell::Cell;
use core::ffi::c_char;
use core::mem::ManuallyDrop;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use ondeck::stats::hooks::{self, Wait};
use ondeck::stats::{self, Lock, LockKind, Site};

/// A place for the name of a lock.
struct Place {
    /// 0 if the place was never used. It stays when the name is taken away.
    address: AtomicUsize,
    /// Null if no lock has the place; `TAKEN` while a thread fills it in.
    name: AtomicPtr<c_char>,
    /// How many locks have had the place: two of them may have the same name one after the other.
    locks: AtomicUsize,
}

const NAMES: usize = 1024;
const FAR: usize = 32;

static TABLE: [Place; NAMES] = [const {
    let (address, name) = (AtomicUsize::new(0), AtomicPtr::new(ptr::null_mut()));
    Place { address, name, locks: AtomicUsize::new(0) }
}; NAMES];

/// No thread waits for another one: in the child of a fork that one may not exist, and the place
/// stays taken.
static TAKEN: c_char = 0;

fn places(address: usize) -> impl Iterator<Item = &'static Place> {
    let first = address.wrapping_mul(0x9E37_79B9) >> 12;
    (first..first + FAR).map(|place| &TABLE[place % NAMES])
}

/// Returns the name in a place, and the address that it belongs to. They are of one moment: no lock
/// has got the place meanwhile.
fn read(place: &Place) -> (*mut c_char, usize) {
    loop {
        // Acquire: the name is not older than this number, and the address not older than the name.
        // If the name or the address is of a later lock, the last load, which the Acquire of the
        // address keeps after it, finds a higher number: `set` counts before it stores either.
        let locks = place.locks.load(Ordering::Acquire);
        let name = place.name.load(Ordering::Acquire);
        let address = place.address.load(Ordering::Acquire);
        if place.locks.load(Ordering::Relaxed) == locks {
            return (name, address);
        }
    }
}

/// Returns the place with the name of the lock at an address, and that name.
fn place_of(address: usize) -> Option<(&'static Place, *mut c_char)> {
    let taken = (&raw const TAKEN).cast_mut();
    places(address)
        .map(|it| (it, read(it)))
        .take_while(|(_, (name, its))| !name.is_null() || *its != 0)
        .find(|(_, (name, its))| *its == address && !name.is_null() && *name != taken)
        .map(|(it, (name, _))| (it, name))
}

/// Returns the name; null if there is none.
fn name_of(address: usize) -> *const c_char {
    place_of(address).map_or(ptr::null_mut(), |(_, name)| name)
}

/// Gives the lock at an address a name, or takes it away if it is null. Returns whether there was
/// room.
pub(crate) fn set(address: usize, name: *const c_char) -> bool {
    let taken = (&raw const TAKEN).cast_mut();
    // Acquire and Release: see `read`.
    let (order, failure, null) = (Ordering::AcqRel, Ordering::Relaxed, ptr::null_mut());
    while let Some((place, old)) = place_of(address) {
        // The place is another mutex's by now if a thread has taken the name away meanwhile.
        let is_set = place.name.compare_exchange(old, name.cast_mut(), order, failure).is_ok();
        if is_set && !name.is_null() {
            return true;
        }
    }
    let is_ours = |it: &&Place| it.name.compare_exchange(null, taken, order, failure).is_ok();
    let free = || if name.is_null() { None } else { places(address).find(is_ours) };
    let Some(place) = free() else { return name.is_null() };
    // Release, here and below: see `read`. No other thread has the place.
    place.locks.fetch_add(1, Ordering::Release);
    place.address.store(address, Ordering::Release);
    place.name.store(name.cast_mut(), Ordering::Release);
    true
}

/// The lock at an address, for statistics.
pub(crate) fn lock_of(address: usize, kind: LockKind) -> Lock {
    Lock { address, kind, name: name_of(address) }
}

std::thread_local! {
    /// The instruction of a program compiled with `ONDECK_STATS` that calls; 0 in other programs.
    pub(crate) static SITE: Cell<usize> = const { Cell::new(0) };
    /// A wait of that call, which has ended. Without a destructor: see `ondeck::stats::hooks`.
    pub(crate) static WAITED: Cell<Option<ManuallyDrop<Wait>>> = const { Cell::new(None) };
}

/// Waits by `block` for the lock of that address and kind, which returns whether the thread has it,
/// and counts that if statistics are on.
pub(crate) fn wait((address, kind): (usize, LockKind), block: impl FnOnce() -> bool) -> bool {
    let site = SITE.get();
    let begin = || hooks::waits(lock_of(address, kind), Site::code(site));
    let wait = if stats::is_on() { begin() } else { None };
    let has = block();
    match wait {
        // What called notes the end as well: `ondeck_stats_acquired`.
        Some(wait) if has && site != 0 => WAITED.set(Some(ManuallyDrop::new(wait))),
        Some(wait) if has => wait.ends(),
        Some(wait) => wait.gave_up(),
        None => {}
    }
    has
}

/// Acquires by `attempt`, or else waits by `block`.
#[inline]
pub(crate) fn acquire(
    lock: (usize, LockKind),
    attempt: impl FnOnce() -> bool,
    block: impl FnOnce(),
) {
    if !stats::is_on() {
        return block();
    }
    if !attempt() {
        wait(lock, || {
            block();
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use core::ffi::CStr;
    use core::sync::atomic::AtomicBool;
    use std::thread;

    use super::*;

    #[test]
    fn a_mutex_has_its_own_name_while_its_place_changes_hands() {
        // Addresses with the same places.
        let [one, other] = [0x1000, 0x1000 + (1 << 22)];
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..1_000_000 {
                    for (address, name) in [(one, c"one"), (other, c"other")] {
                        assert!(set(address, name.as_ptr()) && set(address, ptr::null()));
                    }
                }
                is_over.store(true, Ordering::Relaxed);
            });
            while !is_over.load(Ordering::Relaxed) {
                let name = name_of(other);
                // SAFETY: it is one of the two.
                assert!(name.is_null() || unsafe { CStr::from_ptr(name) } == c"other");
            }
        });
    }
}
