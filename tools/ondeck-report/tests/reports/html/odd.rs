//! Odd input: the page is complete whatever a report contains.

use ondeck_lab::results::{Better, Build, Distribution, Machine, Settings};

use super::{metric, rendered, series};
use crate::support::report as with;

#[test]
fn an_empty_report_is_a_page() {
    let mut report = with(vec![]);
    report.machine = Machine::default();
    report.build = Build::default();
    report.settings = Settings::default();
    report.partial = true;
    report.seconds = f64::NAN;
    report.started = String::new();
    let html = rendered(&report);
    assert!(html.contains("Interrupted"));
}

#[test]
fn odd_values_do_no_harm() {
    let odd =
        [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, 5e-324, 1e-12, 42.0, 42.0];
    let kinds = [
        ("pair", "ns"),
        ("throughput", "ops/s"),
        ("longest", "ms"),
        ("run", "ms"),
        ("share", "ratio"),
        ("cpu_per_op", "ns"),
        ("switches", "1/op"),
        ("", ""),
        ("é", "s"),
    ];
    for workload in ["uncontended", "throughput", "wait", "idle", "capture", ""] {
        for (name, unit) in kinds {
            let all = odd.iter().enumerate().map(|(index, value)| {
                let metrics = vec![metric(name, unit, Better::Lower, *value)];
                series(workload, &format!("lock{}", index / 3), index % 3 * 4, metrics)
            });
            rendered(&with(all.collect()));
        }
    }
}

#[test]
fn a_ratio_above_one_has_room_on_its_axis() {
    let slowdown = |lock, value| {
        series("bystander", lock, 8, vec![metric("slowdown", "ratio", Better::Lower, value)])
    };
    let html = rendered(&with(vec![slowdown("a", 1.0), slowdown("b", 4.0)]));
    let figure = html.split("id=\"fig-bystander-slowdown\"").nth(1).expect("the figure");
    let figure = figure.split("</figure>").next().expect("its end");
    assert!(figure.contains(">3</text>"), "the axis ends before 4: {figure}");
}

#[test]
fn odd_distributions_do_no_harm() {
    let times = |min_ns, max_ns, buckets: &[(u64, u64)]| Distribution {
        what: "wait".to_owned(),
        count: 3,
        min_ns,
        max_ns,
        percentiles: vec![(50.0, 0), (f64::NAN, 3)],
        buckets: buckets.to_vec(),
    };
    let all = [
        times(0, 0, &[]),
        times(0, 0, &[(0, 0)]),
        times(0, 0, &[(0, 5)]),
        times(5, 5, &[(5, 1)]),
        times(u64::MAX, 1, &[(7, 0), (3, u64::MAX), (3, u64::MAX), (u64::MAX, u64::MAX)]),
        times(1, u64::MAX, &[(u64::MAX, 1)]),
    ];
    for each in &all {
        let mut one = series("wait", "one", 16, vec![]);
        one.distribution = Some(each.clone());
        rendered(&with(vec![one]));
    }
    let together = all.iter().enumerate().map(|(index, each)| {
        let mut one = series("idle", &format!("lock{index}"), 16, vec![]);
        one.distribution = Some(each.clone());
        one
    });
    rendered(&with(together.collect()));
}

#[test]
fn forty_locks_are_all_named() {
    let names: Vec<String> =
        (0..40).map(|index| format!("family.lock_number_{index:02}")).collect();
    let mut all = Vec::new();
    for (index, name) in names.iter().enumerate() {
        for threads in [1, 2, 4] {
            let value = 1e6 * (index + threads) as f64;
            let metrics = vec![metric("throughput", "ops/s", Better::Higher, value)];
            all.push(series("throughput", name, threads, metrics));
        }
    }
    let html = rendered(&with(all));
    for name in &names {
        assert!(html.contains(name.as_str()), "{name} is missing");
    }
    assert!(html.contains("30 of 40 locks are thin and grey"));
    assert!(html.contains("30 others in grey"));
}
