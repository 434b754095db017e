//! What the recorder of operations observes, for replays: see `ondeck_record::burst`.
//!
//! A thread that holds a reader-writer lock as upgradable excludes writers and others like it, and
//! counts as a writer. A notification counts as work.

use core::mem;
use core::panic::Location;
use core::ptr;

use ondeck_record::burst::{self, Action, Begun, Caller};

use super::{Access, Kind, Observed, Observer};

/// The operation of the thread.
#[derive(Default)]
pub(super) enum Bursts {
    #[default]
    None,
    Locks(Begun, Caller),
    Unlocks(Begun, usize),
    Waits(Begun),
    /// Has waited for a condition, which is recorded already.
    Waited,
}

/// Returns the action of a thread that acquires a lock; none if it had the lock before.
fn acquires(kind: Kind, access: Access) -> Option<Action> {
    match (kind, access) {
        (_, Access::Upgrade) => None,
        (_, Access::Read | Access::ReadRecursive) => Some(Action::Read),
        (Kind::RwLock, _) => Some(Action::Write),
        _ => Some(Action::Lock),
    }
}

impl Observer for Bursts {
    #[inline(always)]
    fn observes<L: Observed>() -> bool {
        ondeck_record::wants_bursts() && L::KIND != Kind::Once
    }

    #[track_caller]
    fn wants<L: Observed>(&mut self, _: &L, _: Access, _has_deadline: bool) {
        // With the depth of the stack, which the recorder adds, this is the call site.
        let caller = Caller { address: ptr::from_ref(Location::caller()).addr(), frame: 0 };
        *self = Self::Locks(burst::begin(), caller);
    }

    fn acquired<L: Observed>(&mut self, lock: &L, access: Access) {
        let (begun, caller) = match mem::take(self) {
            Self::Waited => return,
            Self::Locks(begun, caller) => (begun, caller),
            // An attempt, which takes no time.
            _ => (burst::begin(), Caller::default()),
        };
        if let Some(action) = acquires(L::KIND, access) {
            begun.end(action, lock.name(), caller);
        }
    }

    fn unlocks<L: Observed>(&mut self, lock: &L, _: Access) {
        *self = Self::Unlocks(burst::begin(), lock.name());
    }

    fn unlocked(&mut self, _: bool) {
        if let Self::Unlocks(begun, lock) = *self {
            begun.end(Action::Unlock, lock, Caller::default());
        }
    }

    fn changes<L: Observed>(&mut self, lock: &L, _: Access, to: Access) {
        if matches!(to, Access::Read) {
            for action in [Action::Unlock, Action::Read] {
                burst::begin().end(action, lock.name(), Caller::default());
            }
        }
    }

    fn awaits_condition<L: Observed>(&mut self, _: &L) {
        *self = Self::Waits(burst::begin());
    }

    fn relocked<L: Observed>(&mut self, mutex: &L, waited: &impl Fn() -> Option<u64>) {
        if let Self::Waits(begun) = mem::replace(self, Self::Waited) {
            begun.end_of_wait(mutex.name(), waited().unwrap_or(0));
        }
    }
}
