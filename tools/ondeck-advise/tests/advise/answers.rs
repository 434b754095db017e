//! An answer's statements about measurements.

use ondeck_advise::{Language, Need, Rules, UseCase, Users, candidates, subjects};
use ondeck_lab::results::{Failure, Report};
use ondeck_lab::workload::Subject;

use crate::support::{advised, plain, report, series};

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
fn noise_is_no_answer_but_to_stay_with_what_the_program_has() {
    let report = measured(&usable(), &[("std", 5e6), ("parking_lot", 5.1e6), ("usync", 2e6)]);
    let advice = advised(&usable(), Some(&report));
    assert!(!advice.answer.known);
    assert_eq!(advice.answer.alike, ["parking_lot", "std"]);
    assert!(advice.text().contains("advice: not known, parking_lot or std;"), "{}", advice.text());
    let with = |now: &str| {
        advised(&UseCase { now: Some(now.to_owned()), ..usable() }, Some(&report)).answer
    };
    let stays = with("std");
    assert!(stays.known && stays.why.starts_with("stay with what you have"), "{stays:?}");
    assert_eq!(stays.alike, ["std", "parking_lot"]);
    // A lock that is worse than the best is not kept.
    assert!(!with("usync").known);
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
}

#[test]
fn realtime_leaves_one_lock_and_needs_no_measurement() {
    let realtime = UseCase { realtime: true, ..usable() };
    assert_eq!(candidates(&Rules::built_in(), &realtime, &Subject::all()).len(), 1);
    let advice = advised(&realtime, None);
    assert_eq!((advice.answer.known, advice.answer.lock.as_deref()), (true, Some("ondeck_pi")));
    assert!(advice.text().contains("[inheritance]"), "{}", advice.text());
}

#[test]
fn each_need_that_one_lock_of_the_crate_is_for_names_that_lock() {
    for (need, lock) in [
        (UseCase { fairness: Need::Strict, ..usable() }, "ondeck_fair"),
        (UseCase { used_by: Users::Reentrant, ..usable() }, "ondeck_reentrant"),
        (UseCase { used_by: Users::Processes, ..usable() }, "ondeck_ipc"),
    ] {
        let answer = advised(&need, None).answer;
        assert_eq!((answer.known, answer.lock.as_deref()), (true, Some(lock)), "{need}");
    }
}

#[test]
fn with_reads_the_locks_are_those_for_readers_and_writers() {
    let reads = UseCase { reads: "90".parse().expect("a mix"), ..usable() };
    let locks = subjects(&reads);
    let left = candidates(&Rules::built_in(), &reads, &locks);
    let names: Vec<_> = left.iter().map(|subject| subject.info.name).collect();
    for name in ["ondeck_rwlock", "std_rwlock", "parking_lot_rwlock", "mutex_rwlock"] {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(!names.contains(&"glibc_rwlock") && !names.contains(&"ondeck"), "{names:?}");
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
        kind: "deadlock".into(),
        message: "no thread made progress".to_owned(),
        thread_states: Vec::new(),
    });
    let advice = advised(&usable(), Some(&report));
    assert_eq!(advice.answer.lock.as_deref(), Some("parking_lot"));
    assert!(advice.text().contains("ondeck could not be measured: deadlock"), "{}", advice.text());
}

#[test]
fn an_answer_is_json_with_its_version() {
    let advice = advised(&usable(), None);
    let json: serde_json::Value = serde_json::to_value(&advice).expect("JSON");
    assert_eq!(json["schema"], 2);
    assert_eq!(json["answer"]["known"], advice.answer.known);
    assert_eq!(json["excluded"][0]["effect"], "exclude");
    assert!(json["sources"].as_object().is_some_and(|sources| !sources.is_empty()));
}
