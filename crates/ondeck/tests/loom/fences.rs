//! The states of attention that a machine stays in: each way to relax, and none.

use crate::loom_platform::{Fences, Relaxes, Setting};
use crate::mutex::{after_a_quiet_time, two_by_two, two_waiters};
use crate::scenario::{ASYMMETRIC, POLLS, SLEEPS, explore};

/// The machine whose kernel refuses membarrier: attention is always `FENCED`.
const REFUSED: Setting = Setting { fences: Fences::Refused, ..SLEEPS };
/// Where releases never skip once somebody has parked: `FENCED` and `LIGHT` take turns.
const TO_LIGHT: Setting = Setting { relaxes: Relaxes::ToLight, ..ASYMMETRIC };
/// Where nothing is relaxed once somebody has parked: `FENCED` with light fences about.
const NEVER: Setting = Setting { relaxes: Relaxes::Never, ..ASYMMETRIC };

#[test]
fn without_membarrier_two_threads_sleep() {
    explore(REFUSED, 3, two_by_two);
}

#[test]
fn without_membarrier_two_threads_poll() {
    explore(Setting { fences: Fences::Refused, ..POLLS }, 3, two_by_two);
}

#[test]
fn without_membarrier_two_waiters_sleep() {
    explore(REFUSED, 2, two_waiters);
}

#[test]
fn releases_that_look_without_a_fence() {
    explore(TO_LIGHT, 3, two_by_two);
}

#[test]
fn releases_that_look_without_a_fence_after_a_quiet_time() {
    explore(TO_LIGHT, 4, after_a_quiet_time);
}

#[test]
fn releases_that_look_without_a_fence_for_two() {
    explore(TO_LIGHT, 1, two_waiters);
}

#[test]
fn heavy_fences_were_too_many() {
    explore(NEVER, 3, two_by_two);
}
