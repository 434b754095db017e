//! A computed report that has every workload.

use std::collections::BTreeMap;

use ondeck_lab::results::{Baseline, Better, Distribution, Metric, Report, Series};

use crate::support::sample;

/// A report that has every workload, in some of its situations, with figures that look measured.
pub fn everything() -> Report {
    let mut report = sample();
    report.series.clear();
    for (workload, threads, params) in SITUATIONS {
        for (place, lock) in ["none", "std", "ondeck", "mcs", "parking_lot"].into_iter().enumerate()
        {
            for &threads in *threads {
                report.series.push(series(workload, lock, place, threads, params));
            }
        }
    }
    report.baselines = SITUATIONS
        .iter()
        .map(|(workload, threads, params)| Baseline {
            workload: (*workload).to_owned(),
            params: params_of(params),
            threads: threads[0],
            median: 12.5 + threads.len() as f64,
            p25: 11.25,
            p75: 15.125,
            n: 3,
            missing: workload.starts_with('c').then(|| "two roles".to_owned()),
        })
        .collect();
    report
}

type Params = &'static [(&'static str, &'static str)];

const SITUATIONS: &[(&str, &[usize], Params)] = &[
    ("uncontended", &[1], &[("process", "multi-threaded")]),
    ("uncontended", &[1], &[("process", "single-threaded")]),
    ("collision", &[1, 2, 101, 1001], &[]),
    ("throughput", &[1, 2, 4, 8, 16, 32, 64], &[("section_ns", "0"), ("outside_ns", "0")]),
    ("throughput", &[1, 8], &[("section_ns", "100"), ("outside_ns", "500")]),
    ("wait", &[4, 16], &[("pairs_per_thread", "16384")]),
    ("idle", &[16], &[("pairs_per_thread", "16384")]),
    ("handoff", &[1], &[("pattern", "solo")]),
    ("handoff", &[2], &[("pattern", "fast")]),
    ("handoff", &[2], &[("pattern", "slow")]),
    ("capture", &[2, 8], &[("section_ns", "0"), ("outside_ns", "0")]),
    ("starve", &[8], &[("section_ns", "100"), ("outside_ns", "0")]),
    ("long_hold", &[4], &[("section_ns", "300000"), ("outside_ns", "700000")]),
    ("long_hold", &[2], &[("section_ns", "300000"), ("outside_ns", "0")]),
    ("oversubscribed", &[8, 16, 32], &[("section_ns", "0"), ("outside_ns", "0")]),
    ("condvar", &[2, 9], &[]),
    ("condvar", &[2, 9], &[("notify", "after")]),
    ("producer_consumer", &[2, 16], &[("capacity", "1")]),
    ("producer_consumer", &[16], &[("capacity", "8"), ("notify", "after")]),
    ("recovery", &[4], &[("capacity", "8")]),
    ("recovery", &[4], &[("capacity", "8"), ("notify", "after")]),
    ("chan", &[1, 2, 8, 16, 32, 64], &[]),
    ("bystander", &[4], &[("section_ns", "0"), ("outside_ns", "0")]),
    ("mixed_priority", &[3], &[]),
    ("real", &[4], &[("app", "lru")]),
    ("real", &[4, 8], &[("app", "allocator")]),
    ("rwmix", &[1, 2], &[("writes_percent", "0.1"), ("section_ns", "0"), ("outside_ns", "0")]),
    ("rwmix", &[1, 2], &[("writes_percent", "50"), ("section_ns", "100"), ("outside_ns", "500")]),
    ("rw_latency", &[3], &[("alone", "writer"), ("section_ns", "1000"), ("outside_ns", "0")]),
    ("rw_latency", &[3], &[("alone", "reader"), ("section_ns", "1000"), ("outside_ns", "0")]),
    ("from_another_program", &[2, 4], &[("width_us", "3")]),
];

