//! The primitives of this workspace under the schedules of [`ondeck_sim::check`]. `ci/schedules.sh` says how to run
//! more of them, and how to repeat a failure.

mod schedules {
    #[path = "../../../ondeck-zoo/tests/support/broken.rs"]
    mod broken;
    mod mutexes;
    mod negative;
    pub mod others;
    mod peterson;
    mod shared;
}

use std::env;
use std::time::{Duration, Instant};

use ondeck_sim::check::{Checked, Scenario, check};
use schedules::others::scenarios;

/// Schedules of each scenario in an ordinary run.
const USUAL: u64 = 40;

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    let number = text.parse();
    Some(
        number.unwrap_or_else(|error| {
            panic!("{name}={text}: {error}; give a number, as in {name}=7")
        }),
    )
}

/// The scenarios whose names contain `ONDECK_SCHEDULES_ONLY`.
fn chosen() -> Vec<Scenario> {
    let only = env::var("ONDECK_SCHEDULES_ONLY").unwrap_or_default();
    let mut all = scenarios();
    all.retain(|scenario| scenario.name.contains(&only));
    assert!(!all.is_empty(), "ONDECK_SCHEDULES_ONLY={only}: no scenario has that in its name");
    all
}

#[test]
fn primitives_keep_their_promises_under_every_schedule() {
    let first = number("ONDECK_SCHEDULES_SEED").unwrap_or(1);
    let count = number("ONDECK_SCHEDULES_COUNT").unwrap_or(USUAL);
    let time = number("ONDECK_SCHEDULES_SECONDS").map(Duration::from_secs);
    let begin = Instant::now();
    let scenarios = chosen();
    let mut seeds = first..first + count;
    let mut all = Checked::default();
    let mut failures = Vec::new();
    loop {
        for scenario in &scenarios {
            match check(scenario, seeds.clone()) {
                Ok(checked) => {
                    all.runs += checked.runs;
                    all.events += checked.events;
                }
                Err(failure) => failures.push(failure.to_string()),
            }
        }
        if !failures.is_empty() || time.is_none_or(|time| begin.elapsed() >= time) {
            break;
        }
        seeds = seeds.end..seeds.end + count;
    }
    println!(
        "{} scenarios, seeds {first} to {}: {} runs, {} steps, {:.1} s",
        scenarios.len(),
        seeds.end - 1,
        all.runs,
        all.events,
        begin.elapsed().as_secs_f64()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
