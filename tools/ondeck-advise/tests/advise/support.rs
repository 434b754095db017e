//! Situations, reports with figures that a test chooses, and the resulting advice.

use ondeck_advise::rules::Effect;
use ondeck_advise::{Advice, Evidence, Rules, UseCase, advise};
use ondeck_lab::results::{Better, Metric, Report, SCHEMA_VERSION, Series};
use ondeck_lab::workload::Subject;

/// 8 threads on 8 CPUs, no needs, and every kind of lock acceptable.
pub fn plain() -> UseCase {
    UseCase { specimens: true, ..UseCase::usual(8, 8) }
}

/// Samples of a metric, spaced around a middle by a hundredth of it.
pub fn metric(name: &str, middle: f64) -> Metric {
    let samples: Vec<f64> = (0..10).map(|step| middle * (0.955 + 0.01 * f64::from(step))).collect();
    Metric {
        name: name.to_owned(),
        unit: if name == "throughput" { "ops/s" } else { "ns" }.into(),
        better: if name == "throughput" { Better::Higher } else { Better::Lower },
        median: middle,
        p25: middle,
        p75: middle,
        min: middle,
        max: middle,
        n: samples.len(),
        samples,
    }
}

/// A series of `workload` in the situation.
pub fn series(workload: &str, situation: &UseCase, lock: &str, metrics: &[(&str, f64)]) -> Series {
    let params = [("section_ns", situation.section_ns), ("outside_ns", situation.outside_ns)];
    Series {
        workload: workload.to_owned(),
        lock: lock.to_owned(),
        threads: situation.threads,
        params: params.map(|(name, nanos)| (name.to_owned(), nanos.to_string())).into(),
        round_milliseconds: Some(100.0),
        metrics: metrics.iter().map(|&(name, middle)| metric(name, middle)).collect(),
        ..Series::default()
    }
}

pub fn report(series: Vec<Series>) -> Report {
    Report { schema: SCHEMA_VERSION, seconds: 1.0, series, ..Report::default() }
}

pub fn advised(situation: &UseCase, report: Option<&Report>) -> Advice {
    let evidence = report.map(|report| Evidence { by: "this run", report });
    advise(&Rules::built_in(), situation, &Subject::all(), evidence)
}

/// The rules that an answer names with a lock; without a lock the situation's rules.
pub fn fired(advice: &Advice, lock: Option<&str>) -> Vec<(String, Effect)> {
    let Some(lock) = lock else {
        return advice.warnings.iter().map(|said| (said.rule.clone(), said.effect)).collect();
    };
    let ranked = advice.ranking.iter().filter(|choice| choice.lock == lock);
    let reasons = ranked.flat_map(|choice| &choice.reasons);
    let out = advice.excluded.iter().filter(|out| out.locks.iter().any(|name| name == lock));
    reasons.chain(out.map(|out| &out.rule)).map(|said| (said.rule.clone(), said.effect)).collect()
}
