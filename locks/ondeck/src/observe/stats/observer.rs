//! What statistics observe: waits, and for how long each thread holds a lock.

use core::panic::Location;

use super::hooks::{self, Ended, Wait};
use super::{Lock, Site};
use crate::observe::{Access, Observed, Observer};

#[derive(Default)]
pub(in crate::observe) struct Stats {
    /// The thread waits for the lock.
    wait: Option<Wait>,
    /// The thread unlocks the lock.
    ended: Option<Ended>,
    /// Where the thread locked the mutex that it unlocks.
    site: Option<Site>,
}

fn of<L: Observed>(lock: &L) -> Lock {
    Lock { address: lock.name(), kind: L::KIND, name: lock.place().name_pointer() }
}

#[track_caller]
fn here() -> Option<Site> {
    Site::source(Location::caller())
}

fn is_alone(access: Access) -> bool {
    matches!(access, Access::Alone | Access::Upgrade)
}

/// The thread holds the lock in another way from now on, which counts as another hold.
fn ends<L: Observed>(lock: &L, access: Access) {
    if let Some(ended) = hooks::unlocks(of(lock), is_alone(access)) {
        hooks::unlocked(ended, false);
    }
}

impl Observer for Stats {
    #[inline(always)]
    fn observes<L: Observed>() -> bool {
        super::is_on()
    }

    #[cold]
    #[track_caller]
    fn waits<L: Observed>(&mut self, lock: &L) {
        // A thread that waits for a once may wait again.
        if self.wait.is_none() {
            self.wait = hooks::waits(of(lock), here());
        }
    }

    #[track_caller]
    fn acquired<L: Observed>(&mut self, lock: &L, access: Access) {
        let site = self.site.take().or(here());
        if matches!(access, Access::Upgrade) {
            ends(lock, Access::Upgradable);
        }
        hooks::acquired(of(lock), is_alone(access), site, self.wait.take());
    }

    fn gave_up(&mut self) {
        if let Some(wait) = self.wait.take() {
            wait.gave_up();
        }
    }

    fn unlocks<L: Observed>(&mut self, lock: &L, access: Access) {
        self.ended = hooks::unlocks(of(lock), is_alone(access));
    }

    fn unlocked(&mut self, goes_on: bool) {
        if let Some(ended) = self.ended.take() {
            self.site = ended.site();
            hooks::unlocked(ended, goes_on);
        }
    }

    #[track_caller]
    fn changes<L: Observed>(&mut self, lock: &L, from: Access, to: Access) {
        ends(lock, from);
        hooks::acquired(of(lock), is_alone(to), here(), None);
    }

    fn relocked<L: Observed>(&mut self, mutex: &L, waited: &impl Fn() -> Option<u64>) {
        if let Some(nanos) = waited() {
            self.wait = hooks::waited(of(mutex), self.site, nanos);
        }
    }
}
