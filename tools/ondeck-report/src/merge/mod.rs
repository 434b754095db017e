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

/// Why reports cannot be merged, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Apart(String);

impl Apart {
    /// Their samples are not comparable, because a setting differs.
    fn settings(one: &Input, other: &Input, what: &str, first: &str, second: &str) -> Self {
        Self(format!(
            "{} and {} were measured with different {what}: `{first}` and `{second}`; merge runs of one campaign only",
            one.name, other.name
        ))
    }
}

/// Refuses reports of different machines.
///
/// # Errors
///
/// [`Apart`] names the first two and their differences.
pub fn of_one_machine(inputs: &[Input]) -> Result<(), Apart> {
    let Some((first, others)) = inputs.split_first() else { return Ok(()) };
    for other in others {
        let differences: Vec<String> =
            same::differing(same::facts(&first.report), same::facts(&other.report))
                .map(|(what, one, other)| format!("{what} `{one}` and `{other}`"))
                .collect();
        if !differences.is_empty() {
            return Err(Apart(format!(
                "{} and {} are of different machines: {}",
                first.name,
                other.name,
                differences.join(", ")
            )));
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
    let Some(first) = inputs.first() else {
        return Err(Apart("no report to merge; name some".to_owned()));
    };
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
        Err(Apart::settings(from, input, &what, &first, &second))
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
