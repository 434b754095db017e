//! A wait: the hooks that locks call from the moment at which a thread finds the lock held until it
//! is the owner.
//!
//! ```text
//! lock:    taken?  begin ── polls ── parks ── sleeps ── acquired        the wait is kept by the thread
//!                    │                 │                    │
//! the lock's word   RECORD, if chosen  RECORD and WAIT      RECORD, if kept
//!                    │                 │                    │
//! unlock:  word ≠ 0?  before_unlock ── unlock ── after                  wait and hold are recorded
//! ```
//!
//! So an unlock reads one word to find out whether it is recorded, for the thread's own wait or for
//! the waits of others, and all expensive work is done after the unlock. If `RECORD` is set, the
//! unlock is recorded, and the owner clears the bit. If only `WAIT` is set, threads are parked, and
//! one unlock in a few is recorded; see `thread.rs`.

use core::ffi::CStr;
use core::sync::atomic::Ordering;
use core::{mem, ptr};

use probe::probe;

use crate::layout::{File, Lock};
use crate::thread::{self, Current, Local, Pending};
use crate::unlock::{self, Held};
use crate::words::{RECORD, WAIT, Words};
use crate::{clock, maps, state, table};

/// A thread that waits for a lock.
#[derive(Debug)]
#[must_use]
pub struct Wait {
    lock: usize,
    /// Ticks; 0 if it will certainly not be recorded.
    arrived: u64,
    /// The outer wait, if this one is in a signal handler that interrupted a wait.
    outer: Current,
}

/// Called when the thread has found the lock at `lock` held, and is about to wait for it. `name` is
/// the one that the program gave it; empty if it gave none.
///
/// Never blocks and never allocates; keeps `errno`. Takes some 20 ns while recording, mostly for
/// reading the clock; otherwise a load and the probe `ondeck:wait_begin`.
#[inline]
pub fn begin(lock: usize, kind: u32, name: &'static CStr, words: Option<Words<'_>>) -> Wait {
    probe!(ondeck, wait_begin, lock);
    match state::file() {
        Some(file) => begin_in(file, lock, kind, name, words),
        None => Wait { lock, arrived: 0, outer: Current::NONE },
    }
}

