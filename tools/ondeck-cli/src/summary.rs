//! The text of a run: tables, verdict, failures, warnings and the machine.

use std::fmt::Write;

use ondeck_lab::results::{Failure, Report, Warning};
use ondeck_lab::sample::PAIR;
use ondeck_lab::workload::{NO_LOCK, UNCONTENDED};
use ondeck_report::answer::Answer;
use ondeck_report::{table, verdict};

use crate::output;

/// As wide as the tables.
const COLUMNS: usize = 80;

/// The last line of a run that was interrupted.
pub(crate) const INTERRUPTED: &str =
    "interrupted: what is marked * or missing was not measured to its end\n";

/// The complete standard output of a bench.
pub(crate) fn of_bench(report: &Report) -> String {
    let mut text = table::render(report, output::colours());
    if let Some(empty) = report
        .series
        .iter()
        .find(|series| series.workload == UNCONTENDED && series.lock == NO_LOCK)
        .and_then(|series| series.metric(PAIR.name))
    {
        _ = writeln!(
            text,
            "\nharness: an empty lock costs {:.2} ns a pair; it is in every number",
            empty.median
        );
    }
    if report.baselines.iter().any(|baseline| baseline.missing.is_none()) {
        let table = table::baselines(&report.baselines, output::colours());
        _ = writeln!(
            text,
            "\nempty lock: CPU time of one operation; it is in every number\n{table}"
        );
    }
    for (reason, workloads) in without_baseline(report) {
        let line = format!("not with an empty lock: {}: {reason}", workloads.join(", "));
        _ = writeln!(text, "{}", textwrap::fill(&line, COLUMNS));
    }
    let verdicts = verdict::verdicts(report);
    if !verdicts.is_empty() {
        let machine = report.simulated.as_ref();
        let machine = machine.map_or("this machine", |simulated| &simulated.machine);
        _ = writeln!(text, "\nverdict on {machine}");
        for verdict in verdicts {
            _ = writeln!(text, "{}\n{}", verdict.situation, indented(&verdict.judgement));
        }
    }
    if let Some(answer) = Answer::of(report) {
        _ = writeln!(text, "\n{}", table::answer(&answer));
    }
    text + &end(report)
}

/// The output of a bench that measured the answer: one screen.
pub(crate) fn of_answer(report: &Report) -> String {
    let mut text = warned(report);
    if let Some(answer) = Answer::of(report) {
        text += &table::answer(&answer);
    }
    text += &end(report);
    text + "all numbers: --html FILE; everything: --all; other locks: --locks NAMES\n"
}

/// The codes of the warnings, which were printed in full before.
fn warned(report: &Report) -> String {
    let mut codes: Vec<String> = Vec::new();
    for warning in &report.warnings {
        let code = warning.code.replace('_', " ");
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    if codes.is_empty() {
        return String::new();
    }
    note(&format!("read the warnings above first: {}", codes.join(", "))) + "\n"
}

/// Failures and the machine.
fn end(report: &Report) -> String {
    let mut text = String::new();
    for failure in &report.failures {
        _ = writeln!(text, "\n{}", describe(failure));
    }
    _ = writeln!(text, "\n{}", machine(report));
    if report.partial {
        text.push_str(INTERRUPTED);
    }
    text
}

/// Workloads without a baseline, grouped by the reason.
fn without_baseline(report: &Report) -> Vec<(&str, Vec<&str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for baseline in &report.baselines {
        let (Some(reason), workload) = (&baseline.missing, baseline.workload.as_str()) else {
            continue;
        };
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, workloads)) if workloads.contains(&workload) => {}
            Some((_, workloads)) => workloads.push(workload),
            None => reasons.push((reason, vec![workload])),
        }
    }
    reasons
}

/// Describes a lock that failed, and where its threads were.
pub(crate) fn describe(failure: &Failure) -> String {
    let Failure { kind, lock, workload, threads, message, .. } = failure;
    let s = if *threads == 1 { "" } else { "s" };
    let mut text =
        format!("{kind}: {lock} in workload {workload} with {threads} thread{s}: {message}");
    for state in &failure.thread_states {
        text.push_str("\n  ");
        text.push_str(state);
    }
    text
}

pub(crate) fn print_warnings(warnings: &[Warning]) {
    for warning in warnings {
        let message = filled("warning: ", &warning.message);
        output::say(format_args!("{message}\n{}", filled("", &warning.fix)));
    }
}

/// Wraps a sentence that may be longer than a line.
pub(crate) fn note(text: &str) -> String {
    textwrap::fill(text, COLUMNS) + "\n"
}

/// Wraps a part of a warning, indented after its first word.
fn filled(first: &str, text: &str) -> String {
    const REST: &str = "         ";
    let first = if first.is_empty() { REST } else { first };
    let options = textwrap::Options::new(COLUMNS).initial_indent(first).subsequent_indent(REST);
    textwrap::fill(text, options)
}

fn machine(report: &Report) -> String {
    let machine = &report.machine;
    let simulation = report.simulation();
    let simulated = simulation.is_some();
    let evidence = simulation.map_or("measured".to_owned(), |words| words + ",");
    let cpu = if machine.cpu.is_empty() { &machine.architecture } else { &machine.cpu };
    let hypervisor = if machine.virtualized.is_some() { " (virtual)" } else { "" };
    let facts = format!("{cpu}, {} CPUs{hypervisor}, {}", machine.usable_cpus, machine.kernel);
    // A simulated machine has no C library.
    let unnamed = simulated || machine.libc.is_empty();
    let facts = if unnamed { facts } else { format!("{facts}, {}", machine.libc) };
    let took =
        format!("{evidence} in {:.0} s; a number is the median of its rounds", report.seconds);
    let lines = [Some(took), Some(facts), report.machine.pure_work.map(|work| work.line())]
        .into_iter()
        .flatten();
    lines.map(|line| textwrap::fill(&line, COLUMNS)).collect::<Vec<_>>().join("\n")
}

fn indented(text: &str) -> String {
    let options = textwrap::Options::new(COLUMNS).initial_indent("  ").subsequent_indent("  ");
    textwrap::fill(text, options)
}
