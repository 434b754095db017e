//! The head of a merged report.

use std::collections::{BTreeMap, BTreeSet};

use ondeck_lab::pure_work::{Cores, PureWork};
use ondeck_lab::results::{Baseline, Report, Run, Settings, Simulated, Warning};
use ondeck_lab::warnings::CORES;

use super::{Apart, MISSING_SHARDS};
use crate::compare::Input;
use crate::same;

/// The runs in a report: the ones that it was merged from, or itself.
fn runs(input: &Input) -> Vec<Run> {
    let report = &input.report;
    if !report.runs.is_empty() {
        return report.runs.clone();
    }
    vec![Run {
        file: input.name.clone(),
        started: report.started.clone(),
        seconds: report.seconds,
        partial: report.partial,
        command: report.settings.command.clone(),
        commit: report.build.commit.clone(),
        shard: report.settings.shard,
        pure_work: report.machine.pure_work,
    }]
}

/// Refuses a run that is in two reports. Runs differ in their start and their length, which is
/// known to the nanosecond.
pub(super) fn no_run_twice(inputs: &[Input]) -> Result<(), Apart> {
    let mut seen: BTreeMap<(String, u64, String), &str> = BTreeMap::new();
    for input in inputs {
        for run in runs(input) {
            let started = run.started.clone();
            if let Some(one) =
                seen.insert((run.started, run.seconds.to_bits(), run.command), &input.name)
            {
                return Err(Apart(format!(
                    "{one} and {} hold the same run of {started}; leave one of them out",
                    input.name
                )));
            }
        }
    }
    Ok(())
}

/// Refuses reports whose threads ran under other conditions, which series do not contain.
pub(super) fn same_settings(inputs: &[Input]) -> Result<(), Apart> {
    let Some((first, others)) = inputs.split_first() else { return Ok(()) };
    for other in others {
        let mine = same::conditions(&first.report.settings);
        let its = same::conditions(&other.report.settings);
        if let Some((what, mine, its)) = same::differing(mine, its).next() {
            return Err(Apart::settings(first, other, what, &mine, &its));
        }
    }
    Ok(())
}

/// Everything but the series.
pub(super) fn of(first: &Report, inputs: &[Input], command: &str) -> Report {
    let reports = || inputs.iter().map(|input| &input.report);
    let all: Vec<Run> = inputs.iter().flat_map(runs).collect();
    let mut warnings = Vec::new();
    let mut failures = Vec::new();
    let mut locks = Vec::new();
    let mut known = BTreeSet::new();
    let mut baselines: Vec<Baseline> = Vec::new();
    for report in reports() {
        add_new(&mut warnings, &report.warnings);
        add_new(&mut failures, &report.failures);
        locks.extend(report.locks.iter().filter(|row| known.insert(&row.name)).cloned());
        for baseline in &report.baselines {
            // They have no samples to merge: the first one counts.
            if !baselines.iter().any(|other| other.key() == baseline.key()) {
                baselines.push(baseline.clone());
            }
        }
    }
    // Determined again below: an earlier merge may have lacked shards that are present now.
    warnings.retain(|warning: &Warning| warning.code != MISSING_SHARDS);
    let mut partial = all.iter().any(|run| run.partial);
    if let Some(missing) = missing_shards(&all) {
        partial = true;
        add_new(&mut warnings, &[missing]);
    }
    if let Some(message) = other_cores(&all) {
        let fix = "merge runs of one kind; the report has `pure_work` of each of its `runs`";
        add_new(&mut warnings, &[warning(CORES, &message, fix)]);
    }
    let builds: BTreeSet<_> = all.iter().map(|run| &run.commit).collect();
    if builds.len() > 1 {
        add_new(
            &mut warnings,
            &[warning(
                "builds",
                "runs of different commits of ondeck are in this report",
                "measure a campaign with one build",
            )],
        );
    }
    Report {
        started: reports().map(|report| &report.started).min().cloned().unwrap_or_default(),
        seconds: all.iter().map(|run| run.seconds).sum(),
        partial,
        warnings,
        failures,
        locks,
        series: Vec::new(),
        baselines,
        cpu_time: reports()
            .map(|report| report.cpu_time)
            .reduce(|one, more| Some(one?.plus(more?)))
            .flatten(),
        // As for baselines, the first counts.
        simulated: simulated(inputs),
        costs: reports()
            .map(|report| &report.costs)
            .find(|costs| !costs.is_empty())
            .cloned()
            .unwrap_or_default(),
        settings: Settings { command: command.to_owned(), shard: None, ..first.settings.clone() },
        runs: all,
        ..first.clone()
    }
}

/// The common simulation; its seed is absent if the runs differ in it.
fn simulated(inputs: &[Input]) -> Option<Simulated> {
    let mut all = inputs.iter().map(|input| input.report.simulated.as_ref());
    let first = all.next()??;
    let same = all.all(|other| other.is_none_or(|other| other.seed == first.seed));
    Some(Simulated { seed: first.seed.filter(|_| same), ..first.clone() })
}

fn add_new<T: Clone + PartialEq>(to: &mut Vec<T>, from: &[T]) {
    for one in from {
        if !to.contains(one) {
            to.push(one.clone());
        }
    }
}

/// Whether two CPUs of the machine were two cores in some of its runs and not in others.
fn other_cores(runs: &[Run]) -> Option<String> {
    let work = runs.iter().filter_map(|run| run.pure_work.as_ref());
    let cores: BTreeSet<Cores> = work.flat_map(PureWork::cores).collect();
    let words: Vec<_> = cores.into_iter().map(Cores::word).collect();
    (words.len() > 1).then(|| {
        format!(
            "the two CPUs were not equally fast in these runs: {}; do not use a median over them",
            words.join(", ")
        )
    })
}

/// The shards that are missing, for each number of parts that the campaign was cut into.
fn missing_shards(runs: &[Run]) -> Option<Warning> {
    let shards: BTreeSet<_> = runs.iter().filter_map(|run| run.shard).collect();
    let ways: BTreeSet<usize> = shards.iter().map(|shard| shard.of).collect();
    let mut missing = Vec::new();
    for of in ways {
        let there: BTreeSet<usize> =
            shards.iter().filter(|shard| shard.of == of).map(|shard| shard.index).collect();
        // A file may claim an impossible number of shards.
        let lacking = (1..=of).filter(|index| !there.contains(index)).take(MOST_NAMED);
        missing.extend(lacking.map(|index| format!("{index}/{of}")));
    }
    (!missing.is_empty()).then(|| {
        warning(
            MISSING_SHARDS,
            &format!("not all shards of the campaign are here; missing: {}", missing.join(", ")),
            "run the missing ones and merge again",
        )
    })
}

/// The most missing shards that a warning names.
const MOST_NAMED: usize = 10;

fn warning(code: &str, message: &str, fix: &str) -> Warning {
    Warning { code: code.to_owned(), message: message.to_owned(), fix: fix.to_owned() }
}
