//! The simulator against published measurements: `validate [--seeds N] [--most THREADS] [TABLE…]`.
//!
//! [`run`] simulates every number of the tables in docs/published/ that it can, and says how far it is off. The
//! page docs/validation.md has the result and what is wrong.
//!
//! | file | what |
//! |---|---|
//! | `published.rs` | rows of the tables |
//! | `shapes/` | what the published programs do, for simulated threads |
//! | `subject.rs` | the locks by name, in all shapes |
//! | `go_first.rs` | a lock that only a published table has |
//! | `tables/` | which row is which lock in which shape on which machine |
//! | `case.rs` | one number, and how it is simulated |
//! | `verdict.rs`, `stats.rs` | how well both agree |
//! | `text.rs` | what is printed |

mod case;
mod go_first;
mod published;
mod shapes;
mod stats;
mod subject;
mod tables;
mod text;
mod verdict;

use std::collections::HashMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use case::{Case, Table};
use thiserror::Error;

use verdict::Verdict;

/// The tables that can be asked for.
pub const TABLES: &[&str] = &tables::NAMES;

/// Why nothing was validated.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ValidateError {
    /// There is no such table.
    #[error("there is no published table `{0}`; there are {list}", list = TABLES.join(", "))]
    NoTable(String),
    /// No run was asked for.
    #[error("0 seeds simulate nothing; ask for 1 or more")]
    NoSeeds,
}

/// Which part of a table is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Full,
    /// At most so many threads, one seed: some seconds for a table.
    Threads(u32),
}

/// What a validation has found.
#[derive(Debug)]
pub struct Validation {
    /// A verdict for each table.
    pub verdicts: Vec<Verdict>,
}

/// Simulates published tables: those named, or all if none is named; each number once for each seed.
///
/// `progress` is told how many numbers of how many are done; other threads call it. Costs some minutes on two CPUs for all tables and one seed.
///
/// # Errors
///
/// [`ValidateError`]: there is no such table, or no seed.
pub fn run(
    names: &[&str],
    seeds: u64,
    extent: Extent,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<Validation, ValidateError> {
    if seeds == 0 {
        return Err(ValidateError::NoSeeds);
    }
    let names = if names.is_empty() { TABLES } else { names };
    let mut tables: Vec<Table> = Vec::new();
    for name in names {
        let table = tables::named(name);
        tables.push(table.ok_or_else(|| ValidateError::NoTable((*name).into()))?);
    }
    if let Extent::Threads(most) = extent {
        for table in &mut tables {
            table.cases.retain(|case| case.threads <= most);
        }
    }
    let cases: Vec<Case> = tables.iter().flat_map(|table| table.cases.iter().cloned()).collect();
    let mut simulated = simulate(&cases, seeds, progress).into_iter();
    let verdicts = tables
        .iter()
        .map(|table| {
            let results: Vec<_> = simulated.by_ref().take(table.cases.len()).collect();
            Verdict::of(table, &results)
        })
        .collect();
    Ok(Validation { verdicts })
}

/// The number of each case, by as many OS threads as there are CPUs.
fn simulate(
    cases: &[Case],
    seeds: u64,
    progress: &(dyn Fn(usize, usize) + Sync),
) -> Vec<Option<f64>> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results = Mutex::new(vec![None; cases.len()]);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut machines = HashMap::new();
                loop {
                    // Relaxed: each number is handed out once; results are ordered by their mutex.
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

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut seeds, mut extent, mut tables) = (1, Extent::Full, Vec::new());
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse().ok());
        match argument.as_str() {
            "--seeds" => seeds = number().unwrap_or(0),
            "--most" => extent = Extent::Threads(number().unwrap_or(0) as u32),
            _ => tables.push(argument),
        }
    }
    let names: Vec<&str> = tables.iter().map(String::as_str).collect();
    let progress = |done: usize, of: usize| {
        if done.is_multiple_of(10) || done == of {
            eprint!("\r{done} of {of}");
            let _ = std::io::stderr().flush();
        }
    };
    match run(&names, seeds, extent, &progress) {
        Ok(validation) => println!("\n{validation}"),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    }
}
