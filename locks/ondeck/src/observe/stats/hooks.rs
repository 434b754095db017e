//! The events of locks, while statistics are on: called by the observer of this crate's locks, and
//! by the locks of C.
//!
//! ```text
//! waits ──► acquired ──► unlocks, before the unlock ──► unlocked, after it
//!           the hold is    its time                       counted, and perhaps a warning
//!           the thread's
//! ```
//!
//! No event allocates, and none waits for a lock that a program has. An event of a signal handler,
//! or of a program's function that is warned, is ignored if it comes within another one of the same
//! thread.

extern crate std;

use core::cell::Cell;
use core::mem;
use core::sync::atomic::Ordering::Relaxed;
use std::panic::catch_unwind;

use super::table::{self, Entry, Lock};
use super::warn::{self, Long};
use super::{EPOCH, Site, now};
use crate::observe::Kind;
use crate::platform::Native;

/// The most locks of a thread that are timed at the same time. If it holds more, its oldest hold is
/// not.
const MOST_HELD: usize = 16;

/// A lock that the thread holds.
#[derive(Clone, Copy)]
struct Held {
    address: usize,
    since: u64,
    site: Option<Site>,
    entry: Option<&'static Entry>,
}

const NONE: Held = Held { address: 0, since: 0, site: None, entry: None };

struct Local {
    is_inside: Cell<bool>,
    /// The value of [`EPOCH`] at which the holds were right.
    epoch: Cell<u32>,
    /// The number of locks in `held`, the oldest first.
    depth: Cell<usize>,
    held: [Cell<Held>; MOST_HELD],
    /// The number of older holds, for which `held` had no room.
    untimed: Cell<usize>,
    /// Whether `pending` has a warning.
    is_warning: Cell<bool>,
    /// The warning that the thread gives when it holds no lock any more.
    pending: Cell<Option<Long>>,
}

std::thread_local! {
    /// Constant and without a destructor, so that locks work in destructors of other values.
    static LOCAL: Local = const {
        Local {
            is_inside: Cell::new(false),
            epoch: Cell::new(0),
            depth: Cell::new(0),
            held: [const { Cell::new(NONE) }; MOST_HELD],
            untimed: Cell::new(0),
            is_warning: Cell::new(false),
            pending: Cell::new(None),
        }
    };
}

/// Runs `event` unless the thread is in another one.
fn with<T>(event: impl FnOnce(&Local) -> Option<T>) -> Option<T> {
    LOCAL.with(|local| {
        if local.is_inside.replace(true) {
            return None;
        }
        let epoch = EPOCH.load(Relaxed);
        if local.epoch.replace(epoch) != epoch {
            // What was unlocked while statistics were off.
            local.depth.set(0);
            local.untimed.set(0);
        }
        let done = event(local);
        local.is_inside.set(false);
        done
    })
}

impl Local {
    fn push(&self, holds: Held) {
        if self.depth.get() == MOST_HELD {
            if let Some(entry) = self.remove(0).entry {
                // Its end will not be seen.
                entry.holder.store(0, Relaxed);
            }
            self.untimed.set(self.untimed.get() + 1);
        }
        self.held[self.depth.get()].set(holds);
        self.depth.set(self.depth.get() + 1);
    }

    fn remove(&self, place: usize) -> Held {
        let removed = self.held[place].get();
        self.depth.set(self.depth.get() - 1);
        for place in place..self.depth.get() {
            self.held[place].set(self.held[place + 1].get());
        }
        removed
    }

    /// Removes the thread's newest hold of a lock.
    fn take(&self, address: usize) -> Option<Held> {
        let mut held = self.held[..self.depth.get()].iter();
        let place = held.rposition(|held| held.get().address == address);
        if place.is_none() {
            self.untimed.set(self.untimed.get().saturating_sub(1));
        }
        place.map(|place| self.remove(place))
    }

    /// Gives a warning later, or drops it if another one is due.
    fn warns(&self, long: Option<Long>) {
        if let Some(long) = long {
            if self.is_warning.replace(true) {
                warn::suppress(&long);
            } else {
                self.pending.set(Some(long));
            }
        }
    }
}

/// A thread that waits for a lock.
#[derive(Debug)]
pub struct Wait {
    entry: Option<&'static Entry>,
    is_for_once: bool,
    since: u64,
    site: Option<Site>,
    /// Where the thread locked it that holds it when the wait begins.
    held_at: Option<Site>,
}

impl Wait {
    /// The thread has the lock. Its hold is not observed.
    #[cfg(feature = "internals")]
    pub fn ends(mut self) {
        if let Some(entry) = self.entry.take() {
            entry.waiting.fetch_sub(1, Relaxed);
            entry.count_wait(now().saturating_sub(self.since));
        }
    }

