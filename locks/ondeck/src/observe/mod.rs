//! The observers of the locks that programs use: the detection of deadlocks, the recorders,
//! statistics, and the check for misuse in debug builds.
//!
//! A lock calls the functions below when its thread acquires it, unlocks it, or gives it up for a
//! while. They call each [`Observer`] of this build. Only this file decides which observers there
//! are. Without any, a function only runs its closures.
//!
//! | observer | in builds with | observes |
//! |---|---|---|
//! | `deadlocks.rs` | the feature `deadlock_detection` | all locks with an owner, while it is switched on |
//! | `bursts.rs` | the feature `profile` | all locks with an owner, while operations are recorded for a replay |
//! | `contention.rs` | the feature `profile` | [`Mutex`](crate::Mutex) |
//! | `stats/` | the feature `stats` | all locks with an owner, while statistics are on |
//! | `misuse.rs` | debug assertions | all locks with an owner but [`PiMutex`](crate::PiMutex) |
//!
//! Only locks on the real machine are observed.

use core::any::TypeId;
use core::cell::Cell;
use core::fmt;

use crate::platform::{Native, Platform};

mod observer;
#[cfg(any(feature = "stats", feature = "internals"))]
pub mod stats;
#[cfg(feature = "internals")]
pub mod wrapped;

use observer::Guards;
pub use observer::Kind;
use observer::Observer;
pub(crate) use observer::{Access, Observed, Place};

cfg_select! {
    feature = "deadlock_detection" => {
        mod deadlocks;
        use deadlocks::Deadlocks;
    }
    _ => { type Deadlocks = (); }
}

cfg_select! {
    feature = "profile" => {
        mod bursts;
        mod contention;
        use bursts::Bursts;
        use contention::Contention;
    }
    _ => {
        type Bursts = ();
        type Contention = ();
    }
}

cfg_select! {
    feature = "stats" => {
        use stats::observer::Stats;
    }
    _ => { type Stats = (); }
}

const WAITS_ARE_TIMED: bool = cfg!(any(feature = "profile", feature = "stats"));

cfg_select! {
    debug_assertions => {
        mod misuse;
        use misuse::Misuse;
    }
    _ => { type Misuse = (); }
}

/// All observers of this build. A report of a deadlock, which has the stacks, comes before a panic.
/// The time that recording contention takes is part of the recorded operation, not of the work
/// before or after it.
type Observers = (Deadlocks, (Misuse, (Bursts, (Contention, Stats))));

#[inline(always)]
fn is_real<P: Platform>() -> bool {
    TypeId::of::<P>() == TypeId::of::<Native>()
}

/// Shows the lock's name, if it has one, in the lock's `Debug`.
pub(crate) fn show_name(lock: &impl Observed, shown: &mut fmt::DebugStruct<'_, '_>) {
    let name = lock.place().name();
    if !name.is_empty() {
        shown.field("name", &name);
    }
}

#[inline(always)]
fn is_observed<L: Observed>() -> bool {
    is_real::<L::Platform>() && L::GUARDS != Guards::Movable && Observers::observes::<L>()
}

/// A thread that acquires a lock. If this is dropped before the thread [has](Self::acquired) the
/// lock, the thread has given up.
///
/// It is changed in place, because observers may be large.
pub(crate) struct Acquisition<'a, L: Observed> {
    lock: &'a L,
    access: Access,
    is_observed: bool,
    observers: Observers,
}

impl<'a, L: Observed> Acquisition<'a, L> {
    #[inline(always)]
    pub(crate) fn of(lock: &'a L, access: Access) -> Self {
        Self { lock, access, is_observed: is_observed::<L>(), observers: Observers::default() }
    }

    /// The thread wants the lock. Its first attempt follows.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn begins(&mut self, has_deadline: bool) {
        if self.is_observed {
            self.observers.wants(self.lock, self.access, has_deadline);
        }
    }

    /// Makes an attempt before the caller waits, but only if the wait is observed.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn attempt<T>(&mut self, attempt: impl FnOnce() -> Option<T>) -> Option<T> {
        if !self.is_observed {
            return None;
        }
        let got = attempt();
        if got.is_none() {
            self.observers.waits(self.lock);
        }
        got
    }

    /// The thread is about to wait. May be called more than once.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn waits(&mut self) {
        if self.is_observed {
            self.observers.waits(self.lock);
        }
    }

    /// The thread has the lock.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn acquired(&mut self) {
        if self.is_observed {
            self.observers.acquired(self.lock, self.access);
        }
    }

    /// The deadline has passed.
    #[inline(always)]
    pub(crate) fn gave_up(&mut self) {
        if self.is_observed {
            self.observers.gave_up();
        }
    }
}

