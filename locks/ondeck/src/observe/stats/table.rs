//! The numbers of each lock, in a table of a fixed size: nothing is allocated, because the lock may
//! be an allocator's.
//!
//! A lock is known by its address, its kind and its name. So what takes the place of a lock that is
//! gone has numbers of its own if its kind or name is another one. An entry is never removed: sums
//! of a program only grow.

extern crate std;

use core::ffi::{CStr, c_char};
use core::ptr;
use core::sync::atomic::{
    AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, Ordering::Relaxed,
};
use core::time::Duration;

use crate::observe::Kind;
use crate::platform::{Native, Platform};

use super::Site;

/// A power of two; the most locks that have numbers.
const LOCKS: usize = 1024;
/// The most places that a search looks at.
const FAR: usize = 32;

/// A bucket has an eighth of its power of two, or is the time itself below 8 ns.
const PRECISION: u32 = 3;
/// Times from 2^36 ns on, 69 seconds, are in the last bucket.
const LARGEST: u32 = 36;
pub(super) const BUCKETS: usize = ((LARGEST - PRECISION + 1) << PRECISION) as usize;

/// Returns the bucket that counts a time in nanoseconds.
pub(super) fn bucket_of(nanos: u64) -> usize {
    if nanos < 1 << PRECISION {
        return nanos as usize;
    }
    let power = nanos.ilog2();
    if power >= LARGEST {
        return BUCKETS - 1;
    }
    let within = (nanos >> (power - PRECISION)) & ((1 << PRECISION) - 1);
    (((power - PRECISION + 1) << PRECISION) + within as u32) as usize
}

/// Returns the smallest time that is too long for a bucket.
pub(super) fn end_of(bucket: usize) -> u64 {
    let next = bucket + 1;
    let (power, within) = (next >> PRECISION, next as u64 & ((1 << PRECISION) - 1));
    if power == 0 { within } else { ((1 << PRECISION) + within) << (power - 1) }
}

/// A lock as it calls. The name is thin: an event need not look for its end.
#[derive(Clone, Copy, Debug)]
pub struct Lock {
    /// Its address.
    pub address: usize,
    /// Its kind.
    pub kind: Kind,
    /// Its name, a static string; null if it has none.
    pub name: *const c_char,
}

impl Lock {
    /// Returns the name; an empty one if it has none.
    pub(super) fn name(&self) -> &'static CStr {
        // SAFETY: if it is not null, it is a static string.
        if self.name.is_null() { c"" } else { unsafe { CStr::from_ptr(self.name) } }
    }
}

/// The numbers of a lock. Times are in nanoseconds.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Entry {
    // Written when the entry is made, before its address is in `KEYS`.
    kind: AtomicU8,
    name: AtomicPtr<c_char>,
    pub(super) site: AtomicUsize,

    /// Threads that wait.
    pub(super) waiting: AtomicU32,
    /// Where a thread that waits called last.
    pub(super) waits_at: AtomicUsize,

    // Written by the thread that holds the lock alone.
    /// 0 if it is not known.
    pub(super) holder: AtomicUsize,
    pub(super) held_since: AtomicU64,
    pub(super) held_at: AtomicUsize,

    pub(super) waits: AtomicU64,
    pub(super) gave_up: AtomicU64,
    pub(super) waited: AtomicU64,
    pub(super) longest_wait: AtomicU64,
    // Written together, by `alone`.
    pub(super) longest_hold: AtomicU64,
    pub(super) longest_hold_at: AtomicUsize,
    pub(super) times: [AtomicU64; BUCKETS],
}

/// The addresses of the locks that have entries; 0 if a place is free.
static KEYS: [AtomicUsize; LOCKS] = [const { AtomicUsize::new(0) }; LOCKS];

static ENTRIES: [Entry; LOCKS] = [const {
    Entry {
        kind: AtomicU8::new(0),
        name: AtomicPtr::new(ptr::null_mut()),
        site: AtomicUsize::new(0),
        waiting: AtomicU32::new(0),
        waits_at: AtomicUsize::new(0),
        holder: AtomicUsize::new(0),
        held_since: AtomicU64::new(0),
        held_at: AtomicUsize::new(0),
        waits: AtomicU64::new(0),
        gave_up: AtomicU64::new(0),
        waited: AtomicU64::new(0),
        longest_wait: AtomicU64::new(0),
        longest_hold: AtomicU64::new(0),
        longest_hold_at: AtomicUsize::new(0),
        times: [const { AtomicU64::new(0) }; BUCKETS],
    }
}; LOCKS];

/// Locks that found no room.
pub(super) static DROPPED: AtomicU64 = AtomicU64::new(0);

/// The process of the thread that makes an entry or changes its longest hold; 0 if none does.
pub(super) static CHANGING: AtomicU32 = AtomicU32::new(0);

