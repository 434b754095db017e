//! Reports of a few series with samples that a test chooses.

use std::f64::consts::TAU;

use fastrand::Rng;
use ondeck_lab::results::{Better, Metric, Report, Series};
use ondeck_report::compare::{By, Choice, Comparison, Input, compare};
use ondeck_report::read;

/// A report with at least one of everything; its numbers are invented.
pub fn sample() -> Report {
    let sample = read::text("sample", include_bytes!("../data/sample-report.json"));
    sample.expect("the sample is a report")
}

/// The sample report's head, without its measurements.
pub fn report(series: Vec<Series>) -> Report {
    Report { series, costs: vec![], locks: vec![], warnings: vec![], failures: vec![], ..sample() }
}

pub fn metric(name: &str, unit: &str, better: Better, samples: &[f64]) -> Metric {
    Metric {
        name: name.to_owned(),
        unit: unit.into(),
        better,
        // Wrong on purpose: all computations must use the samples.
        median: -1.0,
        p25: -1.0,
        p75: -1.0,
        min: -1.0,
        max: -1.0,
        n: samples.len(),
        samples: samples.to_vec(),
    }
}

/// A series of `throughput`, in which more of the main metric is better.
pub fn throughput(lock: &str, threads: usize, samples: &[f64]) -> Series {
    Series {
        workload: "throughput".to_owned(),
        lock: lock.to_owned(),
        threads,
        params: [("section_ns".to_owned(), "0".to_owned())].into(),
        round_milliseconds: Some(100.0),
        metrics: vec![
            metric("throughput", "ops/s", Better::Higher, samples),
            metric("cpu_per_op", "ns", Better::Lower, &[5.0; 10]),
        ],
        ..Series::default()
    }
}

pub fn input(name: &str, report: Report) -> Input {
    Input { name: name.to_owned(), report }
}

pub fn everything() -> Choice {
    Choice { locks: None, workloads: None, threads: None, metrics: None, alpha: 0.05 }
}

/// `a.json` against `b.json`.
pub fn of_files(base: Vec<Series>, other: Vec<Series>) -> Comparison {
    let inputs = [input("a.json", report(base)), input("b.json", report(other))];
    compare(&inputs, &By::File, &everything()).expect("something in common")
}

/// Samples like those of rounds: logarithms are normal with deviation `spread`.
pub fn draw(rng: &mut Rng, rounds: usize, centre: f64, spread: f64) -> Vec<f64> {
    let mut normal = || (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (TAU * rng.f64()).cos();
    (0..rounds).map(|_| centre * (spread * normal()).exp()).collect()
}
