//! The machine on which a model runs: what a test can choose of it.

use std::cell::Cell;

/// What a model can choose of the machine; see [`set`].
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Buckets of the parking table, at most [`MOST_BUCKETS`]. With 1 every two addresses collide.
    pub buckets: usize,
    /// Whether every sleeper has waited for so long that it is handed its lock, or none.
    pub overdue: bool,
    /// Whether a waiter on deck polls, and one of a condition variable watches, once, before it
    /// sleeps.
    pub polls: bool,
    pub fences: Fences,
    pub relaxes: Relaxes,
    /// Whether the loads that loom forgets are remembered, see [`readers`](super::readers); many more executions.
    pub remembers: bool,
    /// How many CPUs the threads started by [`spawn`](super::spawn) run on in turn, from the second on; the first
    /// has the model's own thread.
    pub cpus: u32,
}

/// What the two halves of an asymmetric pair of fences are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the tests of the zoo choose none")]
pub enum Fences {
    /// Both full: stronger than any machine, and the quickest to explore.
    Full,
    /// The light half nothing, the heavy one a fence of all threads, which must then be started by
    /// [`spawn`](super::spawn).
    Asymmetric,
    /// A kernel refuses membarrier: both full, but for a light half that is only presumed.
    Refused,
}

/// How far attention may be relaxed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the tests of the zoo choose none")]
pub enum Relaxes {
    /// As many releases as it takes, at once.
    ToSkip,
    /// Never as many as it takes until releases skip, but for the first time.
    ToLight,
    /// There were too many heavy fences, all the time.
    Never,
}

impl Setting {
    pub const DEFAULT: Self = Self {
        buckets: MOST_BUCKETS,
        overdue: false,
        polls: true,
        fences: Fences::Full,
        relaxes: Relaxes::ToSkip,
        remembers: false,
        cpus: 1,
    };
}

/// As many as there are different objects in the largest model.
pub const MOST_BUCKETS: usize = 2;

thread_local! {
    static SETTING: Cell<Setting> = const { Cell::new(Setting::DEFAULT) };
}

/// The machine of the model that runs.
pub fn get() -> Setting {
    SETTING.get()
}

/// Chooses the machine of the models that the calling test runs from now on.
#[allow(dead_code, reason = "not every test that has this platform changes it")]
pub fn set(setting: Setting) {
    SETTING.set(setting);
}

/// Whether the light half of a pair of fences is none.
pub fn is_asymmetric() -> bool {
    get().fences == Fences::Asymmetric
}
