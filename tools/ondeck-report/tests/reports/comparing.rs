//! The statements of a comparison.

use ondeck_lab::results::{Better, CpuTime, Failure, Series};
use ondeck_report::compare::{By, Choice, compare};
use ondeck_report::comparison;

use crate::support::{everything, input, metric, of_files, report, throughput};

/// Ten rounds around a centre, half a percent apart.
fn around(centre: f64) -> Vec<f64> {
    (0..10).map(|step| centre * (1.0 + f64::from(step) * 0.005)).collect()
}

#[test]
fn a_table_has_medians_ratio_interval_and_a_geometric_mean() {
    let comparison = of_files(
        vec![throughput("fast", 8, &around(8e6)), throughput("slow", 8, &around(1e6))],
        vec![throughput("fast", 8, &around(4e6)), throughput("slow", 8, &around(1e6))],
    );
    let text = comparison::render(&comparison, false);
    assert!(
        text.contains("throughput, section_ns=0: throughput in ops/s, higher is better"),
        "{text}"
    );
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_default();
    for word in ["8.18M", "4.09M", "0.500", "<.001"] {
        assert!(line("fast").contains(word), "{word}: {text}");
    }
    assert!(line("slow").contains('~') && line("slow").contains("1.000"), "{text}");
    // The square root of a half.
    assert!(line("geometric mean").contains("0.707"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn the_widest_rows_fit_80_columns() {
    let name = "lockless_four_state";
    let wild: Vec<f64> = (0..10).map(|step| 1e5 * f64::from(step + 1).powi(9)).collect();
    let base = vec![throughput(name, 128, &wild), throughput("cut", 128, &wild)];
    let other = vec![throughput(name, 128, &around(1e3)), throughput("cut", 128, &around(1e3))];
    let text = comparison::render(&of_files(base, other), false);
    assert!(text.contains("±>99%") && text.contains(", n=10\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn series_are_matched_by_workload_lock_threads_and_parameters() {
    let other = |threads, section: &str| Series {
        params: [("section_ns".to_owned(), section.to_owned())].into(),
        ..throughput("lock", threads, &around(2.0))
    };
    let comparison = of_files(
        vec![throughput("lock", 8, &around(1.0)), throughput("lock", 2, &around(1.0))],
        vec![other(8, "0"), other(8, "100"), other(4, "0")],
    );
    let rows: usize = comparison.tables.iter().map(|table| table.rows.len()).sum();
    assert_eq!(rows, 1);
    let lone: Vec<_> = comparison
        .lone
        .iter()
        .map(|lone| (lone.file.as_str(), lone.threads, lone.params["section_ns"].as_str()))
        .collect();
    assert_eq!(lone, [("a.json", 2, "0"), ("b.json", 8, "100"), ("b.json", 4, "0")]);
}

#[test]
fn locks_of_one_report_are_compared_with_a_base() {
    let series = vec![
        throughput("none", 8, &around(9.0)),
        throughput("glibc", 8, &around(2.0)),
        throughput("ondeck", 8, &around(3.0)),
        throughput("std", 2, &around(3.0)),
    ];
    let inputs = [input("a.json", report(series))];
    let by = |base: &str| By::Lock { base: base.to_owned() };
    let comparison = compare(&inputs, &by("glibc"), &everything()).expect("two locks");
    let rows = &comparison.tables[0].rows;
    assert_eq!(rows.iter().map(|row| row.lock.as_str()).collect::<Vec<_>>(), ["ondeck"]);
    assert!(rows[0].ratio.is_some_and(|ratio| (ratio - 1.5).abs() < 0.01), "{rows:?}");
    let unknown = compare(&inputs, &by("glib"), &everything()).expect_err("no such lock");
    let words = unknown.to_string();
    assert!(words.contains("`glib` in the reports; there is glibc,"), "{words}");
}

#[test]
fn what_is_worse_depends_on_the_metric_s_direction() {
    let with = |throughput_: f64, cpu: f64, neither: f64| {
        let mut series = throughput("lock", 8, &around(throughput_));
        series.metrics[1] = metric("cpu_per_op", "ns", Better::Lower, &around(cpu));
        series.metrics.push(metric("running", "threads", Better::Neither, &around(neither)));
        series
    };
    let all = Choice { metrics: Some(vec!["all".to_owned()]), ..everything() };
    let worse = |other: Series, above: f64| {
        let inputs = [
            input("a.json", report(vec![with(1.0, 1.0, 1.0)])),
            input("b.json", report(vec![other])),
        ];
        compare(&inputs, &By::File, &all).expect("in common").worse_by_more_than(above)
    };
    assert_eq!(worse(with(1.1, 0.9, 2.0), 0.05), Vec::<String>::new());
    let found = worse(with(0.9, 1.1, 0.5), 0.05);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("lock") && found[0].contains("throughput is worse by 10.0 %"));
    assert!(found[1].contains("cpu_per_op is worse by 10.0 %"));
    assert_eq!(worse(with(0.9, 1.1, 0.5), 0.15), Vec::<String>::new());
}

#[test]
fn from_nothing_to_something_is_worse_by_any_percentage() {
    let with = |gap: f64| {
        let mut series = throughput("lock", 8, &around(1.0));
        series.metrics = vec![metric("starved_windows", "ratio", Better::Lower, &[gap; 10])];
        series
    };
    let comparison = of_files(vec![with(0.0)], vec![with(0.3)]);
    let row = &comparison.tables[0].rows[0];
    assert!(row.differs && row.ratio == Some(f64::INFINITY), "{row:?}");
    assert!(comparison.tables[0].geomean.is_none());
    assert!(comparison::render(&comparison, false).contains('∞'));
    assert_eq!(comparison.worse_by_more_than(10.0).len(), 1);
    assert!(of_files(vec![with(0.3)], vec![with(0.0)]).worse_by_more_than(0.0).is_empty());
}

#[test]
fn a_lock_that_hangs_now_is_worse() {
    let both = || vec![throughput("good", 8, &around(1.0)), throughput("bad", 8, &around(1.0))];
    let mut after = report(vec![throughput("good", 8, &around(1.0))]);
    after.failures.push(Failure {
        workload: "handoff".to_owned(),
        lock: "bad".to_owned(),
        threads: 2,
        kind: "deadlock".into(),
        message: String::new(),
        thread_states: vec![],
    });
    let inputs = [input("a.json", report(both())), input("b.json", after)];
    let comparison = compare(&inputs, &By::File, &everything()).expect("in common");
    let worse = comparison.worse_by_more_than(0.05);
    assert_eq!(worse.len(), 1, "{worse:?}");
    assert!(worse[0].contains("bad") && worse[0].contains("deadlock in b.json"), "{worse:?}");
}

#[test]
fn nothing_is_said_of_runs_that_were_cut_or_are_too_few() {
    let cut = Series { cut_runs: 1, ..throughput("cut", 8, &around(9.0)) };
    let few = |centre: f64| throughput("few", 8, &around(centre)[..3]);
    let comparison =
        of_files(vec![cut, few(9.0)], vec![throughput("cut", 8, &around(1.0)), few(1.0)]);
    assert!(comparison.tables[0].rows.iter().all(|row| !row.differs), "{comparison:?}");
    assert!(comparison.worse_by_more_than(0.0).is_empty());
    let notes = comparison.notes.join("\n");
    assert!(notes.contains("--rounds 4") && notes.contains("lower bounds"), "{notes}");
    assert!(comparison::render(&comparison, false).contains(">9.20"));
}

#[test]
fn what_differs_besides_the_numbers_is_noted() {
    let other = Series { round_milliseconds: Some(7.0), ..throughput("lock", 8, &around(1.0)) };
    let mut other = report(vec![other]);
    other.settings.policy = "rr".into();
    other.cpu_time = Some(CpuTime {
        own_seconds: 5.0,
        others_seconds: 0.0,
        host_seconds: 3.0,
        idle_seconds: 2.0,
    });
    let inputs = [
        input("a.json", report(vec![throughput("lock", 8, &around(1.0))])),
        input("b.json", other),
    ];
    let notes = compare(&inputs, &By::File, &everything()).expect("in common").notes.join("\n");
    assert!(notes.contains("rounds of different lengths"), "{notes}");
    assert!(notes.contains("policy other, b.json with rr"), "{notes}");
    assert!(notes.contains("b.json: the host took 38 %"), "{notes}");
    assert!(!notes.contains("other programs"), "{notes}");
}

#[test]
fn without_metrics_the_one_that_the_workload_is_judged_by_is_compared() {
    let names = |choice: &Choice| -> Vec<String> {
        let new = || Series { workload: "new".to_owned(), ..throughput("lock", 8, &around(1.0)) };
        let series = || vec![throughput("lock", 8, &around(1.0)), new()];
        let inputs = [input("a.json", report(series())), input("b.json", report(series()))];
        let comparison = compare(&inputs, &By::File, choice).expect("in common");
        comparison.tables.into_iter().map(|table| table.metric).collect()
    };
    assert_eq!(names(&everything()), ["throughput", "throughput"]);
    let cpu = Choice {
        metrics: Some(vec!["cpu*".to_owned()]),
        workloads: Some(vec!["new".to_owned()]),
        ..everything()
    };
    assert_eq!(names(&cpu), ["cpu_per_op"]);
}

#[test]
fn names_that_are_in_no_report_are_refused_with_those_that_are() {
    let series = || vec![throughput("parking_lot", 8, &around(1.0))];
    let inputs = [input("a.json", report(series())), input("b.json", report(series()))];
    let words = |word: &str| Some(vec![word.to_owned()]);
    for (choice, there) in [
        (Choice { locks: words("parkinglot"), ..everything() }, "parking_lot"),
        (Choice { workloads: words("wait"), ..everything() }, "throughput"),
        (Choice { metrics: words("pair"), ..everything() }, "cpu_per_op"),
        (Choice { threads: Some(vec![9]), ..everything() }, "8"),
    ] {
        let refused = compare(&inputs, &By::File, &choice).expect_err("unknown").to_string();
        assert!(refused.contains(there), "{refused}");
    }
    let other = input("c.json", report(vec![throughput("std", 8, &around(1.0))]));
    let refused = compare(&[inputs[0].clone(), other], &By::File, &everything());
    let refused = refused.expect_err("nothing in common").to_string();
    assert!(refused.starts_with("the reports share none of the chosen series"), "{refused}");
}

#[test]
fn json_says_what_the_table_says() {
    let comparison = of_files(
        vec![throughput("lock", 8, &around(2.0)), throughput("few", 8, &[1.0, 2.0])],
        vec![throughput("lock", 8, &around(1.0)), throughput("few", 8, &[1.0, -1.0])],
    );
    let json = serde_json::to_value(&comparison).expect("JSON");
    assert_eq!(json["schema"], 1);
    assert_eq!(json["tables"][0]["rows"][0]["differs"], true);
    assert!(json["tables"][0]["rows"][1]["ratio"].is_null());
}