/// A function for locks that are observed. Apart, so that a lock that is not takes no more than a
/// load and a branch; where all are observed, as in debug builds and with the recorder, it is
/// inlined.
macro_rules! observed {
    ($(#[$comment:meta])* fn $($rest:tt)*) => {
        $(#[$comment])*
        #[cfg_attr(not(any(feature = "profile", debug_assertions)), cold, inline(never))]
        #[cfg_attr(any(feature = "profile", debug_assertions), inline(always))]
        #[track_caller]
        fn $($rest)*
    };
}

observed! {
    fn lock_observed<L: Observed, T>(
        lock: &L,
        access: Access,
        attempt: impl FnOnce() -> Option<T>,
        block: impl FnOnce() -> T,
    ) -> T {
        let mut acquisition = Acquisition::of(lock, access);
        acquisition.begins(false);
        let got = acquisition.attempt(attempt).unwrap_or_else(block);
        acquisition.acquired();
        got
    }
}

observed! {
    fn acquired_observed<L: Observed>(lock: &L, access: Access) {
        Observers::default().acquired(lock, access);
    }
}

observed! {
    fn unlock_observed<L: Observed>(
        lock: &L,
        access: Access,
        goes_on: bool,
        unlock: impl FnOnce(),
    ) {
        let mut observers = Observers::default();
        observers.unlocks(lock, access);
        unlock();
        observers.unlocked(goes_on);
    }
}

/// Waits for a lock, by `block`, which makes an attempt before it waits.
#[inline(always)]
#[track_caller]
pub(crate) fn lock<L: Observed, T>(
    lock: &L,
    access: Access,
    attempt: impl FnOnce() -> Option<T>,
    block: impl FnOnce() -> T,
) -> T {
    if !is_observed::<L>() {
        return block();
    }
    lock_observed(lock, access, attempt, block)
}

/// Acquires a lock by `attempt`, or else by `block`, which gives up at a deadline.
#[inline(always)]
#[track_caller]
pub(crate) fn lock_until<L: Observed, T>(
    lock: &L,
    access: Access,
    attempt: impl FnOnce() -> Option<T>,
    block: impl FnOnce() -> Option<T>,
) -> Option<T> {
    if !is_observed::<L>() {
        return attempt().or_else(block);
    }
    let mut acquisition = Acquisition::of(lock, access);
    acquisition.begins(true);
    let got = acquisition.attempt(attempt).or_else(block);
    if got.is_some() {
        acquisition.acquired();
    } else {
        acquisition.gave_up();
    }
    got
}

/// Acquires a lock by `attempt`, which does not wait.
#[inline(always)]
#[track_caller]
pub(crate) fn try_lock<L: Observed, T>(
    lock: &L,
    access: Access,
    attempt: impl FnOnce() -> Option<T>,
) -> Option<T> {
    let got = attempt();
    if got.is_some() && is_observed::<L>() {
        acquired_observed(lock, access);
    }
    got
}

/// Unlocks by `unlock`.
#[inline(always)]
#[track_caller]
pub(crate) fn unlock<L: Observed>(lock: &L, access: Access, unlock: impl FnOnce()) {
    if !is_observed::<L>() {
        return unlock();
    }
    unlock_observed(lock, access, true, unlock);
}

/// Lets another thread have the lock for a turn, by `bump`.
#[inline(always)]
#[track_caller]
pub(crate) fn bump<L: Observed>(lock: &L, access: Access, bump: impl FnOnce()) {
    if !is_observed::<L>() {
        return bump();
    }
    unlock_observed(lock, access, false, bump);
    acquired_observed(lock, access);
}

/// The calling thread, which holds the lock in one way, is about to hold it in another.
#[inline(always)]
#[track_caller]
pub(crate) fn changes<L: Observed>(lock: &L, from: Access, to: Access) {
    if is_observed::<L>() {
        Observers::default().changes(lock, from, to);
    }
}

/// Waits for a condition: `begin` unlocks the mutex, `sleep` waits and locks it again, and `waited`
/// returns how many nanoseconds that lock took, if it had to wait.
#[inline(always)]
#[track_caller]
pub(crate) fn wait<L: Observed, T>(
    mutex: &L,
    begin: impl FnOnce(),
    sleep: impl FnOnce() -> T,
    waited: impl Fn() -> Option<u64>,
) -> T {
    if !is_observed::<L>() {
        begin();
        return sleep();
    }
    let mut observers = Observers::default();
    observers.unlocks(mutex, Access::Alone);
    observers.awaits_condition(mutex);
    begin();
    observers.unlocked(false);
    let done = sleep();
    observers.relocked(mutex, &waited);
    observers.acquired(mutex, Access::Alone);
    done
}

/// Returns whether the calling thread holds the lock alone, if this build knows it.
pub(crate) fn is_held_here<L: Observed>(lock: &L) -> Option<bool> {
    let known: Option<bool> = cfg_select! {
        debug_assertions => { misuse::is_held_here(lock.name()) }
        _ => { None }
    };
    if lock.is_held() { known } else { Some(false) }
}

/// The calling thread parks for the mutex of this name.
#[inline(always)]
pub(crate) fn parks<P: Platform>(name: usize) {
    if is_real::<P>() {
        Observers::parks(name);
    }
}

/// Whether a waiter of a condition variable has found its mutex taken. If no observer times waits
/// it is empty.
#[derive(Default)]
pub(crate) struct FoundTaken([Cell<bool>; WAITS_ARE_TIMED as usize]);

impl FoundTaken {
    /// Records whether the mutex is taken.
    #[inline(always)]
    pub(crate) fn note(&self, is_taken: impl FnOnce() -> bool) {
        if let [cell] = self.0.as_slice() {
            cell.set(is_taken());
        }
    }

    /// Returns the recorded value; `None` if no observer times waits.
    #[inline(always)]
    pub(crate) fn get(&self) -> Option<bool> {
        self.0.first().map(Cell::get)
    }
}
