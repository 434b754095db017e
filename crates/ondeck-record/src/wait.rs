//! A wait and the unlock behind it: what the locks call.
//!
//! ```text
//! lock:    taken?  begin ──── waits ──── acquired          the wait is kept by the thread
//!                    │                      │
//! the lock's word  + 1 ──────────────────────────────┐     other owners see that a thread waits
//!                                                    │
//! unlock:  word ≠ 0?  before_unlock: - 1 ── unlock ── after    wait and hold are recorded
//! ```
//!
//! The word stays raised from the arrival until the unlock of the same thread. So an unlock looks at one
//! word to know whether it is recorded, either for the thread's own wait or for those of others.
//! Everything that costs is behind the unlock.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use core::{mem, ptr};

use probe::probe;

use crate::layout::{File, Lock, Role};
use crate::thread::{self, Current, Local, Pending};
use crate::{clock, maps, stack, state, table};

/// The words of a lock that has room for them. All are zero in a new lock.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    /// Recorded threads that wait, and the owner if its own wait is to be recorded.
    pub waiting: &'a AtomicU32,
    /// Acquisitions, counted by owners while [`is_on`](crate::is_on).
    pub acquisitions: &'a AtomicU64,
    /// What [`created`](crate::created) returned when the lock was initialized.
    pub created: &'a AtomicU32,
}

/// A thread that waits for a lock.
#[derive(Debug)]
#[must_use]
pub struct Wait {
    lock: usize,
    /// Ticks; 0 if it is not recorded in any case.
    arrived: u64,
    /// The wait around this one: that of a thread whose handler of a signal waits.
    outer: Current,
}

/// The calling thread found the lock at `lock` taken, and is about to wait for it.
///
/// Never blocks and never allocates; keeps `errno`. Some 20 ns while recording, mostly for reading the
/// clock; a load and the probe `ondeck:wait_begin` otherwise.
#[inline]
pub fn begin(lock: usize, kind: u32, words: Option<Words<'_>>) -> Wait {
    probe!(ondeck, wait_begin, lock);
    match state::file() {
        Some(file) => begin_in(file, lock, kind, words),
        None => Wait { lock, arrived: 0, outer: Current::NONE },
    }
}

fn with<T>(file: &File, action: impl FnOnce(&mut Local) -> T) -> Option<T> {
    let new = || file.header.threads.fetch_add(1, Ordering::Relaxed);
    thread::with(state::generation(), new, action)
}

#[inline(never)]
fn begin_in(file: &'static File, lock: usize, kind: u32, words: Option<Words<'_>>) -> Wait {
    let arrived = clock::ticks();
    let outer = with(file, |local| {
        let waiting = words.map_or(ptr::null(), |words| ptr::from_ref(words.waiting));
        let weight = local.next(arrived);
        let current = Current { lock, kind, arrived, weight: 0, has_parked: false, waiting };
        let outer = mem::replace(&mut local.current, current);
        if weight != 0 {
            enter(file, local, weight, words.map(|words| words.created));
        }
        outer
    });
    match outer {
        Some(outer) => Wait { lock, arrived, outer },
        None => Wait { lock, arrived: 0, outer: Current::NONE },
    }
}

/// Enters the wait that the thread is in into its lock's account, and raises the lock's word.
fn enter(file: &'static File, local: &mut Local, weight: u32, created: Option<&AtomicU32>) {
    let Current { lock, kind, arrived, .. } = local.current;
    let Some((entry, is_new)) = table::lock(file, lock, kind) else { return };
    if is_new {
        crate::sys::with_errno_kept(|| maps::see(file, lock as u64, arrived));
    }
    if let Some(created) = created {
        entry.created.store(created.load(Ordering::Relaxed), Ordering::Relaxed);
    }
    table::took_part(entry, local.index);
    table::arrive(entry, arrived, weight);
    local.current.weight = weight;
    // SAFETY: null, or the word of a lock that the calling thread waits for.
    if let Some(waiting) = unsafe { local.current.waiting.as_ref() } {
        // Relaxed: the lock itself orders it for the next owner; others may miss it once.
        waiting.fetch_add(1, Ordering::Relaxed);
    }
}

/// The calling thread is about to park for the lock at `lock`: its wait is recorded for itself from now
/// on, whether it was chosen or not. For the locks' own slow path; may be called again and again.
#[inline]
pub fn parks(lock: usize) {
    if state::is_on() {
        parks_while_on(lock);
    }
}

