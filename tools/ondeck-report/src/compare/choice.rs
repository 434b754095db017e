//! Selects the series and metrics to compare. Names are those in the files: a report may come from
//! a program with other locks.

use ondeck_lab::results::{Metric, Report, Series};
use ondeck_lab::sample::THROUGHPUT;
use ondeck_lab::workload::NO_LOCK;
use wildmatch::WildMatch;

use super::Input;
use crate::verdict;

/// A selection. An unset field selects everything; an unset metric, the one that ranks the
/// workload.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Names of locks or patterns.
    pub locks: Option<Vec<String>>,
    /// Names of workloads or patterns.
    pub workloads: Option<Vec<String>>,
    /// Numbers of threads.
    pub threads: Option<Vec<usize>>,
    /// Names of metrics or patterns.
    pub metrics: Option<Vec<String>>,
    /// The level below which a p-value counts.
    pub alpha: f64,
}

/// Why there is no comparison, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

impl Refused {
    /// No series remains.
    pub(super) fn nothing() -> Self {
        Self(
            "the reports share none of the chosen series; compare runs of the same workloads, \
             locks and threads"
                .to_owned(),
        )
    }
}

impl Choice {
    pub(super) fn check(&self, inputs: &[Input]) -> Result<(), Refused> {
        let every = |names: fn(&Report) -> Vec<&str>| -> Vec<&str> {
            inputs.iter().flat_map(|input| names(&input.report)).collect()
        };
        for (kind, words, names) in [
            ("lock", &self.locks, every(locks)),
            ("workload", &self.workloads, every(workloads)),
            ("metric", &self.metrics, every(metrics)),
        ] {
            for word in words.iter().flatten() {
                if !names.iter().any(|name| matches(word, name)) {
                    return Err(unknown(kind, word, names));
                }
            }
        }
        let counts: Vec<String> = inputs
            .iter()
            .flat_map(|input| &input.report.series)
            .map(|series| series.threads.to_string())
            .collect();
        for threads in self.threads.iter().flatten().map(usize::to_string) {
            if !counts.contains(&threads) {
                let there = counts.iter().map(String::as_str).collect();
                return Err(unknown("number of threads", &threads, there));
            }
        }
        Ok(())
    }

    pub(super) fn takes(&self, series: &Series) -> bool {
        let among = |words: &Option<Vec<String>>, name: &str| {
            words.as_ref().is_none_or(|words| words.iter().any(|word| matches(word, name)))
        };
        series.lock != NO_LOCK
            && among(&self.locks, &series.lock)
            && among(&self.workloads, &series.workload)
            && self.threads.as_ref().is_none_or(|threads| threads.contains(&series.threads))
    }

    pub(super) fn metrics<'a>(&self, series: &'a Series) -> Vec<&'a Metric> {
        let Some(words) = &self.metrics else {
            let headline = verdict::judged_by(&series.workload).unwrap_or(THROUGHPUT.name);
            return series.metric(headline).or(series.metrics.first()).into_iter().collect();
        };
        let chosen = |metric: &&Metric| words.iter().any(|word| matches(word, &metric.name));
        series.metrics.iter().filter(chosen).collect()
    }
}

fn matches(word: &str, name: &str) -> bool {
    word == "all" || WildMatch::new(word).matches(name)
}

pub(super) fn locks(report: &Report) -> Vec<&str> {
    let names = report.series.iter().map(|series| series.lock.as_str());
    names.filter(|name| *name != NO_LOCK).collect()
}

fn workloads(report: &Report) -> Vec<&str> {
    report.series.iter().map(|series| series.workload.as_str()).collect()
}

fn metrics(report: &Report) -> Vec<&str> {
    let series = report.series.iter();
    series.flat_map(|series| &series.metrics).map(|metric| metric.name.as_str()).collect()
}

/// The existing names that are most similar to the word.
pub(super) fn unknown(kind: &str, word: &str, mut names: Vec<&str>) -> Refused {
    /// The number that fits in a line.
    const MOST: usize = 6;
    names.sort_unstable();
    names.dedup();
    names.sort_by_key(|name| strsim::damerau_levenshtein(word, name));
    let more = names.len().saturating_sub(MOST);
    names.truncate(MOST);
    let mut there = names.join(", ");
    if more > 0 {
        there = format!("{there} and {more} more");
    } else if names.is_empty() {
        "none".clone_into(&mut there);
    }
    Refused(format!("no {kind} `{word}` in the reports; there is {there}"))
}
