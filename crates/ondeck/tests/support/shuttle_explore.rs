//! How a test's executions are chosen, counted, and repeated.
//!
//! | environment | effect |
//! |---|---|
//! | `ONDECK_SHUTTLE_SECONDS` | each test goes on for so long, instead of its number of executions |
//! | `ONDECK_SHUTTLE_SEED` | another seed than 1; each scheduler begins with it |
//! | `ONDECK_SHUTTLE_REPLAY` | one execution, by the schedule in this file |
//! | `ONDECK_SHUTTLE_LOCK` | in a test of many locks, only the lock of this name |
//!
//! A schedule belongs to the code that wrote it. After a change of the code it mostly does not fit any
//! more: the replay then panics inside of shuttle's replay.rs, which says nothing about the change.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};

/// An execution with more steps makes no progress: the longest one seen has a tenth.
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
    // The parking table is made on the stack of the first thread.
    config.stack_size = 1 << 18;
    config.max_steps = MaxSteps::FailAfter(MOST_STEPS);
    config.max_time = time;
    config.failure_persistence = FailurePersistence::File(Some(folder()));
    // Otherwise the other threads go on beside a thread that unwinds, and a second panic ends the process.
    config.ungraceful_shutdown_config.immediately_return_on_panic = true;
    let scenario = Arc::clone(scenario);
    Runner::new(scheduler, config).run(move || {
        super::begin();
        scenario();
        // Inside of the execution, because a destructor may make accesses.
        KEPT.take();
    })
}

/// Runs `scenario` so many times under each scheduler: one that draws every switch, and those of
/// probabilistic concurrency testing, which follow priorities and change them once and three times in an
/// execution. In tests of many locks `lock` is the name of the lock.
pub fn explore(lock: &str, executions: usize, scenario: impl Fn() + Send + Sync + 'static) {
    if std::env::var("ONDECK_SHUTTLE_LOCK").is_ok_and(|wanted| wanted != lock) {
        return;
    }
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    let scenario = Arc::new(scenario);
    std::fs::create_dir_all(folder()).expect("the target folder can be written");
    if let Some(schedule) = std::env::var_os("ONDECK_SHUTTLE_REPLAY") {
        println!("{test} {lock}: by the schedule {}", schedule.display());
        let scheduler = ReplayScheduler::new_from_file(schedule).expect("a schedule is read");
        run(scheduler, &scenario, None);
        return;
    }
    let time = number("ONDECK_SHUTTLE_SECONDS").map(|all: f64| Duration::from_secs_f64(all / 3.0));
    let seed =
        number("ONDECK_SHUTTLE_SEED").unwrap_or_else(|| if time.is_some() { fresh() } else { 1 });
    let executions = if time.is_some() { usize::MAX } else { executions };
    for depth in [0, 2, 4] {
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| match depth {
            0 => run(RandomScheduler::new_from_seed(seed, executions), &scenario, time),
            _ => run(PctScheduler::new_from_seed(seed, depth, executions), &scenario, time),
        }));
        let scheduler = if depth == 0 { "random".to_owned() } else { format!("pct {depth}") };
        let what = format!("{test} {lock}: {scheduler}, seed {seed}");
        match result {
            Ok(count) => println!("{what}, {count} executions, {:?}", start.elapsed()),
            Err(panic) => {
                std::mem::forget(KEPT.take());
                println!("{what}, FAILED after {:?}", start.elapsed());
                println!("the same execution again:\n  {}", command(test, lock));
                resume_unwind(panic);
            }
        }
    }
}

/// A new seed for each run. The gate has the same executions every time, because it must not fail by chance
/// for a change that is not the cause. A run with a time limit looks further each time.
fn fresh() -> u64 {
    SystemTime::UNIX_EPOCH.elapsed().map_or(1, |time| time.as_nanos() as u64)
}

/// The command that repeats the execution that failed last.
fn command(test: &str, lock: &str) -> String {
    let schedule = last_schedule().unwrap_or_default();
    let lock = if lock.is_empty() { String::new() } else { format!("ONDECK_SHUTTLE_LOCK={lock} ") };
    format!(
        "{lock}ONDECK_SHUTTLE_REPLAY={} cargo test -p {} --test shuttle -- --exact {test} --nocapture",
        schedule.display(),
        env!("CARGO_PKG_NAME")
    )
}

thread_local! {
    static KEPT: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps `value` until the end of the execution, when no other thread is left.
pub fn keep<T: 'static>(value: T) -> &'static T {
    let value = Box::new(value);
    let kept = std::ptr::from_ref(&*value);
    KEPT.with_borrow_mut(|all| all.push(value));
    // SAFETY: the value stays in its place until no thread that could use the reference is left.
    unsafe { &*kept }
}
