//! Every portable lock under the loom model checker.
//!
//! Bounds: two threads with two acquisitions each and at most three involuntary switches an
//! execution; three threads with one each and at most two. Loom's memory model. What that cannot
//! see is written in `docs/limits.md`.

#[path = "support/loom_platform.rs"]
mod loom_platform;
#[path = "support/loom_scenario.rs"]
mod loom_scenario;

use loom_platform::Loom;
use ondeck_zoo::{RawLock, Visitor, locks};

#[test]
fn two_threads_exclude_each_other_and_lose_no_wake() {
    struct Check;
    impl Visitor<Loom> for Check {
        fn visit<L: RawLock<Loom>>(&mut self) {
            loom_scenario::exclusion::<L>(2, 2, 3);
        }
    }
    locks::for_each_portable::<Loom>(&mut Check);
}

#[test]
fn three_threads_exclude_each_other_and_lose_no_wake() {
    struct Check;
    impl Visitor<Loom> for Check {
        fn visit<L: RawLock<Loom>>(&mut self) {
            loom_scenario::exclusion::<L>(3, 1, 2);
        }
    }
    locks::for_each_portable::<Loom>(&mut Check);
}

#[test]
fn an_attempt_excludes_like_an_acquisition() {
    struct Check;
    impl Visitor<Loom> for Check {
        fn visit<L: RawLock<Loom>>(&mut self) {
            if L::INFO.has_try_lock {
                loom_scenario::attempt::<L>(3);
            }
        }
    }
    locks::for_each_portable::<Loom>(&mut Check);
}
