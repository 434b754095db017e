//! Real threads use few locks in every way, in every setting of the matrix. A checker proves from their
//! logs that the locks kept their promises.
//!
//! A run takes some eight seconds, or as many as `ONDECK_STRESS_SECONDS` says. Every run draws other seeds,
//! unless `ONDECK_STRESS_SEED` gives one. A row that fails prints how to run it again.

#[path = "support/fork.rs"]
mod copy;
#[macro_use]
#[path = "support/delegated.rs"]
mod delegated;
#[path = "support/few_buckets.rs"]
mod few_buckets;
#[path = "support/keys.rs"]
mod keys;
#[path = "support/seccomp.rs"]
mod seccomp;
#[path = "support/watchdog.rs"]
mod watchdog;

#[path = "stress/checker.rs"]
mod checker;
#[path = "stress/children.rs"]
mod children;
#[path = "stress/crowd.rs"]
mod crowd;
#[path = "stress/delay.rs"]
mod delay;
#[path = "stress/disturb.rs"]
mod disturb;
#[path = "stress/family.rs"]
mod family;
#[path = "stress/forged.rs"]
mod forged;
#[path = "stress/log.rs"]
mod log;
#[path = "stress/matrix.rs"]
mod matrix;
#[path = "stress/rounds.rs"]
mod rounds;
#[path = "stress/row.rs"]
mod row;
#[path = "stress/settings.rs"]
mod settings;
#[path = "stress/starve.rs"]
mod starve;
#[path = "stress/table.rs"]
mod table;
#[path = "stress/tokens.rs"]
mod tokens;

use std::time::{Duration, Instant};

use fastrand::Rng;
use few_buckets::{Few, Unmasked};
use settings::Settings;
use watchdog::Watchdog;

/// A number from the environment.
fn number<T: std::str::FromStr>(variable: &str) -> Option<T> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text}: not a number")))
}

/// What a process of the matrix runs: the row that `ONDECK_STRESS_SETTINGS` says.
#[test]
#[ignore = "a part of the next test, which runs it in processes that it has prepared"]
fn one_row() {
    let text = std::env::var(settings::VARIABLE).unwrap_or_default();
    row::run(&text.parse().expect("settings"));
}

/// All locks in one bucket, where no later unlock and no slice replaces a lost wake.
#[test]
fn no_wake_is_lost_where_no_slice_ends() {
    let _watchdog = Watchdog::start("a round", Duration::from_mins(1));
    let length = Duration::from_millis(300);
    for seed in 0..3 {
        rounds::run::<Few<Unmasked>>(length, seed, |_| ());
        family::run::<Few<Unmasked>>(length, seed, |_| ());
    }
}

/// Every row once, then others drawn at random, while there is time; or the one that
/// `ONDECK_STRESS_SETTINGS` says.
#[test]
fn the_locks_keep_their_promises_in_every_row_of_the_matrix() {
    /// The longest time of one row: after that, other rows find more.
    const LONGEST: f64 = 10.0;
    if let Ok(text) = std::env::var(settings::VARIABLE) {
        println!("{}", matrix::run(&text.parse().expect("settings")));
        return;
    }
    let seconds = number("ONDECK_STRESS_SECONDS").unwrap_or(8.0);
    let seed = number("ONDECK_STRESS_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("ONDECK_STRESS_SEED={seed}");
    let mut rng = Rng::with_seed(seed);
    let start = Instant::now();
    let mut rows = matrix::rows(1.0, &mut rng);
    let length = (seconds / rows.len() as f64).min(LONGEST);
    for row in &mut rows {
        row.seconds = length;
    }
    let mut rows = rows.into_iter();
    loop {
        let row = rows.next().or_else(|| {
            let more = start.elapsed().as_secs_f64() + length <= seconds;
            more.then(|| Settings::draw(&mut rng, length))
        });
        let Some(row) = row else { break };
        println!("{}", matrix::run(&row));
    }
}