#[inline(never)]
fn parks_while_on(lock: usize) {
    let Some(file) = state::file() else { return };
    with(file, |local| {
        if local.current.lock != lock || mem::replace(&mut local.current.has_parked, true) {
            return;
        }
        match local.current.weight {
            0 => enter(file, local, 1, None),
            1 => {}
            weight => {
                if let Some(entry) = table::find(file, lock) {
                    table::reweigh(entry, local.current.arrived, weight, 1);
                    local.current.weight = 1;
                }
            }
        }
    });
}

impl Wait {
    /// The calling thread has the lock now. Recorded at its unlock, if the lock has words; else at once.
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
        if weight == 0 && !Local::is_long(acquired.wrapping_sub(arrived)) {
            return;
        }
        let Some(file) = state::file() else { return forget(&current, acquired) };
        let generation = state::generation();
        let pending = Pending { generation, lock, arrived, acquired, weight, has_parked };
        let now_or_never = with(file, |local| {
            let Some(words) = words else { return Some(pending) };
            if let Some(stale) = local.take(lock) {
                // Another thread has unlocked what this one had locked.
                settle(file, &stale);
            }
            match local.keep(pending) {
                Ok(()) if weight == 0 => _ = words.waiting.fetch_add(1, Ordering::Relaxed),
                Ok(()) => {}
                Err(pending) => {
                    lower(words.waiting, weight);
                    return Some(pending);
                }
            }
            None
        });
        match now_or_never {
            Some(Some(pending)) => {
                Held { lock, kind, pending: Some(pending), others: false, count: 0 }.record(file);
            }
            Some(None) => {}
            None => forget(&current, acquired),
        }
    }

    /// The calling thread gave up at its deadline.
    pub fn gave_up(self, _words: Option<Words<'_>>) {
        probe!(ondeck, wait_end, self.lock, 0);
        if self.arrived == 0 {
            return;
        }
        let now = clock::ticks();
        let Some(current) = thread::leave(self.lock, self.outer) else { return };
        if let Some(file) = state::file()
            && let Some((entry, _)) = table::lock(file, self.lock, current.kind)
        {
            entry.timeouts.fetch_add(1, Ordering::Relaxed);
            table::waited(entry, now.wrapping_sub(current.arrived), 1);
        }
        forget(&current, now);
    }
}

/// Takes back what [`enter`] did for a wait that is over.
fn forget(current: &Current, now: u64) {
    if current.weight == 0 {
        return;
    }
    if let Some(entry) = state::file().and_then(|file| table::find(file, current.lock)) {
        table::leave(entry, now, current.weight);
    }
    // SAFETY: null, or the word of a lock that the calling thread has just waited for.
    if let Some(waiting) = unsafe { current.waiting.as_ref() } {
        lower(waiting, current.weight);
    }
}

/// Takes one from the word, unless that would make it negative: a lock may be initialized anew while
/// threads wait for it.
fn lower(waiting: &AtomicU32, weight: u32) -> u32 {
    if weight == 0 {
        return waiting.load(Ordering::Relaxed);
    }
    let less = |count: u32| count.checked_sub(1);
    waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or(1) - 1
}

/// Corrects the account for a wait whose unlock was not seen.
fn settle(file: &'static File, stale: &Pending) {
    if let Some(entry) = table::find(file, stale.lock)
        && stale.weight != 0
        && stale.generation == state::generation()
    {
        table::leave(entry, stale.acquired, stale.weight);
    }
}

/// What an unlock has to record once it is done.
#[derive(Debug)]
#[must_use]
pub struct Held {
    lock: usize,
    kind: u32,
    pending: Option<Pending>,
    /// Whether other threads wait.
    others: bool,
    count: u64,
}

/// The calling thread owns the lock, found its word [`waiting`](Words::waiting) not to be 0, and is about
/// to unlock. Some nanoseconds, within the critical section.
#[inline(never)]
pub fn before_unlock(lock: usize, kind: u32, words: Words<'_>) -> Held {
    let count = words.acquisitions.load(Ordering::Relaxed);
    let pending = thread::take(lock);
    let others = lower(words.waiting, u32::from(pending.is_some()));
    Held { lock, kind, pending, others: others != 0, count }
}

/// The calling thread has unlocked a lock without words, and may have left waiting threads behind.
pub fn unlocked(lock: usize, kind: u32) {
    probe!(ondeck, release, lock, 1);
    if let Some(file) = state::file()
        && table::find(file, lock).is_some()
    {
        Held { lock, kind, pending: None, others: true, count: 0 }.record(file);
    }
}

impl Held {
    /// The lock is unlocked. Its memory is not touched.
    #[inline(never)]
    pub fn after(self) {
        probe!(ondeck, release, self.lock, u32::from(self.others));
        if let Some(file) = state::file() {
            self.record(file);
        }
    }

