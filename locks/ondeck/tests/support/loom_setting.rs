//! The machine on which a model runs, and its settings.

use std::cell::Cell;

/// The settings of the machine that a test can choose; see [`set`].
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a property of the machine by itself")]
pub struct Setting {
    /// Buckets of the parking table, at most [`MOST_BUCKETS`]. With 1 all addresses collide.
    pub buckets: usize,
    /// Whether every parked thread of a reader-writer lock or a condition variable is overdue, or
    /// none.
    pub overdue: bool,
    /// Whether the heir of a lock polls twice before it sleeps, and a waiter of a condition
    /// variable watches once.
    pub polls: bool,
    /// Whether half a millisecond passes at once.
    pub late: bool,
    /// Whether the oldest thread that waits for a mutex is due at once, the first time.
    pub due: bool,
    /// Whether time advances with each reading of the clock, so that awake threads are considered
    /// to have lost their CPUs.
    pub stale: bool,
    /// Whether the first thread that is started is of a real-time scheduling class.
    pub urgent: bool,
    pub fences: Fences,
    /// Whether the loads that loom forgets are recorded, which takes many more executions: see
    /// [`readers`](super::readers).
    pub remembers: bool,
    /// Whether threads can be visible readers.
    pub biased: bool,
}

/// The two halves of an asymmetric pair of fences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the tests of the zoo choose none")]
pub enum Fences {
    /// Both are full: stronger than on any machine, and the fastest to explore.
    Full,
    /// The light half is nothing, the heavy one a fence of all threads, which must be started by
    /// [`spawn`](super::spawn).
    Asymmetric,
    /// The kernel refuses membarrier: both are full, except for a light half that is only presumed.
    Refused,
    /// As `Asymmetric` until a thread calls [`refuse`](super::refuse). From then on a heavy fence
    /// is a fence of its caller alone, and a sleeping thread is woken by its clock.
    RefusedLater,
}

impl Setting {
    pub const DEFAULT: Self = Self {
        buckets: MOST_BUCKETS,
        overdue: false,
        polls: true,
        late: false,
        due: false,
        stale: false,
        urgent: false,
        fences: Fences::Full,
        remembers: false,
        biased: false,
    };
}

/// The number of different objects in the largest model.
pub const MOST_BUCKETS: usize = 2;

thread_local! {
    static SETTING: Cell<Setting> = const { Cell::new(Setting::DEFAULT) };
}

/// Returns the machine of the current model.
pub fn get() -> Setting {
    SETTING.get()
}

/// Chooses the machine of the models that the calling test runs from now on.
#[allow(dead_code, reason = "not every test with this platform changes it")]
pub fn set(setting: Setting) {
    SETTING.set(setting);
}

/// Returns whether the light half of a pair of fences is nothing.
pub fn is_asymmetric() -> bool {
    matches!(get().fences, Fences::Asymmetric | Fences::RefusedLater)
}
