//! What is made of reports stays as it is, to the byte: tables, pages, comparisons, advice and traces
//! of recorded reports and of one that has every workload, and what is planned.
//!
//! After an intended change write the files anew with `ONDECK_GOLDEN=write cargo test -p ondeck-lab
//! --test golden`, and look at what else changed.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ondeck::platform::{Linux, Platform};
use ondeck_lab::advise::{self, Company, Evidence, Language, Need, Rules, UseCase, advise};
use ondeck_lab::alone::Helper;
use ondeck_lab::compare::{By, Choice, Input, compare};
use ondeck_lab::environment::{Placement, Policy};
use ondeck_lab::plan::{self, Extent, Request, Stage};
use ondeck_lab::report::{comparison, csv, html, json, jsonl, markdown, read, table};
use ondeck_lab::results::{Baseline, Better, Metric, Report, Series};
use ondeck_lab::trace::document::{Document, LockTrace, SCHEMA, Settings, Tally};
use ondeck_lab::trace::{Account, perfetto, text};
use ondeck_lab::workload::{Notify, Subject, WORKLOADS};
use sha2::{Digest, Sha256};

const WRITE: &str = "ONDECK_GOLDEN";

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Fails unless the file says the same, or writes it.
fn assert_golden(name: &str, found: &str) {
    let path = data(name);
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, found).expect("the folder is there");
        return;
    }
    let expected = fs::read_to_string(&path).expect("a golden file");
    for (expected, found) in expected.lines().zip(found.lines()) {
        assert_eq!(expected, found, "{name} says otherwise");
    }
    assert_eq!(expected.lines().count(), found.lines().count(), "{name} has other lines");
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(8).fold(String::new(), |mut word, byte| {
        // Writing to a string does not fail.
        _ = write!(word, "{byte:02x}");
        word
    })
}

/// The recorded reports. One that was recorded anew says nothing until its lines are written anew.
fn recorded() -> Vec<(String, Report)> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let mut paths = vec![data("sample-report.json")];
    for folder in [docs.join("findings"), docs] {
        let files = fs::read_dir(folder).expect("the folder is there");
        let files = files.map(|file| file.expect("a file").path());
        paths.extend(files.filter(|path| path.extension().is_some_and(|end| end == "json")));
    }
    paths.sort();
    let report = |path: PathBuf| {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a report");
        (format!("{name} {}", digest(&text)), read::file(&path).expect("a report"))
    };
    paths.into_iter().map(report).collect()
}

/// Every format of a report, by its name.
fn formats(report: &Report) -> Vec<(&'static str, String)> {
    vec![
        ("table", table::render(report, false)),
        ("colour", table::render(report, true)),
        ("locks", table::locks(&report.locks, false)),
        ("baselines", table::baselines(&report.baselines, false)),
        ("costs", table::costs(&report.costs, false)),
        ("markdown", markdown::render(report)),
        ("html", html::render(report)),
        ("csv", csv::render(report).expect("memory")),
        ("jsonl", jsonl::render(report).expect("memory")),
        ("json", json::render(report)),
    ]
}

fn compared(report: &Report) -> Option<(String, String, String)> {
    let base = report.series.iter().find(|series| series.lock != "none")?.lock.clone();
    let choice = Choice { locks: None, workloads: None, threads: None, metrics: None, alpha: 0.05 };
    let inputs = [Input { name: "a.json".to_owned(), report: report.clone() }];
    let comparison = compare(&inputs, &By::Lock { base }, &choice).ok()?;
    let mut text = comparison::render(&comparison, false);
    text.extend(comparison.notes.iter().map(|note| format!("{note}\n")));
    text.extend(comparison.worse_by_more_than(0.1).iter().map(|worse| format!("{worse}\n")));
    let csv = comparison::csv(&comparison).expect("memory");
    Some((text, csv, comparison::json(&comparison)))
}

/// A trace made of the timelines that a report has.
fn traced(report: &Report) -> Document {
    let locks = report.idle_timelines.iter().map(|one| LockTrace {
        lock: one.lock.clone(),
        runs: one.runs,
        nanos: 123_456_789,
        pairs: 98_765,
        account: Account::default(),
        idles: Tally {
            count: 7,
            nanos: 1_234_567,
            short_count: 3,
            short_nanos: 999,
            ..Tally::default()
        },
        longest_idles: vec![one.episode.clone()],
        clips: vec![one.clip.clone()],
        ..LockTrace::default()
    });
    Document {
        schema: SCHEMA,
        kind: "ondeck trace".to_owned(),
        started: report.started.clone(),
        partial: true,
        build: report.build.clone(),
        machine: report.machine.clone(),
        settings: Settings { threads: 16, pairs: 100, least_nanos: 10_000, ..Settings::default() },
        sight: report.idle_timelines[0].sight,
        refused: Vec::new(),
        warnings: Vec::new(),
        stamp_nanos: 41.3,
        failures: Vec::new(),
        locks: locks.collect(),
    }
}

