//! The laboratory on a simulated machine: the same workloads, with the same locks, in virtual time.
//!
//! A team of the laboratory becomes the threads of a [`Simulation`](crate::engine::Simulation). The
//! laboratory's own work between two functions of the machine takes no virtual time. See
//! [`Machine`] for the resulting rules for workloads.

mod team;

use std::cell::RefCell;
use std::time::Duration;

use ondeck_lab::any::any;
use ondeck_lab::machine::Machine;
use ondeck_lab::team::{Body, Outcome, TeamError, TeamSetting, Teams, Until};
use ondeck_lab::usage::Usage;
use ondeck_lab::work::Work;
use ondeck_lab::workload::Subject;
use ondeck_zoo::{RawLock, Visitor, locks};

use crate::engine::{self, Costs, Sim};
use crate::time::{Time, in_nanos};

pub use ondeck_lab::any::{AnyMutex, Context};
pub use ondeck_lab::workload::guarded::Guarded;

/// A simulated machine to measure on.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The machine.
    pub costs: Costs,
    /// The seed of all its random numbers.
    pub seed: u64,
}

/// The current machine of this OS thread.
struct Present {
    setup: Setup,
    /// The number of teams that have run on it.
    teams: u64,
}

thread_local! {
    static PRESENT: RefCell<Option<Present>> = const { RefCell::new(None) };
}

/// Runs `work`. Teams of simulated locks that this OS thread runs within it are simulated on that
/// machine, each with a different seed. The same work gives the same numbers each time.
///
/// # Panics
///
/// If there already is a machine.
pub fn with<R>(setup: &Setup, work: impl FnOnce() -> R) -> R {
    let present = Present { setup: setup.clone(), teams: 0 };
    let before = PRESENT.replace(Some(present));
    assert!(before.is_none(), "a machine within another");
    let _ends = Ends;
    engine::beside(&setup.costs, work)
}

/// Removes the machine of this OS thread, even if the work panics.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        PRESENT.replace(None);
    }
}

impl Teams for Sim {
    fn run_team<T: Send + 'static>(
        setting: &TeamSetting,
        until: Until,
        body: &Body<Self, T>,
    ) -> Result<Outcome<T>, TeamError> {
        team::run(setting, until, body)
    }

    fn usage() -> Usage {
        let now = Self::now_free();
        lab_usage(Self::usage(), now)
    }

    fn thread_number() -> i32 {
        i32::try_from(Self::thread()).unwrap_or(i32::MAX - 1) + 1
    }

    fn is_parked(thread: i32) -> bool {
        usize::try_from(thread - 1).is_ok_and(Self::sleeps)
    }
}

impl Machine for Sim {
    #[inline]
    fn perform(work: Work) {
        /// About a cycle: otherwise a loop without a lock and without work would run for ever in no
        /// time.
        const LEAST: f64 = 0.25;
        Self::work((work.nanos() as f64).max(LEAST));
    }

    fn compute(time: Work, _: impl FnOnce()) {
        Self::perform(time);
    }

    #[inline]
    fn touch<T: ?Sized>(data: &T, write: bool) {
        Self::touch(std::ptr::from_ref(data).addr(), size_of_val(data), write);
    }

    fn sleep(time: Duration) {
        Self::sleep(time.as_nanos() as u64);
    }
}

/// The charge of a simulated thread at that time, in the laboratory's form.
fn lab_usage(usage: engine::Usage, now: Time) -> Usage {
    let duration = |time: Time| Duration::from_nanos(in_nanos(time));
    Usage {
        elapsed: duration(now),
        cpu: Some(duration(usage.cpu)),
        queued: Some(duration(usage.ready)),
        voluntary: Some(usage.voluntary),
        involuntary: Some(usage.involuntary),
    }
}

/// Every lock that runs on a simulated machine.
pub fn subjects() -> Vec<Subject> {
    Subject::of_every_kind_on::<Sim>()
}

/// The mutex of that name, called through pointers; `None` if no mutex of that name can be
/// simulated.
pub fn named(name: &str) -> Option<AnyMutex<Sim>> {
    struct Find<'a>(&'a str, Option<AnyMutex<Sim>>);
    impl Visitor<Sim> for Find<'_> {
        fn visit<L: RawLock<Sim>>(&mut self) {
            if L::INFO.name == self.0 {
                self.1 = Some(any::<Sim, L>());
            }
        }
    }
    let mut found = Find(name, None);
    locks::for_each_hosted::<Sim>(&mut found);
    found.1
}
