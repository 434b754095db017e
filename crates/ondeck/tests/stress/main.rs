//! Real threads use the locks in every way, in every setting of the matrix: no section overlaps another, no wake is lost,
//! and nothing is left behind.
//!
//! A run takes some eight seconds, or `ONDECK_STRESS_SECONDS`. Every run draws other seeds, unless
//! `ONDECK_STRESS_SEED` gives one. A row that fails prints the command that runs it again.

#[path = "../support/fork.rs"]
mod copy;
#[macro_use]
#[path = "../support/delegated.rs"]
mod delegated;
#[path = "../support/few_buckets.rs"]
mod few_buckets;
#[path = "../support/keys.rs"]
mod keys;
#[path = "../support/seccomp.rs"]
mod seccomp;
#[path = "../support/watchdog.rs"]
mod watchdog;

mod children;
mod crowd;
mod disturb;
mod matrix;
mod rounds;
mod row;
mod settings;
mod table;
mod tokens;

use std::time::{Duration, Instant};

use fastrand::Rng;
use few_buckets::{Few, Unmasked};
use settings::{FIXED, Settings};
use watchdog::Watchdog;

/// Returns a number from the environment.
fn number<T: std::str::FromStr>(variable: &str) -> Option<T> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text}: not a number")))
}

/// Runs the row in `ONDECK_STRESS_SETTINGS`, in a process of the matrix.
#[test]
#[ignore = "a part of the next test, which runs it in processes that it has prepared"]
fn one_row() {
    row::run(&Settings::of_environment().expect("settings"));
}

/// All locks in one bucket, where no later unlock and no slice replaces a lost wake.
#[test]
fn no_wake_is_lost_where_no_slice_ends() {
    let _watchdog = Watchdog::start("a round", Duration::from_mins(1));
    let length = Duration::from_millis(600);
    for seed in 0..3 {
        rounds::run::<Few<Unmasked>>(length, seed, |_| ());
    }
}

/// Runs every row once, then others drawn at random, while there is time; or only the row in
/// `ONDECK_STRESS_SETTINGS`.
#[test]
fn the_locks_keep_their_promises_in_every_row_of_the_matrix() {
    /// The longest time of one row. After that, other rows are more likely to find a fault.
    const LONGEST: f64 = 10.0;
    if let Some(row) = Settings::of_environment() {
        println!("{}", matrix::run(&row));
        return;
    }
    let seconds = number("ONDECK_STRESS_SECONDS").unwrap_or(8.0);
    let seed = number("ONDECK_STRESS_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("ONDECK_STRESS_SEED={seed}");
    let mut rng = Rng::with_seed(seed);
    let start = Instant::now();
    let length = (seconds / FIXED as f64).min(LONGEST);
    let is_time_left = || start.elapsed().as_secs_f64() + length <= seconds;
    for number in (0..).take_while(|&number| number < FIXED || is_time_left()) {
        println!("{}", matrix::run(&Settings::row(number, length, rng.u64(..))));
    }
}
