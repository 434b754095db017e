//! Merged reports.

use ondeck_lab::results::{Better, CpuTime, Distribution, PureWork, Report, Series, Shard};
use ondeck_report::compare::Input;
use ondeck_report::merge::merge;
use ondeck_report::{json, read};

use crate::support::{input, metric, report, throughput};

/// A separate run: reports that began at the same moment are the same run.
fn run(number: u32, series: Vec<Series>) -> Report {
    let started = format!("2026-01-01T00:00:{number:02}Z");
    Report { started, seconds: f64::from(number), ..report(series) }
}

#[test]
fn samples_of_repeated_runs_are_one_behind_the_other_and_summed_up_anew() {
    let mut second = throughput("lock", 8, &[3.0, 1.0]);
    second.partial = true;
    second.cut_runs = 2;
    second.metrics.push(metric("share", "ratio", Better::Higher, &[0.5]));
    let inputs = [
        input("1.json", run(1, vec![throughput("lock", 8, &[2.0]), throughput("one", 8, &[1.0])])),
        input("2.json", run(2, vec![second, throughput("other", 8, &[1.0])])),
    ];
    let merged = merge(&inputs, "ondeck merge").expect("they go together");
    let locks: Vec<_> = merged.series.iter().map(|series| series.lock.as_str()).collect();
    assert_eq!(locks, ["lock", "one", "other"]);
    let series = &merged.series[0];
    assert!(series.partial && series.cut_runs == 2);
    let figure = series.metric("throughput").expect("the metric");
    assert_eq!(figure.samples, [2.0, 3.0, 1.0]);
    assert_eq!((figure.n, figure.min, figure.median, figure.max), (3, 1.0, 2.0, 3.0));
    assert_eq!(series.metric("share").map(|share| share.n), Some(1));
    assert_eq!(merged.started, "2026-01-01T00:00:01Z");
    assert_eq!(merged.settings.command, "ondeck merge");
    let files: Vec<_> = merged.runs.iter().map(|run| run.file.as_str()).collect();
    assert_eq!(files, ["1.json", "2.json"]);
    // It is a report like any other.
    assert!(read::text("all.json", json::render(&merged).as_bytes()).is_ok());
}

#[test]
fn distributions_are_added_up() {
    let with = |buckets: Vec<(u64, u64)>| Series {
        distribution: Some(Distribution {
            what: "wait".to_owned(),
            count: buckets.iter().map(|(_, count)| count).sum(),
            min_ns: 1,
            max_ns: 2_000,
            percentiles: vec![(50.0, 0)],
            buckets,
        }),
        ..throughput("lock", 8, &[1.0])
    };
    let inputs = [
        input("1.json", run(1, vec![with(vec![(1_023, 5)])])),
        input("2.json", run(2, vec![with(vec![(1_023, 5), (2_047, 1)])])),
    ];
    let merged = merge(&inputs, "").expect("they go together");
    let times = merged.series[0].distribution.as_ref().expect("a distribution");
    assert_eq!((times.count, &times.buckets[..]), (11, &[(1_023, 10), (2_047, 1)][..]));
}

#[test]
fn the_same_run_is_not_counted_twice_even_from_inside_a_merged_report() {
    let one = || input("1.json", run(1, vec![throughput("lock", 8, &[1.0])]));
    let two = || input("2.json", run(2, vec![throughput("lock", 8, &[1.0])]));
    let twice = merge(&[one(), input("copy.json", one().report)], "").expect_err("twice");
    let words = twice.to_string();
    assert!(words.contains("1.json and copy.json hold the same run"), "{words}");

    let all = merge(&[one(), two()], "").expect("they go together");
    let again = merge(&[input("all.json", all), two()], "").expect_err("twice");
    assert!(again.to_string().contains("all.json and 2.json"), "{again}");
}

