//! Each rule holds where it should and nowhere else, and ranks every lock accordingly.

use std::collections::BTreeMap;
use std::time::Duration;

use ondeck_advise::{Company, Language, Need, Rules, UseCase, Users, advise};
use ondeck_lab::results::Report;
use ondeck_lab::workload::Subject;
use ondeck_zoo::Origin;

use crate::support::{advised, fired, plain, report, series};

/// A rule, the lock that it is about, a situation where it holds, and one where it does not for the
/// same lock. The last field is a lock for which it never holds.
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
    let used_by = |users: Users| with(&|it| it.used_by = users);
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
        // With so few threads each has a CPU.
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
        ("convoy", Some("ondeck_pi"), plain(), with(&|it| it.outside_ns = 1_000_000), "std"),
        ("all-awake", Some("std"), with(&|it| (it.threads, it.cpus) = (16, 16)), plain(), "ondeck"),
        ("bounded", Some("ondeck"), with(&|it| it.fairness = Need::Some), plain(), "std"),
        ("no-promise", Some("parking_lot"), with(&|it| it.fairness = bound()), plain(), "ondeck"),
        ("one-instruction", Some("spin"), with(&|it| it.outside_ns = 100_000), plain(), "std"),
        ("single-threaded", Some("ondeck"), with(&|it| it.threads = 1), plain(), "std"),
        (
            "small",
            Some("std"),
            with(&|it| it.bytes = Some(64)),
            with(&|it| it.bytes = Some(65)),
            "glibc",
        ),
        ("generic-condvar", Some("mcs"), with(&|it| it.condvar = true), plain(), "std"),
        (
            "lost-signal",
            Some("glibc"),
            with(&|it| (it.condvar, it.language) = (true, Language::C)),
            language(Language::C),
            "ondeck",
        ),
        ("needs-source", Some("std"), language(Language::Binary), plain(), "glibc"),
        ("rust-only", Some("std"), language(Language::C), plain(), "ondeck"),
        ("not-for-rust", Some("glibc"), plain(), language(Language::C), "std"),
        ("another-use", Some("ondeck_reentrant"), plain(), used_by(Users::Reentrant), "std"),
        ("not-reentrant", Some("std"), used_by(Users::Reentrant), plain(), "ondeck_reentrant"),
        ("one-process", Some("std"), used_by(Users::Processes), plain(), "ondeck_ipc"),
        ("specimen", Some("go_spinbit"), rust(false), plain(), "std"),
        ("another-machine", None, with(&|it| it.measured_cpus = 2), plain(), ""),
        ("virtual-machine", None, with(&|it| it.virtual_machine = true), plain(), ""),
    ]
}

/// A report in which std waits for long, starves, and burns its CPU, and ondeck does not.
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
        assert!(!holds(&elsewhere, lock), "{rule} holds for {lock:?} elsewhere");
        if !other.is_empty() {
            assert!(!holds(&there, Some(other)), "{rule} holds for {other}");
        }
    }
}

#[test]
fn no_rule_is_without_a_case() {
    let tried: Vec<_> = cases().into_iter().map(|(rule, ..)| rule).chain(["c++-only"]).collect();
    for rule in &Rules::built_in().rule {
        assert!(tried.contains(&&*rule.name), "{} is never tried", rule.name);
    }
}

/// Not every build has the peers of C and C++: another lock stands in under one of their names.
#[test]
fn a_lock_of_c_or_c_plus_plus_is_none_for_other_languages() {
    for peer in ["abseil", "nsync"] {
        let mut locks = Subject::all();
        locks.retain(|lock| lock.info.name != peer);
        locks[0].info.name = peer;
        locks[0].info.origin = Origin::Peer;
        let out = |rule: &str, language: Language| {
            let situation = UseCase { language, ..plain() };
            let advice = advise(&Rules::built_in(), &situation, &locks, None);
            fired(&advice, Some(peer)).iter().any(|(name, _)| name == rule)
        };
        assert!(out("not-for-rust", Language::Rust), "{peer}");
        assert!(!out("not-for-rust", Language::Cpp) && !out("c++-only", Language::Cpp), "{peer}");
        assert_eq!(out("c++-only", Language::C), peer == "abseil", "{peer}");
    }
}

/// Situations of every kind of need.
fn grid() -> Vec<UseCase> {
    let mut all = Vec::new();
    for used_by in [Users::Reentrant, Users::Processes] {
        for language in [Language::Rust, Language::C] {
            all.push(UseCase { used_by, language, ..plain() });
        }
    }
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
        assert!(somewhere, "{name}");
    }
}
