//! What a merged report says about its runs.

use std::collections::{BTreeMap, BTreeSet};

use ondeck_lab::pure_work::{Cores, PureWork};
use ondeck_lab::results::{Baseline, IdleTimeline, Report, Run, Settings, Simulated, Warning};
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
        machine: None,
        pure_work: report.machine.pure_work,
    }]
}

/// Refuses a run that is in two reports. Runs differ in when they began and how long they
/// took, which is known to the nanosecond.
pub(super) fn no_run_twice(inputs: &[Input]) -> Result<(), Apart> {
    let mut seen: BTreeMap<(String, u64, String), &str> = BTreeMap::new();
    for input in inputs {
        for run in runs(input) {
            let started = run.started.clone();
            if let Some(one) =
                seen.insert((run.started, run.seconds.to_bits(), run.command), &input.name)
            {
                let (one, other) = (one.to_owned(), input.name.clone());
                return Err(Apart::Twice { one, other, started });
            }
        }
    }
    Ok(())
}

/// Refuses reports whose threads ran under other conditions, which series do not have.
pub(super) fn same_settings(inputs: &[Input]) -> Result<(), Apart> {
    let Some((first, others)) = inputs.split_first() else { return Ok(()) };
    for other in others {
        let mine = same::conditions(&first.report.settings);
        let its = same::conditions(&other.report.settings);
        for ((what, one), (_, another)) in mine.into_iter().zip(its) {
            if one != another {
                return Err(Apart::Settings {
                    one: first.name.clone(),
                    other: other.name.clone(),
                    what: what.to_owned(),
                    first: one,
                    second: another,
                });
            }
        }
    }
    Ok(())
}

/// What to call the machine of each report: the facts by which they differ. `None` for each if it
/// is one machine.
pub(super) fn machines(inputs: &[Input]) -> Vec<Option<String>> {
    let facts: Vec<_> = inputs.iter().map(|input| same::facts(&input.report)).collect();
    let Some(first) = facts.first() else { return Vec::new() };
    let differing: Vec<usize> = (0..first.len())
        .filter(|&fact| facts.iter().any(|facts| facts[fact].1 != first[fact].1))
        .collect();
    let label = |facts: &[(&'static str, String)]| {
        let words: Vec<String> = differing
            .iter()
            .map(|&fact| match &facts[fact] {
                (what @ ("cpus" | "usable_cpus"), count) => format!("{count} {what}"),
                (_, word) => word.clone(),
            })
            .collect();
        (!words.is_empty()).then(|| words.join(", "))
    };
    facts.iter().map(|facts| label(facts)).collect()
}

/// Everything but the series.
pub(super) fn of(
    first: &Report,
    inputs: &[Input],
    labels: &[Option<String>],
    command: &str,
) -> Report {
    let reports = || inputs.iter().map(|input| &input.report);
    let mut all = Vec::new();
    for (input, label) in inputs.iter().zip(labels) {
        for run in runs(input) {
            all.push(Run { machine: run.machine.clone().or_else(|| label.clone()), ..run });
        }
    }
    let mut warnings = Vec::new();
    let mut failures = Vec::new();
    let mut locks = Vec::new();
    let mut known = BTreeSet::new();
    let mut baselines: Vec<Baseline> = Vec::new();
    let mut idle_timelines: Vec<IdleTimeline> = Vec::new();
    for report in reports() {
        add_new(&mut warnings, &report.warnings);
        add_new(&mut failures, &report.failures);
        locks.extend(report.locks.iter().filter(|row| known.insert(&row.name)).cloned());
        for timeline in report.idle_timelines.iter().filter(|_| labels.iter().all(Option::is_none))
        {
            keep_the_worse(&mut idle_timelines, timeline);
        }
        for baseline in &report.baselines {
            // They have no samples that could be put together: the first counts.
            if !baselines.iter().any(|other| other.key() == baseline.key()) {
                baselines.push(baseline.clone());
            }
        }
    }
    // What is known anew: an earlier merge may have lacked shards that are here now.
    warnings.retain(|warning: &Warning| warning.code != MISSING_SHARDS);
    let mut partial = all.iter().any(|run| run.partial);
    if let Some(missing) = missing_shards(&all) {
        partial = true;
        add_new(&mut warnings, &[missing]);
    }
    if labels.iter().any(Option::is_some) {
        add_new(
            &mut warnings,
            &[warning(
                "machines",
                "series of several machines are in this report; its head describes the first only",
                "see the parameter `machine` of each series",
            )],
        );
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
        idle_timelines,
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

/// What was simulated: of runs with several seeds none of them.
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

/// Whether two CPUs of a machine were two cores in some of its runs and not in others.
fn other_cores(runs: &[Run]) -> Option<String> {
    let mut of_machine: BTreeMap<_, BTreeSet<Cores>> = BTreeMap::new();
    for run in runs {
        let cores = run.pure_work.iter().flat_map(PureWork::cores);
        of_machine.entry(&run.machine).or_default().extend(cores);
    }
    let several = of_machine.into_values().find(|cores| cores.len() > 1)?;
    let words: Vec<_> = several.into_iter().map(Cores::word).collect();
    Some(format!(
        "two CPUs were not the same in all of these runs: {}; a median over them says nothing of any",
        words.join(", ")
    ))
}

/// The shards that are missing, for each number of parts that the campaign was cut into.
fn missing_shards(runs: &[Run]) -> Option<Warning> {
    let shards: BTreeSet<_> = runs.iter().filter_map(|run| run.shard).collect();
    let ways: BTreeSet<usize> = shards.iter().map(|shard| shard.of).collect();
    let mut missing = Vec::new();
    for of in ways {
        let there: BTreeSet<usize> =
            shards.iter().filter(|shard| shard.of == of).map(|shard| shard.index).collect();
        // A file may claim more shards than there can be.
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

/// Missing shards that are named; a warning is no list.
const MOST_NAMED: usize = 10;

fn warning(code: &str, message: &str, fix: &str) -> Warning {
    Warning { code: code.to_owned(), message: message.to_owned(), fix: fix.to_owned() }
}

/// Adds the worst idle of a lock, unless there is a longer one.
fn keep_the_worse(all: &mut Vec<IdleTimeline>, more: &IdleTimeline) {
    let length = |one: &IdleTimeline| one.episode.to.saturating_sub(one.episode.from);
    let same = |one: &&mut IdleTimeline| (&one.lock, one.threads) == (&more.lock, more.threads);
    match all.iter_mut().find(same) {
        Some(one) if length(one) < length(more) => *one = more.clone(),
        Some(_) => {}
        None => all.push(more.clone()),
    }
}
