//! What the recorder of contention observes about mutexes.
//!
//! One byte has no room for a count or a mark. So acquisitions are not counted, waits are recorded
//! when they end, and an unlock is recorded if it finds that threads may be parked.

use ondeck_record::layout::kind::ONDECK;
use ondeck_record::{Held, Wait};

use super::{Access, Kind, Observed, Observer};

#[derive(Default)]
pub(super) struct Contention {
    /// The thread waits for the mutex.
    wait: Option<Wait>,
    /// The thread unlocks the mutex, which is recorded.
    unlock: Option<Held>,
}

impl Observer for Contention {
    #[inline(always)]
    fn observes<L: Observed>() -> bool {
        L::KIND == Kind::Mutex
    }

    #[cold]
    fn waits<L: Observed>(&mut self, lock: &L) {
        self.wait = Some(ondeck_record::begin(lock.name(), ONDECK, lock.place().name(), None));
    }

    #[inline]
    fn acquired<L: Observed>(&mut self, lock: &L, _: Access) {
        if let Some(wait) = self.wait.take() {
            wait.acquired(None);
        } else if lock.may_be_awaited() && ondeck_record::is_on() {
            // Earlier holds are not charged with the waits that begin from now on.
            ondeck_record::acquired(lock.name(), 0);
        }
    }

    fn gave_up(&mut self) {
        if let Some(wait) = self.wait.take() {
            wait.gave_up();
        }
    }

    #[inline]
    fn unlocks<L: Observed>(&mut self, lock: &L, _: Access) {
        // The next unlock sees a thread that begins to wait just now.
        if lock.may_be_awaited() && ondeck_record::is_on() {
            self.unlock = ondeck_record::before_plain_unlock(lock.name(), ONDECK);
        }
    }

    #[inline]
    fn unlocked(&mut self, _: bool) {
        if let Some(unlock) = self.unlock.take() {
            unlock.after();
        }
    }

    fn relocked<L: Observed>(&mut self, mutex: &L, waited: &impl Fn() -> Option<u64>) {
        if ondeck_record::is_on()
            && let Some(nanos) = waited()
        {
            ondeck_record::relocked(mutex.name(), ONDECK, mutex.place().name(), None, nanos);
        }
    }

    #[inline]
    fn parks(name: usize) {
        ondeck_record::parks(name);
    }
}
