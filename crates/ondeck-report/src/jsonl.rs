//! JSON Lines: a flat object for each sample, for questions that are asked of many reports at once.
//!
//! Every line of a file has the same columns, so that a reader that guesses them from the first
//! lines guesses right.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use ondeck_lab::results::{Better, Evidence, Report, Unit, Word};
use serde::Serialize;
use serde_json::Value;

/// Before the name of a parameter, because one may be called as a column is.
const PARAM: &str = "param_";

/// One sample; a cost has no lock and no round, and is the median of its rounds.
#[derive(Serialize)]
struct Line<'a> {
    schema: u32,
    evidence: Evidence,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated_machine: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated_seed: Option<u64>,
    started: &'a str,
    version: &'a str,
    commit: Option<&'a str>,
    shard: Option<usize>,
    cpu: &'a str,
    usable_cpus: usize,
    kernel: &'a str,
    workload: &'a str,
    lock: Option<&'a str>,
    threads: usize,
    #[serde(flatten)]
    params: &'a BTreeMap<String, Value>,
    partial: bool,
    cut_runs: usize,
    metric: &'a str,
    unit: &'a Word<Unit>,
    better: Better,
    round: Option<usize>,
    value: f64,
}

/// The report's samples and costs, a line each.
///
/// # Errors
///
/// None in practice: writing to memory does not fail.
pub fn render(report: &Report) -> io::Result<String> {
    let mut lines = Vec::new();
    let columns = Columns::of(report);
    let head = Line {
        schema: report.schema,
        evidence: report.evidence,
        simulated_machine: report.simulated.as_ref().map(|simulated| &*simulated.machine),
        simulated_seed: report.simulated.as_ref().and_then(|simulated| simulated.seed),
        started: &report.started,
        version: &report.build.version,
        commit: report.build.commit.as_deref(),
        shard: report.settings.shard.map(|shard| shard.index),
        cpu: &report.machine.cpu,
        usable_cpus: report.machine.usable_cpus,
        kernel: &report.machine.kernel,
        workload: "costs",
        lock: None,
        threads: 1,
        params: &BTreeMap::new(),
        partial: false,
        cut_runs: 0,
        metric: "",
        unit: &Word::Known(Unit::Nanoseconds),
        better: Better::Lower,
        round: None,
        value: 0.0,
    };
    let mut write = |line: Line<'_>| -> io::Result<()> {
        serde_json::to_writer(&mut lines, &line)?;
        lines.write_all(b"\n")
    };
    for series in &report.series {
        let params = columns.fill(&series.params);
        for metric in &series.metrics {
            for (round, &value) in (1..).zip(&metric.samples) {
                write(Line {
                    workload: &series.workload,
                    lock: Some(&series.lock),
                    threads: series.threads,
                    params: &params,
                    partial: series.partial,
                    cut_runs: series.cut_runs,
                    metric: &metric.name,
                    unit: &metric.unit,
                    better: metric.better,
                    round: Some(round),
                    value,
                    ..head
                })?;
            }
        }
    }
    for cost in report.costs.iter().filter(|cost| cost.refused.is_none()) {
        let params = columns.fill(&[(GROUP.to_owned(), cost.group.to_string())].into());
        write(Line { params: &params, metric: &cost.operation, value: cost.median, ..head })?;
    }
    Ok(String::from_utf8_lossy(&lines).into_owned())
}

/// What a cost has for a parameter.
const GROUP: &str = "group";

/// The parameters of a whole report, each a column.
struct Columns {
    /// The name, and whether every value of it is a number.
    names: BTreeMap<String, bool>,
}

impl Columns {
    fn of(report: &Report) -> Self {
        let mut values: BTreeMap<&str, BTreeSet<Cow<'_, str>>> = BTreeMap::new();
        for (name, value) in report.series.iter().flat_map(|series| &series.params) {
            values.entry(name).or_default().insert(Cow::Borrowed(value));
        }
        for cost in &report.costs {
            values.entry(GROUP).or_default().insert(cost.group.word());
        }
        let names = values.into_iter().map(|(name, values)| {
            (name.to_owned(), values.into_iter().all(|value| number(&value).is_some()))
        });
        Self { names: names.collect() }
    }

    fn fill(&self, params: &BTreeMap<String, String>) -> BTreeMap<String, Value> {
        let filled = self.names.iter().map(|(name, &numbers)| {
            let value = params.get(name).map_or(Value::Null, |value| match number(value) {
                Some(number) if numbers => number.into(),
                _ => value.as_str().into(),
            });
            (format!("{PARAM}{name}"), value)
        });
        filled.collect()
    }
}

fn number(word: &str) -> Option<i64> {
    word.parse().ok()
}
