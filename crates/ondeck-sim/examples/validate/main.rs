//! The simulator against published measurements.
//!
//! ```text
//! validate [--seeds N] [TABLE…]           simulates and prints
//! validate --record [--seeds N] [TABLE…]  simulates, and writes the records and the page
//! validate --page                         writes the page from the records
//! validate --check [TABLE…]               simulates again, and fails where a record or the page differs
//! validate --predict NAME [--seeds N]     prints a prediction, for ci/predict.sh
//! ```
//!
//! [`simulate`] simulates every number that it can of the tables in docs/published/. The page docs/validation.md
//! reports its errors, and their causes.
//!
//! | file | what |
//! |---|---|
//! | `published.rs` | rows of the tables |
//! | `shapes/` | what the published programs do, for simulated threads |
//! | `subject.rs` | the locks by name, in all shapes |
//! | `go_first.rs` | a lock that only a published table has |
//! | `tables/` | which row is which lock in which shape on which machine |
//! | `case.rs` | one number, how it is simulated, and whether something was fitted to it |
//! | `copied.rs` | the baseline |
//! | `verdict.rs`, `stats.rs` | how well both agree with the published numbers |
//! | `record.rs`, `page.rs` | the records: docs/results/validation/, and the summary of the page |
//! | `predict.rs` | predictions |
//! | `text.rs` | the printed text |

mod case;
mod copied;
mod go_first;
mod page;
mod predict;
mod published;
mod record;
mod shapes;
mod stats;
mod subject;
mod tables;
mod text;
mod verdict;

use std::collections::HashMap;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use case::{Case, Table};
use record::{Made, Record};
use verdict::Verdict;

/// The requested action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Print,
    Record,
    Page,
    Check,
    Predict,
}

/// A command line.
struct Options {
    mode: Mode,
    seeds: u64,
    names: Vec<String>,
}

fn options() -> Option<Options> {
    let mut options = Options { mode: Mode::Print, seeds: 1, names: Vec::new() };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--record" => options.mode = Mode::Record,
            "--page" => options.mode = Mode::Page,
            "--check" => options.mode = Mode::Check,
            "--predict" => options.mode = Mode::Predict,
            "--seeds" => {
                options.seeds = arguments.next()?.parse().ok().filter(|&seeds| seeds > 0)?;
            }
            name if name.starts_with('-') => return None,
            name => options.names.push(name.to_owned()),
        }
    }
    Some(options)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("usage: validate [--record|--page|--check|--predict] [--seeds N] [TABLE…]");
        return ExitCode::from(2);
    };
    match run(&options) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run(options: &Options) -> io::Result<ExitCode> {
    if options.mode == Mode::Predict {
        for name in &options.names {
            let rows = predict::rows(name, options.seeds);
            print!("{}", rows.ok_or_else(|| io::Error::other(format!("no prediction {name}")))?);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let tables = named(&options.names)?;
    match options.mode {
        Mode::Record => {
            for table in &tables {
                let made = Made::now(options.seeds)?;
                let numbers = simulate(&table.cases, options.seeds);
                fs::write(record::path(table.name), Record { made, numbers }.text(table))?;
            }
        }
        Mode::Check => {
            let mut is_same = page_is_right()?;
            for table in &tables {
                is_same &= is_recorded(table)?;
            }
            return Ok(ExitCode::from(u8::from(!is_same)));
        }
        Mode::Page => {}
        _ => {
            let judge = |table| Verdict::of(table, &simulate(&table.cases, options.seeds));
            let verdicts: Vec<_> = tables.iter().map(judge).collect();
            for verdict in &verdicts {
                println!("\n{verdict}");
            }
            println!("{}", page::summary(verdicts.iter()));
            return Ok(ExitCode::SUCCESS);
        }
    }
    let (_, right) = page::both(&recorded()?)?;
    fs::write(page::path(), right)?;
    Ok(ExitCode::SUCCESS)
}

/// The tables with these names, or all.
fn named(names: &[String]) -> io::Result<Vec<Table>> {
    let known = tables::NAMES;
    if names.is_empty() {
        return Ok(known.iter().filter_map(|name| tables::named(name)).collect());
    }
    let table = |name: &String| {
        let list = known.join(", ");
        let message = || format!("there is no published table `{name}`; there are {list}");
        tables::named(name).ok_or_else(|| io::Error::other(message()))
    };
    names.iter().map(table).collect()
}

/// All tables with their records.
fn recorded() -> io::Result<Vec<(Verdict, Record)>> {
    let judged = |table: Table| {
        let record = Record::read(&table)?;
        Ok((Verdict::of(&table, &record.numbers), record))
    };
    named(&[])?.into_iter().map(judged).collect()
}

/// Whether the page matches the records.
fn page_is_right() -> io::Result<bool> {
    let (page, right) = page::both(&recorded()?)?;
    if page != right {
        eprintln!("docs/validation.md is not that of its records: validate --page");
    }
    Ok(page == right)
}

/// Whether the simulator reproduces the table's recorded numbers.
fn is_recorded(table: &Table) -> io::Result<bool> {
    let record = Record::read(table)?;
    let numbers = simulate(&table.cases, record.made.seeds);
    for (case, (old, new)) in table.cases.iter().zip(record.numbers.iter().zip(&numbers)) {
        if old != new {
            let threads = case.published.threads;
            eprintln!(
                "{}: {}, {} with {threads} threads: recorded {old:?}, simulated {new:?}",
                table.name, case.series, case.lock
            );
        }
    }
    Ok(record.numbers == numbers)
}

/// Simulates each case with the seeds 1 to `seeds`, on all CPUs; returns the medians.
fn simulate(cases: &[Case], seeds: u64) -> Vec<Option<f64>> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(vec![None; cases.len()]);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut machines = HashMap::new();
                loop {
                    // Relaxed: each number is handed out once, and the mutex orders the results.
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(index) else { break };
                    let costs = machines.entry(case.bench).or_insert_with(|| case.bench.costs());
                    let result = case.simulate(costs, seeds);
                    results.lock().expect("no worker panics with it")[index] = result;
                    progress(done.fetch_add(1, Ordering::Relaxed) + 1, cases.len());
                }
            });
        }
    });
    results.into_inner().expect("no worker panics with it")
}

