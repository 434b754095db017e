//! Tables for a terminal in the sources' form, at most 80 columns wide.

mod answer;
mod kinds;

use std::fmt::Write;

use ondeck_lab::results::{Baseline, Cost, LockRow, Report, Series};
use ondeck_lab::workload::face::{Shown, Table};
use ondeck_lab::workload::{WORKLOADS, WorkloadInfo, param};
use ondeck_text::grid::{Cell, Grid};
use ondeck_text::numbers::terminal::{count, significant, time};

use crate::data::{grouped, params_in_brief};

pub use answer::render as answer;

/// Every table of the report, one below the other, each with a heading; a simulated report says so
/// above them. `colour` allows escape sequences for a terminal.
pub fn render(report: &Report, colour: bool) -> String {
    let mut text = String::new();
    if let Some(simulation) = report.simulation() {
        _ = writeln!(text, "\n{simulation}: computed, not measured");
    }
    for (heading, table) in tables(report, colour) {
        _ = writeln!(text, "\n{heading}\n{table}");
    }
    text
}

/// The table of locks, which `list` shows.
pub fn locks(rows: &[LockRow], colour: bool) -> String {
    let mut table = Grid::new(&["lock", "waiter", "fairness", "bytes", "+thread", "from"], colour);
    for row in rows {
        table.add_row([
            row.name.clone(),
            row.waiting.clone(),
            row.fairness.clone(),
            row.size_bytes.to_string(),
            row.context_bytes.to_string(),
            row.origin.clone(),
        ]);
    }
    table.right_align(&[3, 4]);
    table.render()
}

/// The cost of an operation of each workload with the lock that does nothing.
pub fn baselines(baselines: &[Baseline], colour: bool) -> String {
    let mut table = Grid::new(&["workload", "", "ns", "p25-p75"], colour);
    for one in baselines.iter().filter(|one| one.missing.is_none()) {
        let params: Vec<_> = one
            .params
            .iter()
            // No work is the usual case.
            .filter(|(_, value)| *value != "0")
            .map(|(name, value)| format!("{name} {value}"))
            .collect();
        let (p25, p75) = (significant(one.p25), significant(one.p75));
        table.add_row([
            one.workload.clone(),
            params.join(", "),
            significant(one.median),
            format!("{p25}-{p75}"),
        ]);
    }
    table.right_align(&[2, 3]);
    table.render()
}

/// The table of costs.
pub fn costs(costs: &[Cost], colour: bool) -> String {
    let mut table = Grid::new(&["", "operation", "ns", "p25", "p75"], colour);
    let mut group = None;
    for cost in costs {
        let shown = if group == Some(&cost.group) { "" } else { &*cost.group };
        group = Some(&cost.group);
        match &cost.refused {
            Some(reason) => {
                table.add_row([shown, &*cost.operation, "refused", "", ""]);
                table.add_row(["", reason]);
            }
            None => table.add_row([
                shown.to_owned(),
                cost.operation.clone(),
                significant(cost.median),
                significant(cost.p25),
                significant(cost.p75),
            ]),
        }
    }
    table.right_align(&[2, 3, 4]);
    table.render()
}

fn tables(report: &Report, colour: bool) -> Vec<(String, String)> {
    let mut tables = by_workload(report, colour);
    if !report.costs.is_empty() {
        tables.push(("costs: ns for one operation".to_owned(), costs(&report.costs, colour)));
    }
    tables
}

/// The tables of each workload, in the order of a suite.
fn by_workload(report: &Report, colour: bool) -> Vec<(String, String)> {
    let mut tables = Vec::new();
    for workload in WORKLOADS {
        let series: Vec<&Series> =
            report.series.iter().filter(|series| series.workload == workload.name).collect();
        if !series.is_empty() {
            let its = of_workload(workload, &series, &report.locks, colour);
            let headed = |(heading, table)| (format!("{}: {heading}", workload.name), table);
            tables.extend(its.into_iter().map(headed));
        }
    }
    tables
}

/// The tables of one workload, with the part of their headings that follows its name.
fn of_workload(
    workload: &WorkloadInfo,
    series: &[&Series],
    locks: &[LockRow],
    colour: bool,
) -> Vec<(String, String)> {
    match workload.table {
        Table::Alone { heading } => {
            vec![(heading.to_owned(), kinds::alone(series, locks, colour))]
        }
        Table::Threads(layout) => {
            let groups = grouped(series.iter().copied(), |one| params_in_brief(&one.params));
            let several = groups.len() > 1;
            groups
                .into_iter()
                .map(|(mut params, series)| {
                    let has_section = series[0].params.contains_key(param::SECTION);
                    if params.is_empty() && several && has_section {
                        "empty section".clone_into(&mut params);
                    }
                    let comma = if params.is_empty() { "" } else { ", " };
                    let heading = format!("{}{comma}{params}", layout.heading);
                    (heading, kinds::threads(&series, &layout, colour))
                })
                .collect()
        }
        Table::Quantities { heading, columns, note } => {
            grouped(series.iter().copied(), |one| (one.threads, params_in_brief(&one.params)))
                .into_iter()
                .map(|((threads, params), series)| {
                    let comma = if params.is_empty() { "" } else { ", " };
                    let situation = format!("{threads} threads{comma}{params}");
                    let table = kinds::quantities(&series, columns, colour);
                    let table = if note.is_empty() { table } else { format!("{table}\n{note}") };
                    (heading.replace("{}", &situation), table)
                })
                .collect()
        }
        Table::Runs { what } => by_threads(series)
            .into_iter()
            .map(|(threads, series)| {
                let heading = format!("average run, four {what} of all runs; {threads} threads");
                (heading, kinds::runs(&series, colour))
            })
            .collect(),
        Table::Patterns { heading } => vec![(heading.to_owned(), kinds::patterns(series, colour))],
        Table::Situations(layouts) => by_threads(series)
            .into_iter()
            .flat_map(|(threads, series)| {
                layouts.iter().filter_map(move |layout| {
                    let (quantity, factor) = layout.quantity;
                    // A quantity for which no round was long enough has no table.
                    series.iter().find_map(|one| one.metric(quantity.name))?;
                    let label = |series: &Series| (layout.label)(&series.params);
                    let table = kinds::across(&series, (quantity.name, factor), label, colour);
                    Some((layout.heading.replace("{}", &threads.to_string()), table))
                })
            })
            .collect(),
    }
}

/// Groups series by their number of threads.
fn by_threads<'a>(series: &[&'a Series]) -> Vec<(usize, Vec<&'a Series>)> {
    let mut groups = grouped(series.iter().copied(), |one| one.threads);
    groups.sort_by_key(|(threads, _)| *threads);
    groups
}

/// A value in the form of a column.
fn written(shown: Shown, value: f64) -> String {
    match shown {
        Shown::Time => time(value),
        Shown::Milliseconds => time(value * 1e6),
        Shown::Ratio => format!("{value:.2}"),
        Shown::Millions => significant(value / 1e6),
        Shown::Thousands => significant(value / 1e3),
        Shown::Count => count(value),
        Shown::Significant => significant(value),
    }
}

/// A lock's name, with a star if not all of its rounds were measured.
pub(crate) fn marked(name: &str, partial: bool) -> String {
    format!("{name}{}", if partial { "*" } else { "" })
}
