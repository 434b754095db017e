//! Tables for a terminal: the sources' own, at most 80 columns wide.

mod across;
mod company;
mod contention;
mod threads;

use std::fmt::Write;

use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

use crate::numbers::terminal::{in_one_unit, significant, time};
use crate::results::{Baseline, Cost, LockRow, Metric, Report, Series};

/// Every table of the report, one below the other, with a heading each. `colour` allows escape
/// sequences for a terminal.
pub fn render(report: &Report, colour: bool) -> String {
    let mut text = String::new();
    for (heading, table) in tables(report, colour) {
        // Writing to a string does not fail.
        _ = writeln!(text, "\n{heading}\n{table}");
    }
    text
}

/// The table of locks: what `list` shows.
pub fn locks(rows: &[LockRow], colour: bool) -> String {
    let mut table = new_table(&["lock", "waiter", "fairness", "bytes", "+thread", "from"], colour);
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
    right_align(&mut table, &[3, 4]);
    table.trim_fmt()
}

/// What an operation of each workload costs with the lock that does nothing.
pub fn baselines(baselines: &[Baseline], colour: bool) -> String {
    let mut table = new_table(&["workload", "", "ns", "p25-p75"], colour);
    for one in baselines.iter().filter(|one| one.missing.is_none()) {
        let params: Vec<_> = one
            .params
            .iter()
            // No work is the rule.
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
    right_align(&mut table, &[2, 3]);
    table.trim_fmt()
}

/// The table of costs.
pub fn costs(costs: &[Cost], colour: bool) -> String {
    let mut table = new_table(&["", "operation", "ns", "p25", "p75"], colour);
    let mut group = "";
    for cost in costs {
        let shown = if cost.group == group { "" } else { &cost.group };
        group = &cost.group;
        match &cost.refused {
            Some(reason) => {
                table.add_row([shown, &cost.operation, "refused", "", ""]).add_row(["", reason])
            }
            None => table.add_row([
                shown.to_owned(),
                cost.operation.clone(),
                significant(cost.median),
                significant(cost.p25),
                significant(cost.p75),
            ]),
        };
    }
    right_align(&mut table, &[2, 3, 4]);
    table.trim_fmt()
}

fn tables(report: &Report, colour: bool) -> Vec<(String, String)> {
    let mut tables = Vec::new();
    // The tables of single workloads have no room for what tells conditions apart.
    if across::compares(report) {
        tables.extend(across::conditions(report, colour));
    } else {
        tables.extend(by_workload(report, colour));
    }
    if !report.costs.is_empty() {
        tables.push(("costs: ns for one operation".to_owned(), costs(&report.costs, colour)));
    }
    tables
}

fn by_workload(report: &Report, colour: bool) -> Vec<(String, String)> {
    let mut tables = Vec::new();
    let of = |workload: &str| {
        report.series.iter().filter(|series| series.workload == workload).collect::<Vec<_>>()
    };
    if let uncontended @ [_, ..] = &of("uncontended")[..] {
        tables.push((
            "uncontended: ns for lock + unlock in a multi- and a single-threaded process"
                .to_owned(),
            uncontended_table(uncontended, &report.locks, colour),
        ));
    }
    let throughput = of("throughput");
    let mut situations: Vec<String> =
        throughput.iter().map(|series| series.params_word()).collect();
    situations.dedup();
    situations.sort_unstable();
    situations.dedup();
    for params in situations {
        let series: Vec<_> =
            throughput.iter().copied().filter(|series| series.params_word() == params).collect();
        let what = series[0];
        let nanos = |name: &str| what.params.get(name).cloned().unwrap_or_default();
        tables.push((
            format!(
                "throughput: million pairs/s by threads, {} ns in the section, {} ns outside",
                nanos("section_ns"),
                nanos("outside_ns")
            ),
            threads::table(&series, &threads::THROUGHPUT, colour),
        ));
    }
    for (workload, what) in [("wait", "longest waits"), ("idle", "longest idle times")] {
        let all = of(workload);
        let mut counts: Vec<usize> = all.iter().map(|series| series.threads).collect();
        counts.sort_unstable();
        counts.dedup();
        for threads in counts {
            let series: Vec<_> =
                all.iter().copied().filter(|series| series.threads == threads).collect();
            tables.push((
                format!("{workload}: average run, four {what} of all runs; {threads} threads"),
                runs_table(&series, colour),
            ));
        }
    }
    tables.extend(contention::tables(report, colour));
    tables.extend(company::tables(report, colour));
    tables
}

fn uncontended_table(series: &[&Series], locks: &[LockRow], colour: bool) -> String {
    let of = |lock: &str, process: &str| {
        series
            .iter()
            .find(|series| {
                series.lock == lock
                    && series.params.get("process").is_some_and(|word| word == process)
            })
            .and_then(|series| series.metric("pair"))
    };
    let mut names: Vec<&str> = Vec::new();
    for one in series {
        if !names.contains(&one.lock.as_str()) {
            names.push(&one.lock);
        }
    }
    // Fastest first; the harness's own cost stays on top.
    names.sort_by(|one, other| {
        let key = |lock: &str| {
            (lock != "none", of(lock, "multi-threaded").map_or(f64::MAX, |pair| pair.median))
        };
        let (one, other) = (key(one), key(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let mut table = new_table(&["lock", "multi", "p25-p75", "single", "p25-p75", "bytes"], colour);
    for name in names {
        let cells = |pair: Option<&Metric>| match pair {
            Some(pair) => {
                [format!("{:.2}", pair.median), format!("{:.1}-{:.1}", pair.p25, pair.p75)]
            }
            None => ["-".to_owned(), String::new()],
        };
        let [multi, multi_spread] = cells(of(name, "multi-threaded"));
        let [single, single_spread] = cells(of(name, "single-threaded"));
        let size = locks.iter().find(|row| row.name == name).map(|row| row.size_bytes.to_string());
        let partial = series.iter().any(|one| one.lock == name && one.partial);
        let name = marked(if name == "none" { "none (the harness)" } else { name }, partial);
        table.add_row([
            &name,
            &multi,
            &multi_spread,
            &single,
            &single_spread,
            size.as_deref().unwrap_or_default(),
        ]);
    }
    right_align(&mut table, &[1, 2, 3, 4, 5]);
    table.trim_fmt()
}

fn runs_table(series: &[&Series], colour: bool) -> String {
    let mut rows: Vec<&Series> = series.to_vec();
    let longest = |series: &Series| series.metric("longest").map_or(f64::MAX, |metric| metric.max);
    rows.sort_by(|one, other| longest(one).total_cmp(&longest(other)));
    let mut table =
        new_table(&["lock", "run", "four longest", "least", "p50", "p99", "p99.9", "runs"], colour);
    for one in rows {
        let run = one.metric("run");
        let mean = run
            .map_or(0.0, |run| run.samples.iter().sum::<f64>() / run.samples.len().max(1) as f64);
        let mut longest = one.metric("longest").map_or(Vec::new(), |metric| metric.samples.clone());
        longest.sort_by(|one, other| other.total_cmp(one));
        let runs = longest.len();
        longest.truncate(4);
        let percentile = |wanted: f64| {
            one.distribution
                .as_ref()
                .and_then(|times| times.percentiles.iter().find(|(p, _)| (p - wanted).abs() < 1e-9))
                .map_or("-".to_owned(), |&(_, nanos)| time(nanos as f64))
        };
        let least =
            one.distribution.as_ref().map_or("-".to_owned(), |times| time(times.min_ns as f64));
        table.add_row([
            marked(&one.lock, one.partial),
            format!("{}{}", if one.cut_runs > 0 { ">" } else { "" }, time(mean * 1e6)),
            in_one_unit(&longest),
            least,
            percentile(50.0),
            percentile(99.0),
            percentile(99.9),
            runs.to_string(),
        ]);
    }
    right_align(&mut table, &[1, 2, 3, 4, 5, 6, 7]);
    // Eight columns fit a terminal only with a single space between them.
    for column in table.column_iter_mut() {
        column.set_padding((0, 0));
    }
    table.trim_fmt()
}

/// A lock's name, with a star if not all of its rounds were measured.
pub(crate) fn marked(name: &str, partial: bool) -> String {
    format!("{name}{}", if partial { "*" } else { "" })
}

pub(crate) fn new_table<T: ToString>(header: &[T], colour: bool) -> Table {
    let mut table = Table::new();
    let rule = LineStyle::none().fill('─').junction('─');
    table.load_style(TableStyle::new().header_separator(rule));
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().map(ToString::to_string));
    if colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table
}

pub(crate) fn right_align(table: &mut Table, columns: &[usize]) {
    for &index in columns {
        if let Some(column) = table.column_mut(index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 1));
    }
}