fn progress(done: usize, of: usize) {
    if done.is_multiple_of(10) || done == of {
        eprint!("\r{done} of {of}");
        // Progress that cannot be printed is dispensable.
        _ = io::stderr().flush();
    }
}

#[cfg(test)]
mod tests {
    use ondeck_sim::machine::{MachineFile, bundled_names};

    use super::{is_recorded, page_is_right, tables};

    #[test]
    fn the_page_has_what_the_records_say() {
        assert!(page_is_right().expect("a page and a record for each table"));
    }

    /// Checks the only table that takes seconds. The others are simulated again every night.
    #[test]
    fn the_simulator_gives_the_recorded_numbers() {
        let table = tables::named("go").expect("a table");
        assert!(is_recorded(&table).expect("a record"));
    }

    /// A workload that is calibrated with the costs of other cores than those it runs on is not as long as published.
    #[test]
    fn a_task_alone_takes_as_long_as_published() {
        let table = tables::named("sync-bench").expect("a table");
        let alone = |case: &&super::Case| {
            case.published.threads == 1 && case.published.ours == "swift_optimal_v2"
        };
        for case in table.cases.iter().filter(alone) {
            let simulated = case.simulate(&case.bench.costs(), 1).expect("a lock of the zoo");
            let ratio = simulated / case.published.value;
            assert!((0.87..1.15).contains(&ratio), "{}: {ratio}", case.series);
        }
    }

    #[test]
    fn each_mark_of_a_machine_file_is_of_published_numbers() {
        let tables: Vec<_> = tables::NAMES.iter().filter_map(|name| tables::named(name)).collect();
        for name in bundled_names() {
            let file = MachineFile::find(name).unwrap_or_else(|error| panic!("{error}"));
            for (key, leaf) in file.leaves() {
                let Some(mark) = &leaf.fitted else { continue };
                let table = tables.iter().find(|table| table.name == mark.table);
                let table = table.unwrap_or_else(|| panic!("{name}: {key}: no such table"));
                let machine = mark.machine.as_deref().unwrap_or(name);
                assert!(bundled_names().any(|name| name == machine), "{name}: {key}: {machine}");
                for lock in &mark.locks {
                    let is_there =
                        table.cases.iter().any(|case| case.lock.starts_with(lock.as_str()));
                    assert!(is_there, "{name}: {key}: {} has no lock {lock}", table.name);
                }
            }
        }
    }

    #[test]
    fn what_was_fitted_is_no_prediction() {
        let fitted = |table: &str, machine: &str, lock: &str, threads: u32| {
            let named = tables::named(table).expect("a table");
            let mut cases = named.cases.iter().filter(|case| {
                let of = &case.published;
                of.origin.name == machine && case.lock.starts_with(lock) && of.threads == threads
            });
            let is_fitted = |case: &super::Case| case.is_fitted(table);
            let first = is_fitted(cases.next().expect("such a row"));
            assert!(cases.all(|case| is_fitted(case) == first), "{lock} with {threads} threads");
            first
        };
        // Marked in the machine's own file.
        assert!(fitted("go", "i7-13700H", "three-state", 14));
        assert!(!fitted("go", "i7-13700H", "three-state", 15));
        assert!(!fitted("go", "i7-13700H", "spinbit", 14));
        // Marked in its base.
        assert!(fitted("sync-bench", "x86 64c", "NIOLock", 2));
        assert!(!fitted("sync-bench", "x86 64c", "NIOLock", 4));
        // Marked with the name of the machine.
        assert!(fitted("sync-bench", "x86 12c", "Optimal v2", 4));
        assert!(!fitted("sync-bench", "x86 40c", "Optimal v2", 4));
        // Fitted by the length of an update.
        assert!(fitted("sync-bench", "x86 40c", "Optimal v2", 1));
    }
}
