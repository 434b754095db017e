//! Shared by the tests: the machines on which they run, the mutex with its guarded cell, and the
//! table of tests.

use ondeck::mutex::RawMutex;
use ondeck::platform::{Platform, Timestamp};

use crate::guarded::Guarded;
use crate::loom_platform::{self, Fences, Loom, Setting};

/// The machine where no thread polls before it parks.
pub const SLEEPS: Setting = Setting { polls: false, ..Setting::DEFAULT };
/// The machine where the heir polls twice before it sleeps.
pub const POLLS: Setting = Setting::DEFAULT;
/// The machine where each heir has lost its CPU whenever another thread runs, and with it the lock
/// that it was offered.
pub const STALE: Setting = Setting { stale: true, ..POLLS };
/// The machine on which a millisecond passes at once: a woken thread that has not run counts as
/// lost, and a thread that waits for a permit is overdue.
pub const LATE: Setting = Setting { late: true, ..SLEEPS };
/// The machine where a thread that arrives leaves the role of the heir to the oldest.
pub const DUE: Setting = Setting { due: true, ..POLLS };
/// The machine where every parked thread has waited for too long.
pub const OVERDUE: Setting = Setting { overdue: true, ..SLEEPS };
/// The machine whose light fences are nothing.
pub const ASYMMETRIC: Setting = Setting { fences: Fences::Asymmetric, ..SLEEPS };
/// The machine on which all locks are in one bucket.
pub const ONE_BUCKET: Setting = Setting { buckets: 1, ..SLEEPS };

/// A moment that is in the future until `loom_platform::pass_time(1)`.
pub const SOON: Timestamp = Timestamp::from_nanos(1);

/// Waits until this number of threads sleep.
pub fn until_asleep(count: usize) {
    while loom_platform::asleep() < count {
        Loom::yield_now();
    }
}

/// Explores `scenario` on the machine `setting`, with at most `preemptions` involuntary switches in
/// each execution or deeper; afterwards all of its buckets are at rest.
pub fn explore(setting: Setting, preemptions: usize, scenario: impl Fn() + Send + Sync + 'static) {
    loom_platform::set(setting);
    loom_platform::model("", loom_platform::deeper(preemptions), move || {
        scenario();
        assert!(loom_platform::is_at_rest(), "a bucket is not at rest");
    });
}

/// Tests that each explore a scenario on a machine, with the bound of switches.
macro_rules! explored {
    ($($(#[$about:meta])* fn $name:ident on $setting:expr, $preemptions:expr => $scenario:expr;)*) => {$(
        $(#[$about])*
        #[test]
        fn $name() {
            $crate::scenario::explore($setting, $preemptions, $scenario);
        }
    )*};
}
pub(crate) use explored;

/// A mutex, and a cell that it guards.
pub type Shared = Guarded<RawMutex<Loom>>;

impl Shared {
    pub fn new() -> &'static Self {
        Self::of(RawMutex::new())
    }

    pub fn lock(&self) {
        self.raw().lock();
    }

    pub fn unlock(&self) {
        // SAFETY: the scenarios call it when they own the mutex.
        unsafe { self.raw().unlock() };
    }
}

/// Runs `others` on new threads and `first` on the model's first thread. Returns when all have
/// ended.
pub fn together(first: impl FnOnce(), others: impl IntoIterator<Item = Box<dyn FnOnce()>>) {
    let others: Vec<_> = others.into_iter().map(loom_platform::spawn).collect();
    first();
    others.into_iter().for_each(loom_platform::join);
}