fn params_of(params: Params) -> BTreeMap<String, String> {
    params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Name, unit, direction, and approximate value.
type Quantity = (&'static str, &'static str, Better, f64);

const COMMON: &[Quantity] = &[
    ("throughput", "ops/s", Better::Higher, 7.3e6),
    ("cpu_per_op", "ns", Better::Lower, 130.0),
    ("voluntary_switches", "1/op", Better::Lower, 0.02),
    ("involuntary_switches", "1/op", Better::Lower, 0.000_4),
    ("share", "ratio", Better::Higher, 0.71),
    ("runnable", "threads", Better::Neither, 1.9),
    ("running", "threads", Better::Neither, 1.7),
];

/// The additional quantities of a workload.
fn own(workload: &str) -> &'static [Quantity] {
    match workload {
        "uncontended" | "collision" => &[("pair", "ns", Better::Lower, 14.2)],
        "wait" | "idle" => {
            &[("run", "ms", Better::Lower, 31.0), ("longest", "ms", Better::Lower, 4.7)]
        }
        "handoff" => {
            &[("handoff", "ns", Better::Lower, 5_300.0), ("longest", "ms", Better::Lower, 0.9)]
        }
        "capture" => &[
            ("streak_mean", "ops", Better::Neither, 210.0),
            ("streak_p50", "ops", Better::Neither, 100.0),
            ("streak_p99", "ops", Better::Neither, 20_000.0),
            ("streak_max", "ops", Better::Neither, 2_000_000.0),
            ("passed_p50", "ops", Better::Lower, 120.0),
            ("passed_p99", "ops", Better::Lower, 31_000.0),
            ("passed_max", "ops", Better::Lower, 65_000_000.0),
        ],
        "starve" => &[
            ("longest_gap", "ms", Better::Lower, 47.0),
            ("starved_windows", "ratio", Better::Lower, 0.23),
        ],
        "long_hold" => {
            &[("wait_mean", "ns", Better::Lower, 61_000.0), ("longest", "ms", Better::Lower, 0.4)]
        }
        "condvar" => &[("server_loops", "ops/s", Better::Neither, 91_000.0)],
        "producer_consumer" => &[("waits", "1/op", Better::Lower, 0.7)],
        "recovery" => &[
            ("fresh", "ops/s", Better::Higher, 4.1e6),
            ("recovered", "ratio", Better::Higher, 0.97),
            ("waits", "1/op", Better::Lower, 0.7),
        ],
        "chan" => &[("op", "ns", Better::Lower, 140.0)],
        "bystander" => &[("slowdown", "ratio", Better::Lower, 2.9)],
        "rw_latency" => &[
            ("longest", "ms", Better::Lower, 0.3),
            ("wait_p50", "ns", Better::Lower, 900.0),
            ("wait_p99", "ns", Better::Lower, 31_000.0),
        ],
        "mixed_priority" => &[
            ("longest", "ms", Better::Lower, 1.2),
            ("inverted", "ratio", Better::Lower, 0.99),
            ("bursts", "1/op", Better::Lower, 9.9),
            ("rescued", "ratio", Better::Lower, 0.01),
        ],
        _ => &[],
    }
}

fn series(workload: &str, lock: &str, place: usize, threads: usize, params: Params) -> Series {
    let mut rng = fastrand::Rng::with_seed(
        workload.bytes().map(u64::from).sum::<u64>() + 31 * place as u64 + 7 * threads as u64,
    );
    let mut metric = |&(name, unit, better, about): &Quantity| {
        let about = about * (1.0 + 0.8 * place as f64);
        let mut samples: Vec<f64> = (0..5).map(|_| about * (0.9 + 0.2 * rng.f64())).collect();
        if unit == "ratio" && name != "slowdown" {
            for sample in &mut samples {
                *sample = sample.min(1.0);
            }
        }
        let mut sorted = samples.clone();
        sorted.sort_by(f64::total_cmp);
        Metric {
            name: name.to_owned(),
            unit: unit.into(),
            better,
            median: sorted[2],
            p25: sorted[1],
            p75: sorted[3],
            min: sorted[0],
            max: sorted[4],
            n: samples.len(),
            samples,
        }
    };
    let counted = workload == "wait" || workload == "idle";
    let distribution = (counted || workload == "handoff").then(|| Distribution {
        what: workload.to_owned(),
        count: 1_000 + place as u64,
        min_ns: 40,
        max_ns: 4_700_000 * (1 + place as u64),
        percentiles: vec![(50.0, 90), (99.0, 30_000), (99.9, 900_000)],
        buckets: vec![(47, 3), (95, 900), (32_767, 90), (1_048_575, 6), (5_242_879, 1)],
    });
    Series {
        workload: workload.to_owned(),
        lock: lock.to_owned(),
        threads,
        params: params_of(params),
        partial: lock == "mcs" && workload == "chan",
        cut_runs: usize::from(lock == "mcs" && counted),
        round_milliseconds: (!counted).then_some(40.0),
        metrics: own(workload).iter().chain(COMMON).map(&mut metric).collect(),
        distribution,
    }
}