#[test]
fn missing_shards_are_named_and_make_the_report_partial() {
    let shard = |number: u32, index: usize| {
        let mut report = run(number, vec![throughput("lock", index, &[1.0])]);
        report.settings.shard = Some(Shard { index, of: 3 });
        input(&format!("{index}.json"), report)
    };
    let two = merge(&[shard(1, 1), shard(2, 3)], "").expect("they go together");
    let warning = two.warnings.iter().find(|warning| warning.code == "shards").expect("a warning");
    assert!(two.partial && warning.message.contains("2/3"), "{warning:?}");
    // The rest can come later.
    let all = merge(&[input("two.json", two.clone()), shard(3, 2)], "").expect("together");
    assert!(all.runs.len() == 3 && all.settings.shard.is_none());
    let whole = merge(&[shard(1, 1), shard(2, 3), shard(3, 2)], "").expect("together");
    assert!(!whole.partial && whole.warnings.is_empty(), "{:?}", whole.warnings);
    assert_eq!((all.partial, all.warnings.len()), (false, 0), "{:?}", all.warnings);
}

#[test]
fn other_machines_are_refused_by_what_differs() {
    let on = |number: u32, kernel: &str| {
        let mut report = run(number, vec![throughput("lock", 8, &[f64::from(number)])]);
        report.machine.kernel = kernel.to_owned();
        input(&format!("{number}.json"), report)
    };
    let inputs = [on(1, "Linux 6.1"), on(2, "Linux 6.8"), on(3, "Linux 6.1")];
    let refused = merge(&inputs, "").expect_err("two machines").to_string();
    for word in ["1.json", "2.json", "kernel `Linux 6.1` and `Linux 6.8`"] {
        assert!(refused.contains(word), "{word}: {refused}");
    }
}

#[test]
fn runs_on_one_core_and_on_two_are_warned_of_and_tell_which() {
    let with = |number: u32, before| {
        let mut report = run(number, vec![throughput("lock", 8, &[f64::from(number)])]);
        report.machine.pure_work = Some(PureWork { before, after: Some(before) });
        input(&format!("{number}.json"), report)
    };
    let codes = |merged: &Report| -> Vec<String> {
        merged.warnings.iter().map(|warning| warning.code.clone()).collect()
    };
    let alike = merge(&[with(1, 1.97), with(2, 1.94)], "").expect("they go together");
    assert_eq!(codes(&alike), [""; 0]);
    let others = merge(&[input("alike.json", alike), with(3, 0.99)], "").expect("together");
    assert_eq!(codes(&others), ["cores"]);
    assert!(others.warnings[0].message.contains("two cores, one core shared"));
    let before: Vec<_> = others.runs.iter().filter_map(|run| Some(run.pure_work?.before)).collect();
    assert_eq!(before, [1.97, 1.94, 0.99]);
}

#[test]
fn samples_that_are_not_of_a_kind_are_refused() {
    let one = || input("1.json", run(1, vec![throughput("lock", 8, &[1.0])]));
    let mut longer = throughput("lock", 8, &[1.0]);
    longer.round_milliseconds = Some(200.0);
    let mut other_unit = throughput("lock", 8, &[1.0]);
    other_unit.metrics[0].unit = "1/s".into();
    let mut pinned = run(2, vec![throughput("lock", 8, &[1.0])]);
    pinned.settings.pinning = "each".into();
    for (other, words) in [
        (run(2, vec![longer]), "`100 ms` and `200 ms`"),
        (run(2, vec![other_unit]), "1/s"),
        (pinned, "different pinning"),
    ] {
        let refused = merge(&[one(), input("2.json", other)], "").expect_err("not of a kind");
        let refused = refused.to_string();
        assert!(refused.contains(words) && refused.contains("2.json"), "{words}: {refused}");
    }
}

#[test]
fn cpu_time_of_runs_adds_up_if_all_tell_it() {
    let taking = |number, host_seconds| {
        let cpu_time =
            CpuTime { own_seconds: 1.0, others_seconds: 2.0, host_seconds, idle_seconds: 4.0 };
        let report = run(number, vec![throughput("lock", 8, &[1.0])]);
        input("run.json", Report { cpu_time: Some(cpu_time), ..report })
    };
    let merged =
        |inputs: &[Input]| merge(inputs, "ondeck merge").expect("they go together").cpu_time;
    let both = merged(&[taking(1, 0.5), taking(2, 0.25)]);
    assert_eq!(
        both,
        Some(CpuTime {
            own_seconds: 2.0,
            others_seconds: 4.0,
            host_seconds: 0.75,
            idle_seconds: 8.0
        })
    );
    let silent = input("old.json", run(3, vec![throughput("lock", 8, &[1.0])]));
    assert_eq!(merged(&[taking(1, 0.5), silent]), None);
}
