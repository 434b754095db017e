//! `ondeck run --compare`: runs the program alternately with glibc's locks and with the shim's.
//!
//! The result is a report like one from `bench`, with the workload `program`, so that `ondeck
//! compare` and the pages work with it.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use ondeck_lab::disturbance::Account;
use ondeck_lab::results::{Failure as LockFailure, FailureKind, LockRow, Report, Series};
use ondeck_lab::sample::Sample;
use ondeck_lab::summary::metrics;
use ondeck_lab::warnings;
use ondeck_report::compare::{self, By, Choice, Input, rank};
use ondeck_report::program as table;

use super::sample::{Ended, Streams, take};
use super::{Lock, Options, Program, launch};
use crate::ending::{Ending, Error};
use crate::files::Prepared;
use crate::interrupt::Interrupt;
use crate::progress::Progress;
use crate::{output, session, summary};

/// The workload's name in reports.
const WORKLOAD: &str = "program";

/// The significance level of a difference, as in `ondeck compare`.
const ALPHA: f64 = 0.05;

/// The order of the locks in each turn is shuffled from this seed.
const SEED: u64 = 1;

/// A lock and its runs so far.
struct Side {
    lock: Lock,
    samples: Vec<Sample>,
    failed: bool,
}

pub(crate) fn run(options: &Options) -> Result<Ending, Error> {
    let program = Program::find(&options.program).map_err(Error::Start)?;
    let library = launch::shim_for(&program).map_err(Error::Start)?;
    let mut sides =
        [Lock::Glibc, Lock::Ondeck].map(|lock| Side { lock, samples: Vec::new(), failed: false });
    let prepared = Prepared::open(&options.outputs)?;
    let interrupt = Interrupt::listen()?;
    let mut report = session::empty_report();
    report.settings.rounds = Some(options.runs);
    report.settings.seed = SEED;
    summary::print_warnings(&report.warnings);

    let (start, cpu) = (Instant::now(), Account::now());
    let streams = Streams::new(options.show_output, options.metric.as_ref());
    // The length of a run is unknown; the bar counts runs.
    let step = Duration::from_secs(1);
    let mut progress = Progress::new(step * ((options.runs + 1) * sides.len()) as u32);
    let mut order: Vec<usize> = (0..sides.len()).collect();
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut done = 0;
    'turns: for turn in 0..=options.runs {
        random.shuffle(&mut order);
        for &place in &order {
            if interrupt.happened() {
                break 'turns;
            }
            let side = &mut sides[place];
            done += 1;
            if side.failed {
                continue;
            }
            let what = if turn == 0 { "warm-up".to_owned() } else { format!("run {turn}") };
            progress.show(step * (done - 1), format!("{}: {what}", side.lock.name()));
            let command = command(&program, &library, side.lock);
            match take(command, &streams) {
                Ok(Ended::Well(sample)) if turn > 0 => side.samples.push(sample),
                Ok(Ended::Well(_)) => {}
                // A run that Ctrl-C ended is no failure of the lock.
                Ok(Ended::Badly(..)) if interrupt.happened() => break 'turns,
                Ok(Ended::Badly(how, words)) => {
                    side.failed = true;
                    let message = format!("{what} {how}");
                    progress.note(&failed(side.lock.name(), &message, &words));
                    report.failures.push(failure(side.lock.name(), message, words));
                    if side.lock == Lock::Glibc {
                        // There is nothing to compare with.
                        break 'turns;
                    }
                }
                Err(error) => {
                    progress.finish();
                    return Err(Error::System(format!(
                        "cannot run {}: {error}",
                        program.path.display()
                    )));
                }
            }
        }
    }
    progress.finish();

    report.seconds = start.elapsed().as_secs_f64();
    session::look_again(&mut report, cpu);
    report.partial = interrupt.happened();
    report.series = series(options, &sides);
    report.locks = rows(&sides);
    let late = warnings::disturbed(&report.machine, report.cpu_time);
    report.warnings.extend(late.iter().cloned());
    let text = text(options, &report);
    let ending = session::finish(prepared, &report, &text);
    summary::print_warnings(&late);
    Ok(ending)
}

fn command(program: &Program, library: &Path, lock: Lock) -> Command {
    let mut command = launch::command(program);
    match lock {
        Lock::Glibc => launch::without_library(&mut command),
        Lock::Ondeck => launch::with_library(&mut command, library),
    }
    command
}

fn failed(lock: &str, message: &str, words: &[String]) -> String {
    let mut text = format!("failed: {lock}: {message}; it is left out from here on");
    for word in words {
        text.push_str("\n  ");
        text.push_str(word);
    }
    text
}

fn failure(lock: &str, message: String, words: Vec<String>) -> LockFailure {
    LockFailure {
        workload: WORKLOAD.to_owned(),
        lock: lock.to_owned(),
        threads: 0,
        kind: FailureKind::Crashed.to_string(),
        message,
        thread_states: words,
    }
}

/// The program's number of threads is unknown here: the number is 0.
fn series(options: &Options, sides: &[Side]) -> Vec<Series> {
    let words: Vec<String> =
        options.program.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let command =
        shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "));
    let params = BTreeMap::from([("command".to_owned(), command)]);
    let with_samples = sides.iter().filter(|side| !side.samples.is_empty());
    with_samples
        .map(|side| Series {
            workload: WORKLOAD.to_owned(),
            lock: side.lock.name().to_owned(),
            params: params.clone(),
            partial: side.samples.len() < options.runs,
            metrics: metrics(&side.samples),
            ..Series::default()
        })
        .collect()
}

/// The facts of the measured locks.
fn rows(sides: &[Side]) -> Vec<LockRow> {
    let measured = |name: &str| sides.iter().any(|side| side.lock.name() == name);
    let rows = session::with_baseline().iter().map(session::lock_row).collect::<Vec<_>>();
    rows.into_iter().filter(|row| measured(&row.name)).collect()
}

/// The text for the terminal.
fn text(options: &Options, report: &Report) -> String {
    let mut text = String::new();
    let choice = Choice {
        locks: None,
        workloads: None,
        threads: None,
        metrics: Some(vec!["all".to_owned()]),
        alpha: ALPHA,
    };
    let input = Input { name: WORKLOAD.to_owned(), report: report.clone() };
    let by = By::Lock { base: Lock::Glibc.name().to_owned() };
    match compare::compare(&[input], &by, &choice) {
        Ok(comparison) => text.push_str(&table::render(&comparison, output::colours())),
        Err(_) => text.push_str("nothing to compare: see what failed above\n"),
    }
    if options.runs < rank::fewest_samples(ALPHA) {
        text.push_str(&summary::note(&format!(
            "{} runs are too few for any difference to be more than chance: use --runs {} or more, \
             better 10",
            options.runs,
            rank::fewest_samples(ALPHA)
        )));
    }
    if report.partial {
        text.push_str(summary::INTERRUPTED);
    }
    text
}