fn situations() -> Vec<UseCase> {
    let plain = UseCase {
        threads: 8,
        cpus: 2,
        section_ns: 100,
        outside_ns: 500,
        fairness: Need::None,
        realtime: false,
        bytes: None,
        company: Company::None,
        condvar: false,
        language: Language::Rust,
        freed: false,
        specimens: true,
        measured_cpus: 2,
        virtual_machine: true,
    };
    vec![
        UseCase { threads: 1, section_ns: 0, outside_ns: 0, ..plain.clone() },
        UseCase { threads: 4, section_ns: 0, outside_ns: 0, ..plain.clone() },
        UseCase { fairness: Need::Some, company: Company::Busy, ..plain.clone() },
        UseCase { fairness: Need::Bound(Duration::from_millis(10)), ..plain.clone() },
        UseCase { bytes: Some(8), condvar: true, language: Language::C, ..plain.clone() },
        UseCase { realtime: true, freed: true, specimens: false, ..plain },
    ]
}

#[test]
fn every_format_of_a_recorded_report_is_as_it_was() {
    let mut lines = String::new();
    let mut add = |name: &str, format: &str, text: &str| {
        _ = writeln!(lines, "{name} {format} {}", digest(text));
    };
    let subjects: Vec<Subject> = Subject::all();
    // Not what depends on how this was built.
    let subjects: Vec<Subject> = subjects
        .into_iter()
        .filter(|subject| {
            ["ondeck", "std", "glibc", "spinlock", "mcs"].contains(&subject.info.name)
        })
        .collect();
    let rules = Rules::built_in();
    let mut all = recorded();
    all.push(("everything -".to_owned(), everything()));
    for (name, report) in &all {
        for (format, text) in formats(report) {
            add(name, format, &text);
        }
        if let Some((text, csv, json)) = compared(report) {
            add(name, "compare", &text);
            add(name, "compare-csv", &csv);
            add(name, "compare-json", &json);
        }
        if !report.idle_timelines.is_empty() {
            let document = traced(report);
            add(name, "trace", &text::render(&document));
            add(name, "trace-html", &html::trace::render(&document));
            add(name, "trace-perfetto", &perfetto::render(&document));
        }
        for (index, situation) in situations().iter().enumerate() {
            let evidence = Evidence { by: "a report", report };
            let evidence = advise::speaks_of(report, situation, &subjects).then_some(evidence);
            let advice = advise(&rules, situation, &subjects, evidence);
            add(name, &format!("advice-{index}"), &advice.text());
            add(name, &format!("advice-json-{index}"), &advice.json());
        }
    }
    let path = data("golden.txt");
    let known = fs::read_to_string(&path).unwrap_or_default();
    if std::env::var_os(WRITE).is_some() {
        fs::write(&path, lines).expect("the folder is there");
        return;
    }
    let key = |line: &str| line.rsplit_once(' ').map(|(key, _)| key.to_owned());
    let known: BTreeMap<_, _> = known.lines().map(|line| (key(line), line)).collect();
    let mut same = 0;
    for line in lines.lines() {
        let Some(expected) = known.get(&key(line)) else {
            let is_recorded = !line.starts_with("everything") && !line.starts_with("sample");
            assert!(is_recorded, "no golden line for {line}");
            continue;
        };
        assert_eq!(*expected, line);
        same += 1;
    }
    assert!(same > 50, "{same} lines are in {}", path.display());
}

/// In full, so that a difference can be read.
#[test]
fn the_terminal_and_the_summary_show_every_workload_as_they_did() {
    let report = everything();
    assert_golden("golden-table.txt", &table::render(&report, false));
    assert_golden("golden.md", &markdown::render(&report));
}

/// Numbers of threads and lengths depend on the CPUs.
#[test]
fn the_same_is_planned_on_two_cpus() {
    if Linux::cpus() != 2 {
        eprintln!("not compared: the plan was written on 2 CPUs");
        return;
    }
    let mut text = String::new();
    let subjects = Subject::all();
    for (name, request) in requests() {
        let stages = plan::stages(&request, &subjects);
        for stage in plan::baselines(&stages, request.extent).iter().chain(&stages) {
            _ = writeln!(text, "{name}: {}", words(stage));
        }
    }
    assert_golden("golden-plan.txt", &text);
}