    fn record(self, file: &'static File) {
        with(file, |local| self.record_by(file, local));
    }

    fn record_by(self, file: &'static File, local: &mut Local) {
        let now = clock::ticks();
        if self.pending.is_none() && local.passes(self.lock, now) {
            return;
        }
        let Some((entry, _)) = table::lock(file, self.lock, self.kind) else { return };
        table::took_part(entry, local.index);
        if self.count != 0 {
            entry.acquisitions.store(self.count, Ordering::Relaxed);
        }
        let mut waited = None;
        // A child of a fork that unlocks what its parent locked has no account of it.
        let pending = self.pending.filter(|pending| pending.generation == state::generation());
        if let Some(pending) = pending {
            if pending.weight != 0 {
                table::leave(entry, pending.acquired, pending.weight);
            }
            let ticks = pending.acquired.wrapping_sub(pending.arrived);
            let is_whole = pending.has_parked || Local::is_long(ticks);
            let weight = if is_whole { 1 } else { pending.weight };
            if weight != 0 {
                table::waited(entry, ticks, weight);
                waited = Some((ticks, weight));
            }
        }
        let mut blame = None;
        if self.others && entry.waiting.load(Ordering::Relaxed) != 0 {
            let (before, passed) = local.holds(self.lock, now);
            entry.passed.fetch_add(passed, Ordering::Relaxed);
            let since = match pending {
                Some(pending) => pending.acquired,
                // It found the lock free: the part of its time in which others waited.
                None => entry.since.load(Ordering::Relaxed).max(before.unwrap_or(0)),
            };
            entry.since.store(now, Ordering::Relaxed);
            let held = now.saturating_sub(since);
            table::held(entry, held);
            blame = Some((table::charge(entry, now), held));
        }
        take_stack(file, local, entry, waited, blame);
    }
}

/// Takes the stack, if it is this record's turn, and adds it to what the thread is: waiter, holder, both.
fn take_stack(
    file: &File,
    local: &mut Local,
    entry: &Lock,
    waited: Option<(u64, u32)>,
    blame: Option<(u64, u64)>,
) {
    let as_waiter = waited.and_then(|(ticks, weight)| {
        let all = ticks.saturating_mul(weight.into());
        local.stack_for(all).map(|stands_for| (stands_for, weight, all, ticks))
    });
    let as_holder = blame.and_then(|(charge, held)| {
        local.stack_for(charge).map(|stands_for| (stands_for, charge, held))
    });
    if as_waiter.is_none() && as_holder.is_none() {
        return;
    }
    let start = clock::ticks();
    if let Some(stack) = keep_stack(file, start) {
        if let Some((stands_for, weight, all, one)) = as_waiter {
            let count = times(weight.into(), stands_for, all);
            table::sample(file, entry, Role::Waiter, stack, count, stands_for, one);
        }
        if let Some((stands_for, charge, held)) = as_holder {
            let count = times(1, stands_for, charge);
            table::sample(file, entry, Role::Holder, stack, count, stands_for, held);
        }
    }
    let end = clock::ticks();
    local.took_stack(start, end);
    file.header.stacks_taken.fetch_add(1, Ordering::Relaxed);
    file.header.stack_ticks.fetch_add(end.wrapping_sub(start), Ordering::Relaxed);
}

/// `count` events of `ticks` in all, as a stack that stands for `stands_for` ticks counts them.
fn times(count: u64, stands_for: u64, ticks: u64) -> u64 {
    (u128::from(count) * u128::from(stands_for) / u128::from(ticks.max(1))) as u64
}

/// Takes the calling thread's stack, and looks at the mappings if it has an address that they have not.
fn keep_stack(file: &File, now: u64) -> Option<u32> {
    let frames = stack::take()?;
    let (number, is_new) = frames.keep(file)?;
    if is_new {
        for address in frames.addresses() {
            crate::sys::with_errno_kept(|| maps::see(file, *address, now));
        }
    }
    Some(number)
}

/// A lock is initialized by the calling thread: what to keep in its word
/// [`created`](Words::created), 0 if its stack was not taken.
#[inline]
pub fn created() -> u32 {
    if state::is_on() { create() } else { 0 }
}

#[inline(never)]
fn create() -> u32 {
    let Some(file) = state::file() else { return 0 };
    let number = with(file, |local| {
        let now = clock::ticks();
        if !local.may_note_creation(now) {
            return None;
        }
        let number = keep_stack(file, now);
        local.noted_creation(now, clock::ticks());
        number
    });
    number.flatten().map_or(0, |number| number + 1)
}
