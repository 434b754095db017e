//! JSON Lines: flat, and the same columns everywhere.

use std::collections::BTreeSet;

use ondeck_lab::results::Report;
use ondeck_report::jsonl;
use serde_json::{Map, Value};

use crate::support::sample;

fn lines() -> (Report, Vec<Map<String, Value>>) {
    let report = sample();
    let text = jsonl::render(&report).expect("lines");
    assert!(text.ends_with('\n'));
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line is an object"));
    (report, lines.collect())
}

#[test]
fn every_sample_is_a_line_with_the_same_flat_columns() {
    let (report, lines) = lines();
    let samples: usize = report
        .series
        .iter()
        .flat_map(|series| &series.metrics)
        .map(|metric| metric.samples.len())
        .sum();
    let costs = report.costs.iter().filter(|cost| cost.refused.is_none()).count();
    assert!(samples > 100 && costs > 0);
    assert_eq!(lines.len(), samples + costs);
    let columns: BTreeSet<Vec<&String>> = lines.iter().map(|line| line.keys().collect()).collect();
    assert_eq!(columns.len(), 1, "{columns:?}");
    assert!(
        lines.iter().flat_map(Map::values).all(|value| !value.is_object() && !value.is_array())
    );
}

#[test]
fn parameters_are_numbers_where_all_of_them_are() {
    let (_, lines) = lines();
    let of = |workload: &str| {
        lines.iter().find(|line| line["workload"] == workload).expect("the workload is there")
    };
    assert!(of("throughput")["param_section_ns"].is_i64());
    assert!(of("uncontended")["param_process"].is_string());
    assert!(of("throughput")["param_process"].is_null());
    assert!(of("costs")["lock"].is_null() && of("costs")["param_group"].is_string());
    assert_eq!(of("throughput")["round"], 1);
}
