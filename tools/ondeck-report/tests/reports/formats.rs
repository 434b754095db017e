//! The formats of reports must not change by a byte: tables, pages, comparisons of recorded reports
//! and of one that has every workload.

use ondeck_lab::results::Report;
use ondeck_report::compare::{By, compare};
use ondeck_report::{comparison, csv, html, json, table};

use crate::everything::everything;
use crate::golden::assert_golden;
use crate::recorded::{Digests, recorded};
use crate::support;

/// Every format of a report, by its name.
fn formats(report: &Report) -> Vec<(&'static str, String)> {
    vec![
        ("table", table::render(report, false)),
        ("colour", table::render(report, true)),
        ("locks", table::locks(&report.locks, false)),
        ("baselines", table::baselines(&report.baselines, false)),
        ("costs", table::costs(&report.costs, false)),
        ("html", html::render(report)),
        ("csv", csv::render(report).expect("memory")),
        ("json", json::render(report)),
    ]
}

fn compared(report: &Report) -> Option<(String, String)> {
    let base = report.series.iter().find(|series| series.lock != "none")?.lock.clone();
    let inputs = [support::input("a.json", report.clone())];
    let comparison = compare(&inputs, &By::Lock { base }, &support::everything()).ok()?;
    let mut text = comparison::render(&comparison, false);
    text.extend(comparison.notes.iter().map(|note| format!("{note}\n")));
    text.extend(comparison.worse_by_more_than(0.1).iter().map(|worse| format!("{worse}\n")));
    Some((text, json::render(&comparison)))
}

#[test]
fn every_format_of_a_recorded_report_is_as_it_was() {
    let mut digests = Digests::default();
    let mut all = recorded();
    all.push(("everything -".to_owned(), everything()));
    for (name, report) in &all {
        for (format, text) in formats(report) {
            digests.add(name, format, &text);
        }
        if let Some((text, json)) = compared(report) {
            digests.add(name, "compare", &text);
            digests.add(name, "compare-json", &json);
        }
    }
    digests.assert_golden(30);
}

/// In full, so that a reader can see a difference.
#[test]
fn the_terminal_shows_every_workload_as_it_did() {
    let report = everything();
    assert_golden("golden-table.txt", &table::render(&report, false));
}
