//! Advice by recorded reports, and by one that has every workload, stays as it is, to the byte.

use std::time::Duration;

use ondeck_advise::{Company, Evidence, Language, Need, Rules, UseCase, advise, speaks_of};
use ondeck_lab::workload::Subject;

use crate::everything::everything;
use crate::recorded::{Digests, recorded};

fn situations() -> Vec<UseCase> {
    let plain = UseCase { specimens: true, virtual_machine: true, ..UseCase::usual(8, 2) };
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
fn advice_by_a_recorded_report_is_as_it_was() {
    // Not what depends on how this was built.
    let mut subjects = Subject::all();
    subjects.retain(|subject| {
        ["ondeck", "std", "glibc", "spinlock", "mcs"].contains(&subject.info.name)
    });
    let rules = Rules::built_in();
    let mut digests = Digests::default();
    let mut all = recorded();
    all.push(("everything -".to_owned(), everything()));
    for (name, report) in &all {
        for (index, situation) in situations().iter().enumerate() {
            let evidence = Evidence { by: "a report", report };
            let evidence = speaks_of(report, situation, &subjects).then_some(evidence);
            let advice = advise(&rules, situation, &subjects, evidence);
            digests.add(name, &format!("advice-{index}"), &advice.text());
            digests.add(name, &format!("advice-json-{index}"), &advice.json());
        }
    }
    digests.assert_golden(50);
}
