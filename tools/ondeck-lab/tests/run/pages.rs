//! The page about the workloads has every part of each workload's section, and the page about the
//! findings names the test of each known fact.

use ondeck_lab::workload::WORKLOADS;
use ondeck_lab::workload::face::Judged;

const PAGE: &str = include_str!("../../../../docs/workloads.md");
const FINDINGS: &str = include_str!("../../../../docs/data/findings.md");
const TRUTHS: &str = include_str!("../known_truths.rs");

/// The parts of a workload's section.
const PARTS: [&str; 3] = ["\n\nSource: ", "\n* Read: ", "\n* Cannot show: "];

/// The missing parts of the page.
fn gaps(page: &str) -> Vec<String> {
    let mut gaps = Vec::new();
    for workload in WORKLOADS {
        let Some((_, after)) = page.split_once(&format!("\n## {}\n", workload.name)) else {
            gaps.push(workload.name.to_owned());
            continue;
        };
        let section = after.split("\n## ").next().unwrap_or(after);
        let lacks = PARTS.iter().filter(|part| !section.contains(**part));
        gaps.extend(lacks.map(|part| format!("{}: {}", workload.name, part.trim())));
        if let Judged::By(figure) = workload.judged
            && !section.contains(&format!("`{}`", figure.name))
        {
            gaps.push(format!("{}: what it is judged by", workload.name));
        }
    }
    gaps
}

#[test]
fn the_page_has_what_every_workload_measures_and_cannot_show() {
    assert_eq!(gaps(PAGE), [""; 0]);
}

#[test]
fn a_gap_in_the_page_is_found() {
    let without = |part: &str| {
        let changed = PAGE.replacen(part, "", 1);
        assert_ne!(changed, PAGE);
        gaps(&changed)
    };
    assert_eq!(without("\n* Cannot show: how long threads"), ["throughput: * Cannot show:"]);
    assert_eq!(without("\n## starve\n"), ["starve"]);
    assert_eq!(without("`longest_gap`, ms"), ["starve: what it is judged by"]);
}

#[test]
fn the_tests_of_known_truths_are_those_that_the_findings_name() {
    let mut asserted = Vec::new();
    for test in TRUTHS.split("\n#[test]\n").skip(1) {
        asserted.extend(test.split_once("fn ").and_then(|(_, name)| name.split('(').next()));
    }
    let (_, section) = FINDINGS.split_once("\nThe tests, in that order:\n\n").expect("a list");
    let list = section.split("\n\n").next().unwrap_or(section);
    let named: Vec<_> = list.lines().filter_map(|line| line.split('`').nth(1)).collect();
    assert!(asserted.len() >= 5, "{asserted:?}");
    assert_eq!(named, asserted);
}
