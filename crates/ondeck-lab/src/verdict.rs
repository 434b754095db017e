//! A short verdict for each workload: which lock did best here, and which fell behind.
//!
//! Only what the numbers carry: two locks whose quartile ranges overlap are not told apart.

use crate::results::{Better, Metric, Series};

/// What a workload is judged by, best first to explain.
const JUDGED_BY: [(&str, &str); 4] =
    [("uncontended", "pair"), ("throughput", "throughput"), ("wait", "longest"), ("idle", "longest")];

/// The verdicts in the order of the series: for each workload and situation a line that names it
/// and a line that judges.
pub fn verdicts(series: &[Series]) -> Vec<String> {
    let mut situations: Vec<(&str, String, usize)> = Vec::new();
    for one in series {
        let situation = (one.workload.as_str(), one.params_word(), one.threads);
        if !situations.contains(&situation) {
            situations.push(situation);
        }
    }
    // The most threads of each workload and parameters say the most about contention.
    let most = |workload: &str, params: &str| {
        situations
            .iter()
            .filter(|(other, word, _)| *other == workload && word == params)
            .map(|(_, _, threads)| *threads)
            .max()
    };
    situations
        .iter()
        .filter(|(workload, params, threads)| most(workload, params) == Some(*threads))
        .filter_map(|(workload, params, threads)| {
            let metric = JUDGED_BY.iter().find(|(name, _)| name == workload)?.1;
            let ranked = ranked(series, workload, params, *threads, metric);
            sentence(&ranked, workload, &in_words(series, params), *threads)
        })
        .collect()
}

type Row<'a> = (&'a str, &'a Metric);

fn ranked<'a>(series: &'a [Series], workload: &str, params: &str, threads: usize, metric: &str) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = series
        .iter()
        .filter(|one| one.workload == workload && one.threads == threads && one.lock != "none")
        .filter(|one| one.params_word() == params)
        .filter_map(|one| Some((one.lock.as_str(), one.metric(metric)?)))
        .filter(|(_, metric)| metric.median > 0.0)
        .collect();
    rows.sort_by(|(_, one), (_, other)| match one.better {
        Better::Higher => other.median.total_cmp(&one.median),
        Better::Lower | Better::Neither => one.median.total_cmp(&other.median),
    });
    rows
}

fn sentence(rows: &[Row<'_>], workload: &str, situation: &str, threads: usize) -> Option<String> {
    let (&(best, best_metric), &(worst, worst_metric)) = (rows.first()?, rows.last()?);
    let tied: Vec<&str> = rows[1..].iter().take_while(|(_, metric)| overlap(best_metric, metric)).map(|(lock, _)| *lock).collect();
    let place = match (workload, situation) {
        ("uncontended", situation) => format!("{workload}, {situation}"),
        (_, "") => format!("{workload}, {threads} threads"),
        (_, situation) => format!("{workload}, {threads} threads, {situation}"),
    };
    let leaders = match tied.len() {
        0 => format!("{best} leads with {}", value(best_metric)),
        1..=3 => format!("{best} leads with {}, not told apart from {}", value(best_metric), tied.join(", ")),
        more => format!("{best} leads with {}, not told apart from {more} others", value(best_metric)),
    };
    let factor = (worst_metric.median / best_metric.median).max(best_metric.median / worst_metric.median);
    Some(if rows.len() > 1 && factor >= 1.5 {
        format!("{place}\n  {leaders}; {worst} is {factor:.1} times behind")
    } else {
        format!("{place}\n  {leaders}")
    })
}

/// The parameters of a situation as a reader would say them.
fn in_words(series: &[Series], params: &str) -> String {
    let Some(one) = series.iter().find(|one| one.params_word() == params) else { return String::new() };
    let param = |name: &str| one.params.get(name);
    match (param("process"), param("section_ns"), param("outside_ns")) {
        (Some(process), _, _) => format!("{process} process"),
        (_, Some(section), Some(outside)) => {
            format!("{section} ns in the section and {outside} ns outside")
        }
        _ => String::new(),
    }
}

fn overlap(one: &Metric, other: &Metric) -> bool {
    one.p25 <= other.p75 && other.p25 <= one.p75
}

fn value(metric: &Metric) -> String {
    match metric.unit.as_str() {
        "ops/s" => format!("{:.1} M/s", metric.median / 1e6),
        unit if metric.median < 1.0 => format!("{:.3} {unit}", metric.median),
        unit => format!("{:.1} {unit}", metric.median),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn series(lock: &str, threads: usize, medians: (f64, f64, f64)) -> Series {
        Series {
            workload: "throughput".to_owned(),
            lock: lock.to_owned(),
            threads,
            params: BTreeMap::new(),
            partial: false,
            cut_runs: 0,
            metrics: vec![Metric {
                name: "throughput".to_owned(),
                unit: "ops/s".to_owned(),
                better: Better::Higher,
                p25: medians.0,
                median: medians.1,
                p75: medians.2,
                min: medians.0,
                max: medians.2,
                n: 3,
                samples: Vec::new(),
            }],
            distribution: None,
        }
    }

    #[test]
    fn the_leader_is_named_with_those_it_cannot_be_told_apart_from() {
        let verdicts = verdicts(&[
            series("slow", 8, (0.9e6, 1e6, 1.1e6)),
            series("fast", 8, (9e6, 10e6, 11e6)),
            series("near", 8, (8e6, 9.5e6, 10e6)),
            series("fast", 1, (90e6, 99e6, 100e6)),
        ]);
        assert_eq!(
            verdicts,
            ["throughput, 8 threads\n  fast leads with 10.0 M/s, not told apart from near; slow is 10.0 times behind"]
        );
    }

    #[test]
    fn nothing_measured_is_no_verdict() {
        assert!(verdicts(&[]).is_empty());
    }
}
