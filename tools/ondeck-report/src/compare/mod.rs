//! Compares reports as Go's benchstat does: a table of medians, their difference, and whether it is
//! more than chance.
//!
//! The comparison covers the same series of two reports, or the locks of one report. Everything is
//! computed from the samples; a series' own medians are ignored.

mod choice;
mod notes;
pub mod rank;
pub mod ratio;
pub mod same;
mod worse;

use std::collections::BTreeMap;

use ondeck_lab::results::{Better, Metric, Report, Series, SeriesKey};
use ondeck_lab::summary::Spread;
use serde::Serialize;

pub use choice::{Choice, Refused};

/// The version of the comparison's JSON.
pub const SCHEMA_VERSION: u32 = 1;

/// A report and the name that the user knows it by.
#[derive(Clone, Debug)]
pub struct Input {
    /// The file.
    pub name: String,
    /// Its report.
    pub report: Report,
}

/// The sides of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// The first report and each of the others.
    File,
    /// One lock and each of the others, within one report.
    Lock {
        /// The lock that the others are compared with.
        base: String,
    },
}

/// The result of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// [`SCHEMA_VERSION`].
    pub schema: u32,
    /// The reports, in the order of the command line; the first is the base.
    pub files: Vec<String>,
    /// A difference counts if its p-value is below this. Intervals miss the true ratio in at most
    /// this part of all cases.
    pub alpha: f64,
    /// One for each workload, parameters, metric, and lock or report compared with the base.
    pub tables: Vec<Table>,
    /// Series that only one side has.
    pub lone: Vec<Lone>,
    /// Remarks on the trustworthiness of the figures, a sentence each.
    pub notes: Vec<String>,
}

/// Rows that share everything but lock and threads.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// The workload.
    pub workload: String,
    /// Its parameters.
    pub params: BTreeMap<String, String>,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which direction is better.
    pub better: Better,
    /// The base: a file or a lock.
    pub base: String,
    /// The compared file or lock; `None` where each row has a different lock.
    pub other: Option<String>,
    /// The rows, in the order of the base.
    pub rows: Vec<Row>,
    /// The geometric means of the columns; `None` if no row qualifies.
    pub geomean: Option<Mean>,
}

/// A lock and a number of threads on both sides.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The lock; the other side's if locks are compared.
    pub lock: String,
    /// How many threads used it.
    pub threads: usize,
    /// The base.
    pub base: Side,
    /// The compared side.
    pub other: Side,
    /// The other divided by the base: the median of all ratios of their samples. `None` where a
    /// sample is below zero; infinite, which is null in JSON, where the base is zero and the other
    /// is not.
    pub ratio: Option<f64>,
    /// The ratio's confidence interval; `None` with too few samples.
    pub interval: Option<(f64, f64)>,
    /// The p-value of the Mann-Whitney test.
    pub p: f64,
    /// Whether the difference counts: p is below alpha, and no run was cut.
    pub differs: bool,
}

/// One side of a row.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Side {
    /// The median of the samples.
    pub median: f64,
    /// Half of the distance between the quartiles.
    pub spread: f64,
    /// How many samples.
    pub n: usize,
    /// Fewer rounds than planned.
    pub partial: bool,
    /// Runs that were cut: their length is a lower bound.
    pub cut_runs: usize,
    /// The planned length of a round; `None` where rounds end by count.
    pub round_milliseconds: Option<f64>,
}

/// Geometric means over the rows of a table whose figures are above zero.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Mean {
    /// Of the medians of the base.
    pub base: f64,
    /// Of the medians of the other.
    pub other: f64,
    /// Of the ratios.
    pub ratio: f64,
    /// How many rows.
    pub rows: usize,
}

/// A series without a partner.
#[derive(Clone, Debug, Serialize)]
pub struct Lone {
    /// The file that has it.
    pub file: String,
    /// The file that lacks it.
    pub lacking: String,
    /// The workload.
    pub workload: String,
    /// Its parameters.
    pub params: BTreeMap<String, String>,
    /// The lock.
    pub lock: String,
    /// How many threads used it.
    pub threads: usize,
    /// The reason, if the report that lacks it states one: `deadlock`, ...
    pub failure: Option<String>,
}

/// Compares reports.
///
/// # Errors
///
/// [`Refused`] if a chosen name is in none of the reports, or there is nothing to compare.
pub fn compare(inputs: &[Input], by: &By, choice: &Choice) -> Result<Comparison, Refused> {
    choice.check(inputs)?;
    let mut comparison = Comparison {
        schema: SCHEMA_VERSION,
        files: inputs.iter().map(|input| input.name.clone()).collect(),
        alpha: choice.alpha,
        tables: Vec::new(),
        lone: Vec::new(),
        notes: Vec::new(),
    };
    let Some((first, others)) = inputs.split_first() else { return Err(Refused::nothing()) };
    match by {
        By::File => {
            for other in others {
                comparison.tables.extend(of_files(first, other, choice));
                comparison.lone.extend(lone(first, other, choice));
                comparison.lone.extend(lone(other, first, choice));
            }
        }
        By::Lock { base } => comparison.tables = of_locks(first, base, choice)?,
    }
    if comparison.tables.is_empty() {
        return Err(Refused::nothing());
    }
    comparison.notes = notes::notes(&comparison, inputs);
    Ok(comparison)
}