/// Runs `change` alone, or in place of a thread that does not exist in this child of a fork.
/// Returns `None` without having run it if another thread takes long.
fn alone<T>(change: impl FnOnce() -> T) -> Option<T> {
    const PATIENCE: Duration = Duration::from_millis(1);
    let this = cfg_select! {
        unix => { std::process::id() }
        _ => { 1 }
    };
    // Acquire: the previous change.
    let replaces = |other| CHANGING.compare_exchange(other, this, Ordering::Acquire, Relaxed);
    let begins =
        || replaces(0).or_else(|it| if it == this { Err(it) } else { replaces(it) }).is_ok();
    if !begins() {
        let end = Native::now().after(PATIENCE);
        while !begins() {
            if Native::now() >= end {
                return None;
            }
            Native::yield_now();
        }
    }
    let done = change();
    CHANGING.store(0, Ordering::Release);
    Some(done)
}

enum Place {
    Has(&'static Entry),
    Free(usize),
    Full,
}

#[inline]
fn look(lock: Lock) -> Place {
    // Names of locks in arrays of structures differ in few bits.
    let first = lock.address.wrapping_mul(0x9E37_79B9) >> 12;
    for step in 0..FAR {
        let place = (first + step) % LOCKS;
        // Acquire: publishes the entry.
        match KEYS[place].load(Ordering::Acquire) {
            0 => return Place::Free(place),
            key if key == lock.address && ENTRIES[place].is_of(lock) => {
                return Place::Has(&ENTRIES[place]);
            }
            _ => {}
        }
    }
    Place::Full
}

/// Returns the entry of the lock, if it has one.
#[inline]
pub(super) fn find(lock: Lock) -> Option<&'static Entry> {
    if let Place::Has(entry) = look(lock) { Some(entry) } else { None }
}

/// Returns the entry of the lock, and makes one if it has none; `None` if there is no room.
pub(super) fn enter(lock: Lock, site: Option<Site>) -> Option<&'static Entry> {
    if let Some(entry) = find(lock) {
        return Some(entry);
    }
    let entry = alone(|| match look(lock) {
        Place::Has(entry) => Some(entry),
        Place::Free(place) => {
            let entry = &ENTRIES[place];
            entry.kind.store(lock.kind as u8, Relaxed);
            entry.name.store(lock.name.cast_mut(), Relaxed);
            entry.site.store(Site::to_word(site), Relaxed);
            // Release: publishes the entry.
            KEYS[place].store(lock.address, Ordering::Release);
            Some(entry)
        }
        Place::Full => None,
    });
    let entry = entry.flatten();
    if entry.is_none() {
        DROPPED.fetch_add(1, Relaxed);
    }
    entry
}

/// Calls `seen` for each lock that has an entry.
pub(super) fn each(mut seen: impl FnMut(Lock, &'static Entry)) {
    for (key, entry) in KEYS.iter().zip(&ENTRIES) {
        let address = key.load(Ordering::Acquire);
        if address != 0 {
            let kind = Kind::ALL[usize::from(entry.kind.load(Relaxed))];
            seen(Lock { address, kind, name: entry.name.load(Relaxed) }, entry);
        }
    }
}

impl Entry {
    #[inline]
    fn is_of(&self, lock: Lock) -> bool {
        self.kind.load(Relaxed) == lock.kind as u8 && self.has_name(lock)
    }

    #[inline]
    fn has_name(&self, lock: Lock) -> bool {
        let name = self.name.load(Relaxed).cast_const();
        name == lock.name || Lock { name, ..lock }.name() == lock.name()
    }

    /// Counts a wait that ended with the lock.
    pub(super) fn count_wait(&self, nanos: u64) {
        self.waits.fetch_add(1, Relaxed);
        self.waited.fetch_add(nanos, Relaxed);
        if nanos > self.longest_wait.load(Relaxed) {
            self.longest_wait.fetch_max(nanos, Relaxed);
        }
        self.times[bucket_of(nanos)].fetch_add(1, Relaxed);
    }

    /// Keeps a hold if it is the longest.
    pub(super) fn note_hold(&self, nanos: u64, site: Option<Site>) {
        if nanos > self.longest_hold.load(Relaxed) {
            alone(|| {
                if nanos > self.longest_hold.load(Relaxed) {
                    self.longest_hold.store(nanos, Relaxed);
                    self.longest_hold_at.store(Site::to_word(site), Relaxed);
                }
            });
        }
    }

    /// Returns the longest hold and its place.
    pub(super) fn longest_hold(&self) -> (u64, Option<Site>) {
        let both = || (self.longest_hold.load(Relaxed), self.longest_hold_at.load(Relaxed));
        let (nanos, site) = alone(both).unwrap_or_else(both);
        (nanos, Site::of_word(site))
    }
}
