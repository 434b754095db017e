//! Merges reports: the shards of a campaign, or repeated runs of the same one.
//!
//! Series of the same workload, lock, threads and parameters become one: samples are appended in
//! the order of the reports, and everything computed from samples is computed again.

mod distribution;
mod head;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ondeck_lab::results::{Better, Metric, Report, Series};

use crate::compare::Input;
use crate::same;

/// The code of the warning that shards of a campaign are missing.
pub const MISSING_SHARDS: &str = "shards";

/// Why reports cannot be merged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Apart {
    /// There is nothing to merge.
    #[error("no report to merge; name some")]
    Nothing,
    /// They come from different machines, and the user did not allow that.
    #[error("{one} and {other} are of different machines: {differences}")]
    Machines {
        /// A file.
        one: String,
        /// Another.
        other: String,
        /// The differences.
        differences: String,
    },
    /// The same run twice: its samples would count twice.
    #[error("{one} and {other} hold the same run of {started}; leave one of them out")]
    Twice {
        /// A file.
        one: String,
        /// Another.
        other: String,
        /// When that run began.
        started: String,
    },
    /// Their samples are not comparable.
    #[error(
        "{one} and {other} were measured with different {what}: `{first}` and `{second}`; merge \
             runs of one campaign only"
    )]
    Settings {
        /// A file.
        one: String,
        /// Another.
        other: String,
        /// The setting that differs.
        what: String,
        /// Its value in the one.
        first: String,
        /// Its value in the other.
        second: String,
    },
}

/// Refuses reports of different machines.
///
/// # Errors
///
/// [`Apart::Machines`] names the first two and their differences.
pub fn of_one_machine(inputs: &[Input]) -> Result<(), Apart> {
    let Some((first, others)) = inputs.split_first() else { return Ok(()) };
    for other in others {
        let differences: Vec<String> =
            same::differing(same::facts(&first.report), same::facts(&other.report))
                .map(|(what, one, other)| format!("{what} `{one}` and `{other}`"))
                .collect();
        if !differences.is_empty() {
            return Err(Apart::Machines {
                one: first.name.clone(),
                other: other.name.clone(),
                differences: differences.join(", "),
            });
        }
    }
    Ok(())
}

/// Merges reports into one; `command` becomes the report's command line.
///
/// # Errors
///
/// [`Apart`] if they cannot be merged.
pub fn merge(inputs: &[Input], command: &str) -> Result<Report, Apart> {
    let Some(first) = inputs.first() else { return Err(Apart::Nothing) };
    of_one_machine(inputs)?;
    head::no_run_twice(inputs)?;
    head::same_settings(inputs)?;
    let mut series: Vec<(&Input, Series)> = Vec::new();
    let mut places = BTreeMap::new();
    for input in inputs {
        for one in &input.report.series {
            let (workload, lock) = (one.workload.clone(), one.lock.clone());
            match places.entry((workload, lock, one.threads, one.params.clone())) {
                Entry::Occupied(place) => {
                    let (from, other): &mut (&Input, Series) = &mut series[*place.get()];
                    add(from, other, input, one)?;
                }
                Entry::Vacant(place) => {
                    place.insert(series.len());
                    series.push((input, one.clone()));
                }
            }
        }
    }
    let mut series: Vec<Series> = series.into_iter().map(|(_, series)| series).collect();
    series.iter_mut().flat_map(|series| &mut series.metrics).for_each(Metric::summarize);
    Ok(Report { series, ..head::of(&first.report, inputs, command) })
}

fn add(from: &Input, series: &mut Series, input: &Input, other: &Series) -> Result<(), Apart> {
    let apart = |what: String, first: String, second: String| {
        let (one, other) = (from.name.clone(), input.name.clone());
        Err(Apart::Settings { one, other, what, first, second })
    };
    if series.round_milliseconds != other.round_milliseconds {
        let shown = |length: Option<f64>| length.map_or("none".to_owned(), |ms| format!("{ms} ms"));
        let (first, second) = (shown(series.round_milliseconds), shown(other.round_milliseconds));
        return apart(format!("rounds of {}", series.workload), first, second);
    }
    for metric in &other.metrics {
        match series.metrics.iter_mut().find(|mine| mine.name == metric.name) {
            Some(mine) if (&mine.unit, mine.better) == (&metric.unit, metric.better) => {
                mine.samples.extend(&metric.samples);
            }
            Some(mine) => {
                let shown = |metric: &Metric| format!("{} {}", metric.unit, word(metric.better));
                return apart(format!("units of {}", metric.name), shown(mine), shown(metric));
            }
            // The share is absent where that day's rounds are too short.
            None => series.metrics.push(metric.clone()),
        }
    }
    series.partial |= other.partial;
    series.cut_runs = series.cut_runs.saturating_add(other.cut_runs);
    series.distribution = match (series.distribution.take(), &other.distribution) {
        (Some(mine), Some(its)) => Some(distribution::merged(&mine, its)),
        (mine, its) => mine.or_else(|| its.clone()),
    };
    Ok(())
}

fn word(better: Better) -> &'static str {
    match better {
        Better::Higher => "(higher is better)",
        Better::Lower => "(lower is better)",
        Better::Neither => "",
    }
}
