//! What the detection of deadlocks observes: the locks that each thread holds and waits for.

use ondeck_deadlock::{Attempt, Ends, Lock, LockKind, Want};

use super::{Access, Kind, Observed, Observer};

/// The current attempt of the thread.
#[derive(Default)]
pub(super) struct Deadlocks(Option<Attempt>);

fn of<L: Observed>(lock: &L) -> Lock {
    let kind = match L::KIND {
        Kind::Mutex => LockKind::Mutex,
        Kind::FairMutex => LockKind::FairMutex,
        Kind::PiMutex => LockKind::PiMutex,
        Kind::RwLock => LockKind::RwLock,
        Kind::Once => LockKind::Once,
        Kind::Semaphore => unreachable!("no thread holds a semaphore, which is not observed"),
    };
    ondeck_deadlock::meets(lock.name(), lock.place().note());
    Lock { address: lock.name(), kind, name: lock.place().name() }
}

fn want(access: Access) -> Want {
    match access {
        Access::Alone => Want::Alone,
        Access::Read => Want::Read,
        Access::ReadRecursive => Want::Recursive,
        Access::Upgradable => Want::Upgradable,
        Access::Upgrade => Want::Upgrade,
    }
}

impl Observer for Deadlocks {
    #[inline(always)]
    fn observes<L: Observed>() -> bool {
        !matches!(L::KIND, Kind::Semaphore) && ondeck_deadlock::is_on()
    }

    #[cold]
    fn wants<L: Observed>(&mut self, lock: &L, access: Access, has_deadline: bool) {
        let ends = if has_deadline { Ends::AtADeadline } else { Ends::Never };
        self.0 = Some(ondeck_deadlock::begin(of(lock), want(access), ends));
    }

    #[cold]
    fn waits<L: Observed>(&mut self, _: &L) {
        if let Some(attempt) = &mut self.0 {
            attempt.waits();
        }
    }

    #[cold]
    fn acquired<L: Observed>(&mut self, lock: &L, access: Access) {
        match self.0.take() {
            Some(attempt) => attempt.acquired(),
            None => ondeck_deadlock::acquired(of(lock), want(access).held()),
        }
    }

    #[cold]
    fn unlocks<L: Observed>(&mut self, lock: &L, access: Access) {
        ondeck_deadlock::released(of(lock), want(access).held());
    }

    #[cold]
    fn changes<L: Observed>(&mut self, lock: &L, from: Access, to: Access) {
        ondeck_deadlock::changed(of(lock), want(from).held(), want(to).held());
    }

    /// Whatever ends the wait, the thread does not continue before it has the mutex again. So it
    /// counts as waiting for the mutex, without a deadline, from the moment when it unlocks the
    /// mutex.
    #[cold]
    fn awaits_condition<L: Observed>(&mut self, mutex: &L) {
        let mut attempt = ondeck_deadlock::begin(of(mutex), Want::Alone, Ends::Never);
        attempt.waits_for_condition();
        self.0 = Some(attempt);
    }
}
