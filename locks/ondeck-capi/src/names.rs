//! The names of mutexes by address, because a mutex is one byte and has no room for its own; and
//! the beginning of a wait, which statistics count.

use core::ffi::{c_char, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use ondeck::stats::hooks::{self, Wait};
use ondeck::stats::{self, Lock, LockKind, Site};

/// A name, by the address of its mutex.
struct Name {
    /// 0 if the place was never used. It stays when the name is taken away.
    address: AtomicUsize,
    /// Null if no mutex has the place; `TAKEN` while a thread fills it in.
    name: AtomicPtr<c_char>,
}

const NAMES: usize = 1024;
const FAR: usize = 32;

static TABLE: [Name; NAMES] =
    [const { Name { address: AtomicUsize::new(0), name: AtomicPtr::new(ptr::null_mut()) } }; NAMES];

/// No thread waits for another one: in the child of a fork that one may not exist, and the place
/// stays taken.
static TAKEN: c_char = 0;

fn places(address: usize) -> impl Iterator<Item = &'static Name> {
    let first = address.wrapping_mul(0x9E37_79B9) >> 12;
    (first..first + FAR).map(|place| &TABLE[place % NAMES])
}

/// Returns the place with the name of the mutex at an address, and that name.
fn place_of(address: usize) -> Option<(&'static Name, *mut c_char)> {
    let taken = (&raw const TAKEN).cast_mut();
    // Acquire: the address is read after the name, so it is that of this name or of a later one.
    places(address)
        .map(|it| (it, it.name.load(Ordering::Acquire), it.address.load(Ordering::Acquire)))
        .take_while(|(_, name, its)| !name.is_null() || *its != 0)
        .find(|(_, name, its)| *its == address && !name.is_null() && *name != taken)
        .map(|(it, name, _)| (it, name))
}

/// Returns the name; null if there is none.
fn name_of(address: usize) -> *const c_char {
    place_of(address).map_or(ptr::null_mut(), |(_, name)| name)
}

/// Gives the mutex at an address a name, or takes it away if it is null. Returns whether there was
/// room.
pub(crate) fn set(address: usize, name: *const c_char) -> bool {
    let taken = (&raw const TAKEN).cast_mut();
    // Acquire: a place that was used before has its address.
    let (order, null) = (Ordering::Acquire, ptr::null_mut());
    let is_ours = |it: &&Name| it.name.compare_exchange(null, taken, order, order).is_ok();
    let free = || if name.is_null() { None } else { places(address).find(is_ours) };
    let Some(place) = place_of(address).map(|(it, _)| it).or_else(free) else {
        return name.is_null();
    };
    place.address.store(address, Ordering::Release);
    place.name.store(name.cast_mut(), Ordering::Release);
    true
}

/// The mutex at an address, for statistics.
pub(crate) fn lock_of(address: usize) -> Lock {
    Lock { address, kind: LockKind::Mutex, name: name_of(address) }
}

/// The calling thread begins to wait for the mutex at `address`, at the instruction `site`.
pub(crate) fn waits(address: usize, site: *const c_void) -> Option<Wait> {
    if stats::is_on() { hooks::waits(lock_of(address), Site::code(site.addr())) } else { None }
}
