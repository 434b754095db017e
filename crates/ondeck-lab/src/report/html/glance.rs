//! The findings in one line each: who was best, by how much, and whether that is certain.

use maud::{Markup, html};

use crate::results::{Better, Metric, Report, Series};

use super::data::{self, Shown};
use super::number;
use super::{latency, throughput};

/// One line for each situation of the known workloads.
pub fn lines(report: &Report) -> Markup {
    let mut lines: Vec<(String, String)> = Vec::new();
    lines.extend(uncontended(report));
    lines.extend(most_throughput(report));
    for workload in ["wait", "idle"] {
        lines.extend(shortest_longest(report, workload));
    }
    html! {
        @if !lines.is_empty() {
            dl.glance {
                @for (place, finding) in &lines { div { dt { (place) } dd { (finding) } } }
            }
        }
    }
}

fn uncontended(report: &Report) -> Option<(String, String)> {
    let series = data::of_workload(report, "uncontended");
    let is = |series: &&Series, process: &str| {
        series.params.get("process").is_some_and(|known| known == process)
    };
    let multi: Vec<&Series> =
        series.iter().copied().filter(|series| is(series, "multi-threaded")).collect();
    let (place, group) = if multi.is_empty() {
        ("Uncontended", series)
    } else {
        ("Uncontended, second thread alive", multi)
    };
    let finding = best_two(&group, "pair", &|_| String::new())?;
    Some((place.to_owned(), finding))
}

fn most_throughput(report: &Report) -> Vec<(String, String)> {
    let series = data::of_workload(report, "throughput");
    let groups = data::grouped(series.iter().copied(), |series| series.params.clone());
    groups
        .into_iter()
        .filter_map(|(params, group)| {
            let most = data::thread_counts(&group).last().copied()?;
            let at: Vec<&Series> =
                group.into_iter().filter(|series| series.threads == most).collect();
            let share = |series: &Series| {
                let share = series.metric("share").filter(|share| share.median.is_finite());
                share.map_or_else(String::new, |share| {
                    format!(" at a share of {}", number::ratio(share.median))
                })
            };
            let finding = best_two(&at, "throughput", &share)?;
            let words = data::params_in_words(&params);
            let comma = if words.is_empty() { "" } else { ", " };
            let place = throughput::capitalized(&format!("{words}{comma}{most} threads"));
            Some((place, finding))
        })
        .collect()
}

fn shortest_longest(report: &Report, workload: &str) -> Vec<(String, String)> {
    let series = data::of_workload(report, workload);
    let groups = data::grouped(series.iter().copied(), |series| series.params.clone());
    groups
        .into_iter()
        .filter_map(|(params, group)| {
            let most = data::thread_counts(&group).last().copied()?;
            let finding = least_longest(group.into_iter().filter(|each| each.threads == most))?;
            let words = data::params_in_words(&params);
            let comma = if words.is_empty() { "" } else { ", " };
            Some((format!("Longest {workload}, {words}{comma}{most} threads"), finding))
        })
        .collect()
}

fn least_longest<'a>(series: impl Iterator<Item = &'a Series>) -> Option<String> {
    let mut longest: Vec<(&str, f64)> = series
        .filter_map(|series| Some((&*series.lock, *latency::four_longest(series).first()?)))
        .collect();
    longest.sort_by(|a, b| a.1.total_cmp(&b.1));
    let say = |(lock, longest): &(&str, f64)| format!("{lock} {}", number::time(longest * 1e6));
    let best = say(longest.first()?);
    let rest = match (longest.get(1), longest.last()) {
        (Some(second), Some(last)) if longest.len() > 2 => {
            format!(", then {}; greatest: {}", say(second), say(last))
        }
        (Some(second), _) => format!(", then {}", say(second)),
        _ => String::new(),
    };
    Some(format!("least: {best}{rest}"))
}

/// The best lock by a metric and the next, with a word when their quartiles overlap.
fn best_two(group: &[&Series], metric: &str, more: &dyn Fn(&Series) -> String) -> Option<String> {
    let mut found: Vec<(&Series, &Metric)> = group
        .iter()
        .filter_map(|series| Some((*series, series.metric(metric)?)))
        .filter(|(_, metric)| metric.median.is_finite())
        .collect();
    let better = found.first()?.1.better;
    found.sort_by(|a, b| a.1.median.total_cmp(&b.1.median));
    if better == Better::Higher {
        found.reverse();
    }
    let medians = found.iter().map(|(_, metric)| metric.median);
    let shown = Shown::new(&found.first()?.1.unit, medians);
    let say = |(series, metric): &(&Series, &Metric)| {
        let value = shown.text(metric.median);
        format!("{} {value} {}{}", series.lock, shown.unit, more(series))
    };
    let first = found.first()?;
    let Some(second) = found.get(1) else { return Some(say(first)) };
    let apart = first.1.p75 < second.1.p25 || first.1.p25 > second.1.p75;
    let doubt = if apart { "" } else { " (their quartiles overlap)" };
    Some(format!("{}, then {}{doubt}", say(first), say(second)))
}