    /// The deadline has passed.
    pub fn gave_up(mut self) {
        if let Some(entry) = self.entry.take() {
            entry.waiting.fetch_sub(1, Relaxed);
            entry.gave_up.fetch_add(1, Relaxed);
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        let Some(entry) = self.entry else { return };
        entry.waiting.fetch_sub(1, Relaxed);
        // A thread that has waited for another's closure does not acquire the once.
        if self.is_for_once {
            entry.count_wait(now().saturating_sub(self.since));
        }
    }
}

/// The thread begins to wait for the lock.
pub fn waits(lock: Lock, site: Option<Site>) -> Option<Wait> {
    with(|_| {
        let entry = table::enter(lock, site);
        let mut held_at = None;
        if let Some(entry) = entry {
            entry.waiting.fetch_add(1, Relaxed);
            entry.waits_at.store(Site::to_word(site), Relaxed);
            if entry.holder.load(Relaxed) != 0 {
                held_at = Site::of_word(entry.held_at.load(Relaxed));
            }
        }
        let is_for_once = lock.kind == Kind::Once;
        Some(Wait { entry, is_for_once, since: now(), site, held_at })
    })
}

/// The thread has had to wait for `nanos` for the lock.
pub fn waited(lock: Lock, site: Option<Site>, nanos: u64) -> Option<Wait> {
    let mut wait = waits(lock, site)?;
    wait.since = wait.since.saturating_sub(nanos);
    Some(wait)
}

/// The thread has the lock, after `wait` if it had to wait; `is_alone` if no other thread can have
/// it as well.
pub fn acquired(lock: Lock, is_alone: bool, site: Option<Site>, wait: Option<Wait>) {
    with(|local| {
        let since = now();
        let entry = match wait {
            Some(mut wait) => {
                let entry = wait.entry.take();
                let nanos = since.saturating_sub(wait.since);
                if let Some(entry) = entry {
                    entry.waiting.fetch_sub(1, Relaxed);
                    entry.count_wait(nanos);
                }
                local.warns(warn::WAITS.long(lock, nanos, (wait.site, wait.held_at)));
                entry
            }
            None => table::find(lock),
        };
        local.push(Held { address: lock.address, since, site, entry });
        if is_alone && let Some(entry) = entry {
            entry.held_at.store(Site::to_word(site), Relaxed);
            entry.held_since.store(since, Relaxed);
            entry.holder.store(Native::thread_pointer().get(), Relaxed);
        }
        Some(())
    });
}

/// A hold that ends.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    lock: Lock,
    entry: Option<&'static Entry>,
    nanos: u64,
    site: Option<Site>,
    /// It is the longest of its lock, or a warning is due.
    has_more: bool,
}

impl Ended {
    /// Returns where the lock was locked.
    pub fn site(&self) -> Option<Site> {
        self.site
    }
}

/// The thread is about to unlock the lock.
pub fn unlocks(lock: Lock, is_alone: bool) -> Option<Ended> {
    with(|local| {
        let held = local.take(lock.address)?;
        let nanos = now().saturating_sub(held.since);
        // The first thread that waited for it may have come during this hold.
        let entry = held.entry.or_else(|| table::find(lock));
        if is_alone && let Some(entry) = entry {
            entry.holder.store(0, Relaxed);
        }
        let is_longest = |entry: &Entry| nanos > entry.longest_hold.load(Relaxed);
        let has_more =
            entry.is_some_and(is_longest) || warn::HOLDS.is_long(nanos) || local.is_warning.get();
        Some(Ended { lock, entry, nanos, site: held.site, has_more })
    })
}

/// The thread has unlocked the lock, which may be gone. If it `goes_on`, rather than waits, it may
/// give a warning.
#[inline]
pub fn unlocked(ended: Ended, goes_on: bool) {
    if ended.has_more {
        unlocked_with_more(ended, goes_on);
    }
}

#[cold]
fn unlocked_with_more(ended: Ended, goes_on: bool) {
    let told = with(|local| {
        let mut waits_at = None;
        if let Some(entry) = ended.entry {
            entry.note_hold(ended.nanos, ended.site);
            if entry.waiting.load(Relaxed) != 0 {
                waits_at = Site::of_word(entry.waits_at.load(Relaxed));
            }
        }
        local.warns(warn::HOLDS.long(ended.lock, ended.nanos, (ended.site, waits_at)));
        let may_tell = || goes_on && local.depth.get() == 0 && local.untimed.get() == 0;
        local.pending.get().filter(|_| may_tell())
    });
    let Some(long) = told else { return };
    LOCAL.with(|local| {
        local.pending.set(None);
        local.is_warning.set(false);
        local.is_inside.set(true);
        // The guard of a lock of `lock_api` 0.4 would unlock it once more after a panic.
        if let Err(panic) = catch_unwind(|| long.tell()) {
            // To drop the value of a panic runs code of the program, which may panic again.
            mem::forget(panic);
        }
        local.is_inside.set(false);
    });
}