fn of_files(first: &Input, other: &Input, choice: &Choice) -> Vec<Table> {
    let others = by_key(&other.report);
    let pairs = chosen(&first.report, choice)
        .filter_map(|series| Some((series, *others.get(&series.key())?)));
    tables(pairs, &first.name, Some(&other.name), choice)
}

fn of_locks(input: &Input, base: &str, choice: &Choice) -> Result<Vec<Table>, Refused> {
    if !input.report.series.iter().any(|series| series.lock == base) {
        return Err(choice::unknown("lock", base, choice::locks(&input.report)));
    }
    // The base need not be among the chosen locks.
    let all = by_key(&input.report);
    let pairs = chosen(&input.report, choice).filter_map(|series| {
        let its_base = (&*series.workload, base, series.threads, &series.params);
        (series.lock != base).then_some((*all.get(&its_base)?, series))
    });
    Ok(tables(pairs, base, None, choice))
}

/// The series that the choice selects, except the empty lock's.
fn chosen<'a>(report: &'a Report, choice: &'a Choice) -> impl Iterator<Item = &'a Series> {
    report.series.iter().filter(|series| choice.takes(series))
}

fn by_key(report: &Report) -> BTreeMap<SeriesKey<'_>, &Series> {
    report.series.iter().map(|series| (series.key(), series)).collect()
}

/// Pairs of a base and its other, in tables by workload, parameters and metric.
fn tables<'a>(
    pairs: impl Iterator<Item = (&'a Series, &'a Series)>,
    base: &str,
    other: Option<&str>,
    choice: &Choice,
) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for (one, partner) in pairs {
        for metric in choice.metrics(one) {
            let Some(its) = partner.metric(&metric.name) else { continue };
            let Some(row) = row((one, metric), (partner, its), choice.alpha) else { continue };
            let found = tables.iter_mut().find(|table| {
                table.workload == one.workload
                    && table.params == one.params
                    && (&table.metric, &table.unit) == (&metric.name, &metric.unit)
            });
            match found {
                Some(table) => table.rows.push(row),
                None => tables.push(Table {
                    workload: one.workload.clone(),
                    params: one.params.clone(),
                    metric: metric.name.clone(),
                    unit: metric.unit.clone(),
                    better: metric.better,
                    base: base.to_owned(),
                    other: other.map(str::to_owned),
                    rows: vec![row],
                    geomean: None,
                }),
            }
        }
    }
    for table in &mut tables {
        table.geomean = geomean(&table.rows);
    }
    tables
}

/// `None` if a side has no samples, or the units differ.
fn row(base: (&Series, &Metric), other: (&Series, &Metric), alpha: f64) -> Option<Row> {
    let ((one, its), (partner, theirs)) = (base, other);
    if its.samples.is_empty() || theirs.samples.is_empty() || its.unit != theirs.unit {
        return None;
    }
    let p = rank::p_value(&its.samples, &theirs.samples);
    let ratio = ratio::of(&its.samples, &theirs.samples, alpha);
    let cut = one.cut_runs > 0 || partner.cut_runs > 0;
    Some(Row {
        lock: partner.lock.clone(),
        threads: partner.threads,
        base: side(one, &its.samples),
        other: side(partner, &theirs.samples),
        ratio: ratio.map(|ratio| ratio.estimate),
        interval: ratio.and_then(|ratio| ratio.interval),
        p,
        differs: p < alpha && !cut,
    })
}

fn side(series: &Series, samples: &[f64]) -> Side {
    let spread = Spread::of(samples);
    Side {
        median: spread.median,
        spread: (spread.p75 - spread.p25) / 2.0,
        n: samples.len(),
        partial: series.partial,
        cut_runs: series.cut_runs,
        round_milliseconds: series.round_milliseconds,
    }
}

fn geomean(rows: &[Row]) -> Option<Mean> {
    let positive = |value: f64| (value > 0.0 && value.is_finite()).then_some(value);
    let figures: Vec<[f64; 3]> = rows
        .iter()
        .filter_map(|row| {
            Some([positive(row.base.median)?, positive(row.other.median)?, positive(row.ratio?)?])
        })
        .collect();
    let mean = |column: usize| {
        let sum: f64 = figures.iter().map(|figures| figures[column].ln()).sum();
        (sum / figures.len() as f64).exp()
    };
    (!figures.is_empty()).then(|| Mean {
        base: mean(0),
        other: mean(1),
        ratio: mean(2),
        rows: figures.len(),
    })
}

/// The series of `has` that `lacks` does not have.
fn lone(has: &Input, lacks: &Input, choice: &Choice) -> Vec<Lone> {
    let there = by_key(&lacks.report);
    chosen(&has.report, choice)
        .filter(|series| !there.contains_key(&series.key()))
        .map(|series| Lone {
            file: has.name.clone(),
            lacking: lacks.name.clone(),
            workload: series.workload.clone(),
            params: series.params.clone(),
            lock: series.lock.clone(),
            threads: series.threads,
            failure: worse::failure(&lacks.report, series),
        })
        .collect()
}

/// A workload and its parameters in words.
pub(crate) fn place(workload: &str, params: &BTreeMap<String, String>) -> String {
    let params = params.iter().map(|(name, value)| format!(", {name}={value}"));
    std::iter::once(workload.to_owned()).chain(params).collect()
}
