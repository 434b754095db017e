//! Every portable lock under the loom model checker.
//!
//! Bounds: two threads with two acquisitions each and at most four involuntary switches in an
//! execution; three threads with one each and at most three, or the number of
//! [`three_threads_bound`]. Loom's memory model. `docs/verification.md` describes what that cannot
//! see.

#[path = "../../../locks/ondeck/tests/support/loom_platform.rs"]
mod loom_platform;
#[path = "support/loom_scenario.rs"]
mod loom_scenario;

use loom_platform::{Loom, deeper};
use ondeck_zoo::{Fairness, LockInfo, RawLock, Visitor, Waiting, locks};

#[test]
fn two_threads_exclude_each_other_and_lose_no_wake() {
    struct Check;
    impl Visitor<Loom> for Check {
        fn visit<L: RawLock<Loom>>(&mut self) {
            loom_scenario::exclusion::<L>(2, 2, deeper(4));
        }
    }
    locks::for_each_hosted::<Loom>(&mut Check);
}

/// The number of involuntary switches to explore with three threads; `None` if loom cannot explore
/// them.
///
/// Of three threads two may wait. If both poll, loom also explores executions in which they
/// alternate for ever while the owner never runs. No fair scheduler does so, but loom gives up with
/// "maximum number of branches". In the queue locks, where each waiter polls another word, that
/// takes three switches; where all poll one word it happens at once.
fn three_threads_bound(info: &LockInfo) -> Option<usize> {
    match (info.waiting, info.fairness, info.name) {
        (_, _, "mcs") => Some(2),
        (Waiting::Sleeps | Waiting::SpinsThenSleeps, _, _) => Some(deeper(3)),
        // A queue lock whose unlock also polls has less room than those above.
        (Waiting::Spins, Fairness::Fifo, _) => Some(1),
        (Waiting::Spins | Waiting::Yields, _, _) => None,
    }
}

#[test]
fn three_threads_exclude_each_other_and_lose_no_wake() {
    struct Check;
    impl Visitor<Loom> for Check {
        fn visit<L: RawLock<Loom>>(&mut self) {
            if let Some(preemptions) = three_threads_bound(&L::INFO) {
                loom_scenario::exclusion::<L>(3, 1, preemptions);
            }
        }
    }
    locks::for_each_hosted::<Loom>(&mut Check);
}

#[test]
fn an_attempt_excludes_like_an_acquisition() {
    struct Check;
    impl Visitor<Loom> for Check {
        fn visit<L: RawLock<Loom>>(&mut self) {
            loom_scenario::attempt::<L>(deeper(3));
        }
    }
    locks::for_each_hosted::<Loom>(&mut Check);
}
