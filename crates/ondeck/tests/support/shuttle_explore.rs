//! How a test's executions are chosen, counted, and had again.
//!
//! | environment | what it does |
//! |---|---|
//! | `ONDECK_SHUTTLE_SECONDS` | each test goes on for so long, instead of its number of executions |
//! | `ONDECK_SHUTTLE_SEED` | another seed than 1; each scheduler begins with it |
//! | `ONDECK_SHUTTLE_REPLAY` | one execution, by the schedule in this file |

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

/// More steps than this are no progress: the longest execution seen has a tenth.
const MOST_STEPS: usize = 500_000;

fn number<T: std::str::FromStr>(variable: &str) -> Option<T> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is not a number: {text}")))
}

/// Where schedules that fail are written.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("shuttle")
}

/// The schedule that was written last.
fn last_schedule() -> Option<PathBuf> {
    let files = std::fs::read_dir(folder()).ok()?.flatten();
    let newest = files.max_by_key(|file| file.metadata().and_then(|data| data.modified()).ok())?;
    Some(newest.path())
}

fn run(
    scheduler: impl Scheduler + 'static,
    scenario: &Arc<impl Fn() + Send + Sync + 'static>,
    time: Option<Duration>,
) -> usize {
    let mut config = Config::new();
    config.silence_warnings = true;
    config.max_steps = MaxSteps::FailAfter(MOST_STEPS);
    config.max_time = time;
    config.failure_persistence = FailurePersistence::File(Some(folder()));
    // Else the others go on beside a thread that unwinds, and a second panic ends the process.
    config.ungraceful_shutdown_config.immediately_return_on_panic = true;
    let scenario = Arc::clone(scenario);
    Runner::new(scheduler, config).run(move || {
        KEPT.take();
        scenario();
    })
}

/// Runs `scenario` so many times under each scheduler: one that draws every switch, and the ones of
/// probabilistic concurrency testing, which follow priorities and change them once and three times
/// an execution.
pub fn explore(executions: usize, scenario: impl Fn() + Send + Sync + 'static) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or_default();
    let scenario = Arc::new(scenario);
    std::fs::create_dir_all(folder()).expect("the target folder can be written");
    if let Some(schedule) = std::env::var_os("ONDECK_SHUTTLE_REPLAY") {
        println!("{name}: by the schedule {}", schedule.display());
        let scheduler = ReplayScheduler::new_from_file(schedule).expect("the schedule can be read");
        run(scheduler, &scenario, None);
        return;
    }
    let time = number("ONDECK_SHUTTLE_SECONDS").map(|all: f64| Duration::from_secs_f64(all / 3.0));
    // The gate has the same executions every time: it must not fail by luck for a change that did
    // not cause it. Who has time looks further each time.
    let fresh = || SystemTime::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_nanos() as u64);
    let seed =
        number("ONDECK_SHUTTLE_SEED").unwrap_or_else(|| if time.is_some() { fresh() } else { 1 });
    let executions = if time.is_some() { usize::MAX } else { executions };
    for depth in [0, 2, 4] {
        let start = Instant::now();
        let what = if depth == 0 { "random".to_owned() } else { format!("pct {depth}") };
        let result = catch_unwind(AssertUnwindSafe(|| match depth {
            0 => run(RandomScheduler::new_from_seed(seed, executions), &scenario, time),
            _ => run(PctScheduler::new_from_seed(seed, depth, executions), &scenario, time),
        }));
        match result {
            Ok(count) => {
                println!("{name}: {what}, seed {seed}, {count} executions, {:?}", start.elapsed())
            }
            Err(panic) => {
                println!("{name}: {what}, seed {seed}, failed after {:?}", start.elapsed());
                if let Some(schedule) = last_schedule() {
                    println!(
                        "the same execution again:\n  ONDECK_SHUTTLE_REPLAY={} cargo test -p {} --test shuttle -- --exact {name} --nocapture",
                        schedule.display(),
                        env!("CARGO_PKG_NAME"),
                    );
                }
                resume_unwind(panic);
            }
        }
    }
}

thread_local! {
    static KEPT: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps `value` until the next execution begins, when no thread of this one is left.
pub fn keep<T: 'static>(value: T) -> &'static T {
    let value = Box::new(value);
    let kept = std::ptr::from_ref(&*value);
    KEPT.with_borrow_mut(|all| all.push(value));
    // SAFETY: it stays where it is until no thread that could use the reference is left.
    unsafe { &*kept }
}
