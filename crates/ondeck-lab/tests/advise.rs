//! Advice: each rule where it holds and where it does not, every lock in its place, and what an
//! answer says of what was measured.

use std::collections::BTreeMap;
use std::time::Duration;

use ondeck_lab::advise::rules::Effect;
use ondeck_lab::advise::{
    Advice, Company, Evidence, Language, Need, Rules, UseCase, advise, candidates,
};
use ondeck_lab::results::{
    Better, Build, Evidence as Origin, Failure, Machine, Metric, Report, SCHEMA_VERSION, Series,
    Settings,
};
use ondeck_lab::workload::Subject;

/// 8 threads on 8 CPUs, no needs, and every kind of lock is welcome.
fn plain() -> UseCase {
    UseCase {
        threads: 8,
        cpus: 8,
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
        measured_cpus: 8,
        virtual_machine: false,
    }
}

/// Samples of a metric, around a middle and apart by a hundredth of it.
fn metric(name: &str, middle: f64) -> Metric {
    let samples: Vec<f64> = (0..10).map(|step| middle * (0.955 + 0.01 * f64::from(step))).collect();
    Metric {
        name: name.to_owned(),
        unit: if name == "throughput" { "ops/s" } else { "ns" }.to_owned(),
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
fn series(workload: &str, situation: &UseCase, lock: &str, metrics: &[(&str, f64)]) -> Series {
    let params = [("section_ns", situation.section_ns), ("outside_ns", situation.outside_ns)];
    Series {
        workload: workload.to_owned(),
        lock: lock.to_owned(),
        threads: situation.threads,
        params: params.map(|(name, nanos)| (name.to_owned(), nanos.to_string())).into(),
        partial: false,
        cut_runs: 0,
        round_milliseconds: Some(100.0),
        metrics: metrics.iter().map(|&(name, middle)| metric(name, middle)).collect(),
        distribution: None,
    }
}

fn report(series: Vec<Series>) -> Report {
    Report {
        schema: SCHEMA_VERSION,
        evidence: Origin::Measured,
        started: String::new(),
        seconds: 1.0,
        partial: false,
        machine: Machine::default(),
        build: Build::default(),
        settings: Settings::default(),
        warnings: Vec::new(),
        failures: Vec::new(),
        locks: Vec::new(),
        series,
        costs: Vec::new(),
        runs: Vec::new(),
        baselines: Vec::new(),
        cpu_time: None,
        idle_timelines: Vec::new(),
    }
}

fn advised(situation: &UseCase, report: Option<&Report>) -> Advice {
    let evidence = report.map(|report| Evidence { by: "this run", report });
    advise(&Rules::built_in(), situation, &Subject::all(), evidence)
}

/// The rules that an answer names with a lock; for no lock those of the situation.
fn fired(advice: &Advice, lock: Option<&str>) -> Vec<(String, Effect)> {
    let Some(lock) = lock else {
        return advice.warnings.iter().map(|said| (said.rule.clone(), said.effect)).collect();
    };
    let ranked = advice.ranking.iter().filter(|choice| choice.lock == lock);
    let reasons = ranked.flat_map(|choice| &choice.reasons);
    let out = advice.excluded.iter().filter(|out| out.locks.iter().any(|name| name == lock));
    reasons.chain(out.map(|out| &out.rule)).map(|said| (said.rule.clone(), said.effect)).collect()
}

/// A rule, the lock that it is about, where it holds, and where it does not for the same lock. A
/// lock that it never holds for is the last.
type Case = (&'static str, Option<&'static str>, UseCase, UseCase, &'static str);

fn cases() -> Vec<Case> {
    let with = |change: &dyn Fn(&mut UseCase)| {
        let mut situation = plain();
        change(&mut situation);
        situation
    };
    let crowded = || with(&|it| it.threads = 16);
    let bound = || Need::Bound(Duration::from_millis(10));
    let rust = |specimens: bool| with(&|it| it.specimens = specimens);
    let language = |language: Language| with(&|it| it.language = language);
    vec![
        ("freed-after-unlock", Some("parking_lot"), with(&|it| it.freed = true), plain(), "std"),
        ("realtime-inversion", Some("std"), with(&|it| it.realtime = true), plain(), "glibc_pi"),
        ("realtime-livelock", Some("spin"), with(&|it| it.realtime = true), plain(), "glibc_pi"),
        ("order-of-arrival", Some("std"), with(&|it| it.fairness = Need::Strict), plain(), "mcs"),
        (
            "over-budget",
            Some("glibc"),
            with(&|it| it.bytes = Some(8)),
            with(&|it| it.bytes = Some(40)),
            "std",
        ),
        ("waited-too-long", Some("std"), with(&|it| it.fairness = bound()), plain(), "ondeck"),
        ("starves", Some("std"), with(&|it| it.fairness = Need::Some), plain(), "ondeck"),
        ("no-condvar", Some("spin"), with(&|it| it.condvar = true), plain(), "std"),
        ("queue-oversubscribed", Some("mcs"), crowded(), plain(), "std"),
        ("spinner-oversubscribed", Some("spin"), crowded(), plain(), "std"),
        ("yielder-oversubscribed", Some("spinlock"), crowded(), plain(), "std"),
        // With so few threads there is a CPU for everybody.
        (
            "spinner-in-company",
            Some("spin"),
            with(&|it| (it.threads, it.company) = (2, Company::Some)),
            with(&|it| it.threads = 2),
            "std",
        ),
        (
            "yielder-in-company",
            Some("spinlock"),
            with(&|it| it.company = Company::Some),
            plain(),
            "std",
        ),
        ("burns-company", Some("std"), with(&|it| it.company = Company::Some), plain(), "ondeck"),
        (
            "spins-through-a-long-section",
            Some("spin"),
            with(&|it| it.section_ns = 20_001),
            with(&|it| it.section_ns = 20_000),
            "std",
        ),
        ("convoy", Some("glibc_pi"), plain(), with(&|it| it.outside_ns = 1_000_000), "std"),
        ("all-awake", Some("std"), with(&|it| (it.threads, it.cpus) = (16, 16)), plain(), "ondeck"),
        ("one-awake", Some("ondeck"), with(&|it| (it.threads, it.cpus) = (16, 16)), plain(), "std"),
        ("bounded", Some("ondeck"), with(&|it| it.fairness = Need::Some), plain(), "std"),
        ("no-promise", Some("parking_lot"), with(&|it| it.fairness = bound()), plain(), "ondeck"),
        ("one-instruction", Some("spin"), with(&|it| it.outside_ns = 100_000), plain(), "std"),
        ("single-threaded", Some("glibc"), with(&|it| it.threads = 1), plain(), "std"),
        (
            "small",
            Some("std"),
            with(&|it| it.bytes = Some(64)),
            with(&|it| it.bytes = Some(65)),
            "glibc",
        ),
        ("generic-condvar", Some("mcs"), with(&|it| it.condvar = true), plain(), "std"),
        ("lost-signal", Some("glibc"), with(&|it| it.condvar = true), plain(), "std"),
        ("needs-source", Some("std"), language(Language::Binary), plain(), "glibc"),
        ("not-for-c", Some("std"), language(Language::C), plain(), "glibc"),
        ("not-for-c++", Some("std"), language(Language::Cpp), plain(), "glibc"),
        ("unsafe-in-rust", Some("glibc"), plain(), language(Language::C), "std"),
        ("recursive", Some("glibc_recursive"), plain(), plain(), "glibc"),
        ("specimen", Some("go_spinbit"), rust(false), plain(), "std"),
        ("another-machine", None, with(&|it| it.measured_cpus = 2), plain(), ""),
        ("virtual-machine", None, with(&|it| it.virtual_machine = true), plain(), ""),
    ]
}

/// In which std waits for long, starves, and burns its CPU, and ondeck does not.
fn of_std_and_ondeck(situation: &UseCase) -> Report {
    let starve = |lock, gap, share| {
        series("starve", situation, lock, &[("longest_gap", gap), ("share", share)])
    };
    let through = |lock, cpu| {
        series("throughput", situation, lock, &[("throughput", 5e6), ("cpu_per_op", cpu)])
    };
    report(vec![
        starve("std", 30.0, 0.01),
        starve("ondeck", 5.0, 0.5),
        through("std", 900.0),
        through("ondeck", 300.0),
    ])
}

#[test]
fn each_rule_holds_where_it_should_and_nowhere_else() {
    for (rule, lock, there, elsewhere, other) in cases() {
        let names = |situation: &UseCase, lock| {
            let report = of_std_and_ondeck(situation);
            let advice = advised(situation, Some(&report));
            fired(&advice, lock).into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        let holds = |situation: &UseCase, lock| names(situation, lock).iter().any(|it| it == rule);
        assert!(
            holds(&there, lock),
            "{rule} does not hold for {lock:?}: {:?}",
            names(&there, lock)
        );
        if rule != "recursive" {
            assert!(!holds(&elsewhere, lock), "{rule} holds for {lock:?} elsewhere");
        }
        if !other.is_empty() {
            assert!(!holds(&there, Some(other)), "{rule} holds for {other}");
        }
    }
}

#[test]
fn no_rule_is_without_a_case() {
    // Of locks that need the C and C++ peers.
    const NOT_BUILT: &[&str] = if cfg!(feature = "peers-cpp") { &[] } else { &["not-for-rust"] };
    let tried: Vec<_> =
        cases().into_iter().map(|(rule, ..)| rule).chain(["not-for-rust"]).collect();
    for rule in &Rules::built_in().rule {
        assert!(tried.contains(&rule.name()), "{} is never tried", rule.name());
    }
    let rust = advised(&plain(), None);
    for peer in ["abseil", "nsync", "tbb", "ck_mcs"] {
        let expected = NOT_BUILT.is_empty();
        let out = fired(&rust, Some(peer)).iter().any(|(rule, _)| rule == "not-for-rust");
        assert_eq!(out, expected, "{peer}");
    }
}

/// The peers of C and C++ are not in every build: another lock under the name of one.
#[test]
fn a_lock_that_no_crate_offers_is_none_for_rust() {
    for peer in ["abseil", "nsync", "tbb", "ck_mcs"] {
        let mut locks = Subject::all();
        locks.retain(|lock| lock.info.name != peer);
        locks[0].info.name = peer;
        let out = |language: Language| {
            let situation = UseCase { language, ..plain() };
            let advice = advise(&Rules::built_in(), &situation, &locks, None);
            fired(&advice, Some(peer)).iter().any(|(rule, _)| rule == "not-for-rust")
        };
        assert!(out(Language::Rust), "{peer}");
        assert!(!out(Language::Cpp), "{peer}");
    }
}

/// Situations of every kind of need.
fn grid() -> Vec<UseCase> {
    let mut all = Vec::new();
    for threads in [1, 2, 8, 64] {
        for (fairness, company) in [
            (Need::None, Company::None),
            (Need::Some, Company::Some),
            (Need::Strict, Company::None),
            (Need::Bound(Duration::from_millis(1)), Company::Busy),
        ] {
            for language in [Language::Rust, Language::C, Language::Cpp, Language::Binary] {
                for bits in 0..16 {
                    let bit = |place: u32| bits & (1 << place) != 0;
                    all.push(UseCase {
                        threads,
                        fairness,
                        company,
                        language,
                        realtime: bit(0),
                        condvar: bit(1),
                        freed: bit(2),
                        specimens: bit(3),
                        bytes: bit(1).then_some(8),
                        ..plain()
                    });
                }
            }
        }
    }
    all
}

#[test]
fn every_lock_is_ranked_or_excluded_with_a_reason_and_a_source() {
    let subjects = Subject::all();
    let mut ranked_somewhere: BTreeMap<&str, bool> =
        subjects.iter().map(|subject| (subject.info.name, false)).collect();
    for situation in grid() {
        let advice = advise(&Rules::built_in(), &situation, &subjects, None);
        for (&name, somewhere) in &mut ranked_somewhere {
            let ranked = advice.ranking.iter().filter(|choice| choice.lock == name).count();
            let out: Vec<_> = advice
                .excluded
                .iter()
                .filter(|out| out.locks.iter().any(|it| it == name))
                .collect();
            assert_eq!(ranked + out.len(), 1, "{name} in {situation}");
            for out in out {
                assert!(!out.rule.reason.is_empty());
                assert!(advice.sources.contains_key(&out.rule.source), "{}", out.rule.source);
            }
            *somewhere |= ranked == 1;
        }
        assert!(advice.text().lines().all(|line| line.chars().count() <= 80));
    }
    for (name, somewhere) in ranked_somewhere {
        assert_eq!(somewhere, name != "glibc_recursive", "{name}");
    }
}

/// Throughput of some locks that programs written in Rust can use.
fn measured(situation: &UseCase, of: &[(&str, f64)]) -> Report {
    let one = |&(lock, middle): &(&str, f64)| {
        series("throughput", situation, lock, &[("throughput", middle)])
    };
    report(of.iter().map(one).collect())
}

fn usable() -> UseCase {
    UseCase { specimens: false, threads: 16, ..plain() }
}

#[test]
fn the_best_by_more_than_chance_is_the_answer_with_its_ratio() {
    let report = measured(
        &usable(),
        &[("std", 9e6), ("usync", 4e6), ("parking_lot", 5e6), ("ondeck", 5.1e6)],
    );
    let advice = advised(&usable(), Some(&report));
    assert!(advice.answer.known, "{:?}", advice.answer);
    assert_eq!(advice.answer.lock.as_deref(), Some("std"));
    let against = advice.ranking[0].against.clone().expect("a second");
    let (low, high) = against.interval.expect("enough rounds");
    assert!(low < against.ratio && against.ratio < high && low > 1.5, "{against:?}");
    let text = advice.text();
    assert!(text.contains("advice: std;") && text.contains("p<.001"), "{text}");
    assert!(!text.contains("4  "), "only three:\n{text}");
}

#[test]
fn noise_is_no_answer_and_the_smallest_is_named_for_what_it_is() {
    let report = measured(&usable(), &[("std", 5e6), ("parking_lot", 5.1e6), ("usync", 2e6)]);
    let advice = advised(&usable(), Some(&report));
    assert!(!advice.answer.known);
    assert_eq!(advice.answer.alike, ["parking_lot", "std"]);
    assert!(advice.answer.why.contains("no other takes less memory"), "{}", advice.answer.why);
    assert!(advice.text().contains("advice: not known, parking_lot or std;"), "{}", advice.text());
}

#[test]
fn three_rounds_are_too_few_to_know() {
    let mut report = measured(&usable(), &[("std", 9e6), ("parking_lot", 2e6)]);
    for metric in report.series.iter_mut().flat_map(|series| &mut series.metrics) {
        metric.samples.truncate(3);
    }
    let advice = advised(&usable(), Some(&report));
    assert!(!advice.answer.known, "{:?}", advice.answer);
}

#[test]
fn series_that_are_not_whole_do_not_count() {
    let mut report = measured(&usable(), &[("std", 9e6), ("parking_lot", 2e6), ("usync", 1e6)]);
    report.series[0].partial = true;
    let advice = advised(&usable(), Some(&report));
    assert_eq!(advice.answer.lock.as_deref(), Some("parking_lot"));
    let std = advice.ranking.iter().find(|choice| choice.lock == "std").expect("it is ranked");
    assert!(std.figures.is_empty());
}

#[test]
fn a_need_goes_before_speed() {
    let freed = UseCase { freed: true, ..usable() };
    let report = measured(&freed, &[("parking_lot", 9e6), ("std", 5e6), ("ondeck", 3e6)]);
    let advice = advised(&freed, Some(&report));
    assert_eq!(advice.answer.lock.as_deref(), Some("std"));
    let with_memory = advice.changes.iter().find(|change| change.with == "memory that stays");
    assert!(with_memory.is_some_and(|change| change.then.contains("parking_lot")));
}

#[test]
fn realtime_leaves_one_lock_and_needs_no_measurement() {
    let realtime = UseCase { realtime: true, ..usable() };
    assert_eq!(candidates(&Rules::built_in(), &realtime, &Subject::all()).len(), 1);
    let advice = advised(&realtime, None);
    assert_eq!((advice.answer.known, advice.answer.lock.as_deref()), (true, Some("glibc_pi")));
    assert!(advice.text().contains("[inheritance]"), "{}", advice.text());
}

#[test]
fn what_was_measured_beside_the_situation_tells_what_would_change() {
    let longer = UseCase { section_ns: 2_000, ..usable() };
    let fewer = UseCase { threads: 8, ..usable() };
    let mut report = measured(&usable(), &[("std", 9e6), ("parking_lot", 5e6)]);
    report.series.extend(measured(&longer, &[("std", 4e5), ("parking_lot", 4.01e5)]).series);
    report.series.extend(measured(&fewer, &[("std", 5e6), ("parking_lot", 9e6)]).series);
    let advice = advised(&usable(), Some(&report));
    let then = |with: &str| {
        let found = advice.changes.iter().find(|change| change.measured && change.with == with);
        found.map_or("", |change| &change.then)
    };
    assert_eq!(then("sections of 2.0µs, 500ns outside"), "parking_lot would be as good as std");
    assert!(then("8 threads").starts_with("parking_lot would lead, 1.8"), "{:?}", advice.changes);
}

#[test]
fn another_machine_is_not_ranked_by_this_ones_figures() {
    let other = UseCase { measured_cpus: 2, ..usable() };
    let report = measured(&other, &[("std", 9e6), ("parking_lot", 5e6)]);
    let advice = advised(&other, Some(&report));
    assert!(!advice.answer.known && advice.measured.is_none());
    assert!(advice.answer.why.contains("another number of CPUs"), "{}", advice.answer.why);
}

#[test]
fn rules_alone_say_what_they_can() {
    let one = UseCase { threads: 1, ..usable() };
    let advice = advised(&one, None);
    assert_eq!(advice.answer.lock.as_deref(), Some("ondeck"));
    assert!(advice.answer.why.contains("not measured"), "{}", advice.answer.why);
    let nothing = UseCase { realtime: true, language: Language::Binary, ..usable() };
    let advice = advised(&nothing, None);
    assert_eq!((advice.answer.known, advice.answer.lock.as_deref()), (false, None));
    assert!(advice.text().contains("advice: none;"), "{}", advice.text());
}

#[test]
fn a_lock_that_hung_is_told_of_and_never_advised() {
    let mut report = measured(&usable(), &[("std", 2e6), ("parking_lot", 5e6)]);
    report.failures.push(Failure {
        workload: "throughput".to_owned(),
        lock: "ondeck".to_owned(),
        threads: 16,
        kind: "deadlock".to_owned(),
        message: "nobody made progress".to_owned(),
        thread_states: Vec::new(),
    });
    let advice = advised(&usable(), Some(&report));
    assert_eq!(advice.answer.lock.as_deref(), Some("parking_lot"));
    assert!(advice.text().contains("ondeck could not be measured: deadlock"), "{}", advice.text());
}

#[test]
fn an_answer_is_json_with_its_version() {
    let advice = advised(&usable(), None);
    let json: serde_json::Value = serde_json::from_str(&advice.json()).expect("JSON");
    assert_eq!(json["schema"], 1);
    assert_eq!(json["answer"]["known"], advice.answer.known);
    assert_eq!(json["excluded"][0]["effect"], "exclude");
    assert!(json["sources"].as_object().is_some_and(|sources| !sources.is_empty()));
}
