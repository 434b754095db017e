//! The names of mutexes by address, because a mutex is one byte and has no room for its own; and the beginning of a wait, which
//! statistics count.

use core::ffi::{c_char, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use ondeck::stats::hooks::{self, Wait};
use ondeck::stats::{self, Lock, LockKind, Site};

/// A name, by the address of its mutex.
struct Name {
    /// 0 if the place was never used. It stays when the name is taken away.
    address: AtomicUsize,
    /// Null if no mutex has the place.
    name: AtomicPtr<c_char>,
}

const NAMES: usize = 1024;
const FAR: usize = 32;

static TABLE: [Name; NAMES] =
    [const { Name { address: AtomicUsize::new(0), name: AtomicPtr::new(ptr::null_mut()) } }; NAMES];

/// Held by a thread that changes names.
static CHANGES: Mutex<()> = Mutex::new(());

fn places(address: usize) -> impl Iterator<Item = &'static Name> {
    let first = address.wrapping_mul(0x9E37_79B9) >> 12;
    (first..first + FAR).map(|place| &TABLE[place % NAMES])
}

fn place_of(address: usize) -> Option<&'static Name> {
    // Acquire: the name is that of this address, not of the one before it.
    let places = places(address).take_while(|it| it.address.load(Ordering::Acquire) != 0);
    places.into_iter().find(|it| it.address.load(Ordering::Acquire) == address)
}

/// Returns the name; null if there is none.
fn name_of(address: usize) -> *const c_char {
    place_of(address).map_or(ptr::null_mut(), |it| it.name.load(Ordering::Acquire))
}

/// Gives the mutex at an address a name, or takes it away if it is null. Returns whether there was room.
pub(crate) fn set(address: usize, name: *const c_char) -> bool {
    let _alone = CHANGES.lock().unwrap_or_else(PoisonError::into_inner);
    let mut place = place_of(address);
    if place.is_none() && !name.is_null() {
        place = places(address).find(|it| it.name.load(Ordering::Relaxed).is_null());
    }
    let Some(place) = place else { return name.is_null() };
    place.address.store(address, Ordering::Release);
    place.name.store(name.cast_mut(), Ordering::Release);
    true
}

/// Takes the name away, if there is one.
pub(crate) fn forget(address: usize) {
    if !name_of(address).is_null() {
        set(address, ptr::null());
    }
}

/// The mutex at an address, for statistics.
pub(crate) fn lock_of(address: usize) -> Lock {
    Lock { address, kind: LockKind::Mutex, name: name_of(address) }
}

/// The calling thread begins to wait for the mutex at `address`, at the instruction `site`.
pub(crate) fn waits(address: usize, site: *const c_void) -> Option<Wait> {
    if stats::is_on() { hooks::waits(lock_of(address), Site::code(site.addr())) } else { None }
}
