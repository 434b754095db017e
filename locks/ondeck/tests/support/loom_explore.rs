//! Explores a scenario, and prints the number of executions.

use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{readers, setting, threads};

/// Returns a test's bound of involuntary switches plus the environment variable
/// `ONDECK_LOOM_DEEPER`, which may be negative, but at least 1. Without the variable the bound is
/// one lower, which takes a tenth of the time.
#[allow(dead_code, reason = "broken locks need no more")]
pub fn deeper(preemptions: usize) -> usize {
    preemptions.saturating_add_signed(number("ONDECK_LOOM_DEEPER").unwrap_or(-1)).max(1)
}

fn number<N: FromStr>(variable: &str) -> Option<N> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Explores `scenario` with at most `preemptions` involuntary switches in each execution, and
/// prints the number of executions.
///
/// If the environment has `ONDECK_LOOM_SECONDS`, it ends after that time, and prints that it was
/// cut short.
pub fn model(what: &str, preemptions: usize, scenario: impl Fn() + Send + Sync + 'static) {
    explore(what, preemptions, Box::new(scenario));
}

/// Compiled once, with what it needs of loom, and not for each scenario of each lock.
fn explore(what: &str, preemptions: usize, scenario: Box<dyn Fn() + Send + Sync>) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 10_000;
    let most = number("ONDECK_LOOM_SECONDS").map(Duration::from_secs);
    builder.max_duration = most;
    // The interval at which loom checks the clock.
    builder.checkpoint_interval = 1_000;
    let executions = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&executions);
    let start = Instant::now();
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        readers::begin(setting::get().remembers);
        threads::begin();
        scenario();
    });
    let (time, executions) = (start.elapsed(), executions.load(Ordering::Relaxed));
    let cut = if most.is_some_and(|most| time >= most) { ", cut" } else { "" };
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let space = if what.is_empty() { "" } else { " " };
    println!(
        "{test}{space}{what}: {preemptions} switches, {executions} executions, {time:.1?}{cut}"
    );
}