fn requests() -> Vec<(&'static str, Request)> {
    let base = Request {
        extent: Extent::Suite,
        locks: None,
        workloads: WORKLOADS.to_vec(),
        threads: None,
        round: None,
        rounds: None,
        work: None,
        capacities: None,
        notify: None,
        placements: vec![Placement::default()],
        stall_limit: Duration::from_secs(10),
        helper: Some(Helper { program: "ondeck".into(), arguments: Vec::new() }),
        seed: 1,
        cancel: Arc::default(),
    };
    let batch = Placement { policy: Policy::Batch, ..Placement::default() };
    let asked = Request {
        extent: Extent::Quick,
        locks: Some(Subject::all().into_iter().take(9).collect()),
        threads: Some(vec![1, 2, 40]),
        round: Some(Duration::from_millis(7)),
        rounds: Some(4),
        work: Some((30, 70)),
        capacities: Some(vec![3]),
        notify: Some(vec![Notify::After]),
        placements: vec![Placement::default(), batch],
        helper: None,
        ..base.clone()
    };
    vec![
        ("quick", Request { extent: Extent::Quick, ..base.clone() }),
        ("suite", base.clone()),
        ("full", Request { extent: Extent::Full, ..base }),
        ("asked", asked),
    ]
}

/// What a stage is in reports, and how it is measured.
fn words(stage: &Stage) -> String {
    // Locks of C++ are in some builds only.
    let missing = ["abseil", "nsync", "tbb", "ck_mcs"];
    let names = stage.subjects.iter().map(|subject| subject.info.name);
    let names: Vec<&str> = names.filter(|name| !missing.contains(name)).collect();
    let names = format!("{} locks {}", names.len(), digest(&names.join(" ")));
    let params: Vec<String> = (0..stage.conditions.len())
        .map(|condition| format!("{:?}", stage.params_under(condition)))
        .collect();
    format!(
        "{} {} threads, {names}, {}, turn {:?} x {}, most {}, longest {:?}, work {:?}, alone {}, \
         baseline {}",
        stage.workload.name,
        stage.threads,
        params.join(" "),
        stage.turn,
        stage.turns,
        stage.counted.map_or(usize::MAX, |counted| counted.most),
        stage.counted.and_then(|counted| counted.longest).unwrap_or(Duration::MAX),
        stage.work,
        stage.alone,
        stage.baseline
    )
}

/// A report that has every workload, in some of its situations, with figures that look measured.
fn everything() -> Report {
    let mut report: Report =
        read::file(&data("sample-report.json")).expect("the sample is a report");
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
    ("oversubscribed", &[8, 16, 32], &[("section_ns", "0"), ("outside_ns", "0")]),
    ("condvar", &[2, 9], &[]),
    ("condvar", &[2, 9], &[("notify", "after")]),
    ("producer_consumer", &[2, 16], &[("capacity", "1")]),
    ("producer_consumer", &[16], &[("capacity", "8"), ("notify", "after")]),
    ("recovery", &[4], &[("capacity", "8")]),
    ("recovery", &[4], &[("capacity", "8"), ("notify", "after")]),
    ("chan", &[1, 2, 8, 16, 32, 64], &[]),
    ("bystander", &[4], &[("section_ns", "0"), ("outside_ns", "0")]),
    ("background", &[5], &[("section_ns", "1000"), ("outside_ns", "0"), ("priority", "idle")]),
    ("background", &[5], &[("section_ns", "1000"), ("outside_ns", "0"), ("priority", "nice")]),
    (
        "many_locks",
        &[4],
        &[("section_ns", "0"), ("outside_ns", "0"), ("locks", "16"), ("padded", "no")],
    ),
    (
        "many_locks",
        &[4],
        &[("section_ns", "0"), ("outside_ns", "0"), ("locks", "512"), ("padded", "yes")],
    ),
    ("mixed_priority", &[3], &[]),
    ("real", &[4], &[("app", "lru")]),
    ("real", &[4, 8], &[("app", "allocator")]),
    ("from_another_program", &[2, 4], &[("width_us", "3")]),
];

fn params_of(params: Params) -> BTreeMap<String, String> {
    params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Name, unit, direction, and about how much.
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

/// What a workload reports besides.
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
        "condvar" => &[("server_loops", "ops/s", Better::Neither, 91_000.0)],
        "producer_consumer" => &[("waits", "1/op", Better::Lower, 0.7)],
        "recovery" => &[
            ("fresh", "ops/s", Better::Higher, 4.1e6),
            ("recovered", "ratio", Better::Higher, 0.97),
            ("waits", "1/op", Better::Lower, 0.7),
        ],
        "chan" => &[("op", "ns", Better::Lower, 140.0)],
        "bystander" => &[("slowdown", "ratio", Better::Lower, 2.9)],
        "background" => &[
            ("filled", "ratio", Better::Higher, 0.41),
            ("longest", "ms", Better::Lower, 17.0),
            ("longest_alone", "ms", Better::Lower, 8.0),
            ("kept", "ratio", Better::Higher, 0.8),
        ],
        "many_locks" => &[("footprint", "bytes", Better::Neither, 65_536.0)],
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
            unit: unit.to_owned(),
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
    let distribution =
        (counted || workload == "handoff").then(|| ondeck_lab::results::Distribution {
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