#[inline(never)]
fn begin_in(
    file: &'static File,
    lock: usize,
    kind: u32,
    name: &'static CStr,
    words: Option<Words<'_>>,
) -> Wait {
    let arrived = clock::ticks();
    let outer = thread::of(file, |local| {
        let current = Current {
            lock,
            file: thread::address_of(file),
            kind,
            name,
            arrived,
            weight: 0,
            has_parked: false,
            request: words.map_or(ptr::null(), |words| ptr::from_ref(words.request)),
            acquisitions: words.map_or(ptr::null(), |words| ptr::from_ref(words.acquisitions)),
            // Relaxed: an outdated count belongs to an older hold, and will differ from a newer
            // one.
            turn: words.map_or(0, |words| words.acquisitions.load(Ordering::Relaxed)),
            turn_since: arrived,
        };
        let outer = mem::replace(&mut local.current, current);
        let weight = local.next(arrived);
        if weight != 0
            && let Some(entry) = enter(file, local, weight)
        {
            if let Some(words) = words {
                entry.created.store(words.created.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            note_turn(&mut local.current, entry);
            request(&local.current, entry, RECORD);
        }
        outer
    });
    match outer {
        Some(outer) => Wait { lock, arrived, outer },
        None => Wait { lock, arrived: 0, outer: Current::NONE },
    }
}

/// Enters the thread's current wait into its lock's account.
fn enter(file: &'static File, local: &mut Local, weight: u32) -> Option<&'static Lock> {
    let Current { lock, kind, name, arrived, turn, .. } = local.current;
    let (entry, is_new) = table::lock(file, lock, kind, turn)?;
    if is_new {
        crate::sys::with_errno_kept(|| maps::see(file, lock as u64));
    }
    table::name(entry, name);
    table::took_part(entry, local.index);
    table::arrive(entry, arrived, weight);
    local.current.weight = weight;
    Some(entry)
}

/// Asks the owner to record its unlock.
fn request(current: &Current, entry: &Lock, what: u32) {
    // SAFETY: null, or points to the word of a lock that the calling thread waits for.
    let request = unsafe { current.request.as_ref() }.unwrap_or(&entry.request);
    // Relaxed: if an owner misses the request, the next one serves it. Read first, to avoid taking
    // the cache line from the owner.
    if request.load(Ordering::Relaxed) & what != what {
        request.fetch_or(what, Ordering::Relaxed);
    }
}

/// Called when the thread has found the lock at `lock` free, and threads may wait for it. Notes an
/// acquisition later than all that the thread has noted before. `turn` is the lock's count of
/// acquisitions, this one included; 0 if it has none.
#[inline(never)]
pub fn acquired(lock: usize, turn: u64) {
    thread::stamp(lock, turn, None);
}

/// Called when the thread is about to park for the lock at `lock`. Its wait is recorded for itself
/// from now on, even if it was not chosen. For the locks' slow paths; may be called repeatedly.
#[inline]
pub fn parks(lock: usize) {
    if state::is_on() {
        parks_while_on(lock);
    }
}

#[inline(never)]
fn parks_while_on(lock: usize) {
    let Some(file) = state::file() else { return };
    thread::of(file, |local| {
        if local.current.lock != lock {
            return;
        }
        let entry = match local.current.weight {
            0 => enter(file, local, 1),
            1 => table::find(file, lock),
            weight => table::find(file, lock).inspect(|entry| {
                table::reweigh(entry, local.current.arrived, weight, 1);
                local.current.weight = 1;
            }),
        };
        local.current.has_parked = true;
        if let Some(entry) = entry {
            note_turn(&mut local.current, entry);
            request(&local.current, entry, RECORD | WAIT);
        }
    });
}

/// Gives the owner a time since which it has held the lock: when the calling thread last read the
/// count of acquisitions, if that has not changed.
fn note_turn(current: &mut Current, entry: &Lock) {
    // SAFETY: null, or points to the word of a lock that the calling thread waits for.
    let Some(acquisitions) = (unsafe { current.acquisitions.as_ref() }) else { return };
    let turn = acquisitions.load(Ordering::Relaxed);
    if turn != current.turn {
        (current.turn, current.turn_since) = (turn, clock::ticks());
    }
    // The first thread to do so has the earliest time, or nearly the earliest.
    if entry.turn.load(Ordering::Relaxed) != turn {
        entry.turn_since.store(current.turn_since, Ordering::Relaxed);
        entry.turn.store(turn, Ordering::Release);
    }
}

impl Wait {
    /// Called when the thread has acquired the lock. The wait is recorded at the unlock if the lock
    /// has words, otherwise immediately.
    #[inline]
    pub fn acquired(self, words: Option<Words<'_>>) {
        probe!(ondeck, wait_end, self.lock, 1);
        if self.arrived != 0 {
            self.keep(words);
        }
    }

    fn keep(self, words: Option<Words<'_>>) {
        let acquired = clock::ticks();
        let Some(current) = thread::leave(self.lock, self.outer) else { return };
        let Current { lock, kind, arrived, weight, has_parked, .. } = current;
        // The pending wait keeps this time. The lock counts the acquisition afterwards.
        let turn = words.map(|words| words.acquisitions.load(Ordering::Relaxed).wrapping_add(1));
        let is_recorded = weight != 0 || Local::is_long(acquired.saturating_sub(arrived));
        if !is_recorded || turn.is_none() {
            thread::stamp(lock, turn.unwrap_or(0), Some(acquired));
        }
        if !is_recorded {
            return;
        }
        let Some(file) = current.file() else { return };
        let pending = Pending {
            file: current.file,
            lock,
            arrived,
            acquired,
            weight,
            is_in_account: weight != 0,
            has_parked,
        };
        let now_or_never = thread::of(file, |local| keep(file, local, pending, words));
        match now_or_never {
            Some(Some(pending)) => Held::of_wait(lock, kind, pending).record(file),
            Some(None) => {}
            None => forget(file, &current, acquired),
        }
    }

    /// Called when the thread has given up at its deadline.
    pub fn gave_up(self) {
        probe!(ondeck, wait_end, self.lock, 0);
        if self.arrived == 0 {
            return;
        }
        let now = clock::ticks();
        let Some(current) = thread::leave(self.lock, self.outer) else { return };
        let Some(file) = current.file() else { return };
        if let Some((entry, _)) = table::lock(file, self.lock, current.kind, current.turn) {
            table::name(entry, current.name);
            entry.timeouts.fetch_add(1, Ordering::Relaxed);
            table::waited(entry, now.saturating_sub(current.arrived), 1);
        }
        forget(file, &current, now);
    }
}

/// Keeps an acquisition until its unlock. Returns it if it must be recorded now.
fn keep(
    file: &'static File,
    local: &mut Local,
    pending: Pending,
    words: Option<Words<'_>>,
) -> Option<Pending> {
    let Some(words) = words else { return Some(pending) };
    if let Some(stale) = local.take(pending.lock) {
        // Another thread has unlocked the lock that this one had locked.
        unlock::settle(file, &stale);
    }
    let kept = local.keep(pending);
    if kept.is_ok() {
        words.request.fetch_or(RECORD, Ordering::Relaxed);
    }
    kept.err()
}

/// Called when the thread has reacquired the lock at `lock`, after waiting for `nanos` since its
/// wait at a condition variable ended.
///
/// It is recorded as a wait for that lock, and no owner is charged with it: when it began, at the
/// notification, it was not entered into the lock's account.
#[inline(never)]
pub fn relocked(lock: usize, kind: u32, name: &CStr, words: Option<Words<'_>>, nanos: u64) {
    let Some(file) = state::file() else { return };
    let acquired = clock::ticks();
    let waited = clock::ticks_in(nanos);
    let now = thread::of(file, |local| {
        let weight = local.next(acquired);
        if weight == 0 && !Local::is_long(waited) {
            return None;
        }
        let pending = Pending {
            file: thread::address_of(file),
            lock,
            arrived: acquired.saturating_sub(waited),
            acquired,
            weight,
            is_in_account: false,
            has_parked: false,
        };
        keep(file, local, pending, words)
    });
    if let Some(Some(pending)) = now {
        Held::of_wait(lock, kind, pending).record(file);
        if let Some(entry) = table::find(file, lock) {
            table::name(entry, name);
        }
    }
}

impl Current {
    /// Returns the file in which the wait began, if it is still the current one: another file has
    /// no account of it.
    fn file(&self) -> Option<&'static File> {
        state::file().filter(|file| thread::address_of(file) == self.file)
    }
}

/// Reverts [`enter`] for a finished wait.
fn forget(file: &'static File, current: &Current, now: u64) {
    if current.weight != 0
        && let Some(entry) = table::find(file, current.lock)
    {
        table::leave(entry, now, current.weight);
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use core::sync::atomic::AtomicU64;
    use std::boxed::Box;

    use super::*;

    #[test]
    fn an_owner_is_given_a_time_since_which_it_is_known_to_be_the_owner() {
        // SAFETY: all fields are atomics, for which zeros are valid.
        let entry: Box<Lock> = unsafe { Box::new_zeroed().assume_init() };
        let acquisitions = AtomicU64::new(5);
        let mut current =
            Current { acquisitions: &raw const acquisitions, turn: 5, ..Current::NONE };
        current.turn_since = 7;
        let told = || [&entry.turn, &entry.turn_since].map(|it| it.load(Ordering::Relaxed));
        note_turn(&mut current, &entry);
        assert_eq!(told(), [5, 7]);
        // Another thread has acquired it in between.
        acquisitions.store(6, Ordering::Relaxed);
        let before = clock::ticks();
        note_turn(&mut current, &entry);
        assert_eq!(told(), [6, current.turn_since]);
        assert!((before..=clock::ticks()).contains(&current.turn_since));
        let (turn, since) = (current.turn, current.turn_since);
        note_turn(&mut current, &entry);
        assert_eq!((current.turn, told()), (turn, [6, since]), "the earliest time");
    }
}
