//! The Markdown report: what stands in it, what outside names may do to it, and its length.

use ondeck_lab::results::{Report, Warning};
use ondeck_report::markdown::{LIMIT, render};

use crate::support::sample;

/// Every table has as many cells in each row as in its head, and every fold that opens closes.
fn assert_whole(text: &str) {
    assert!(text.chars().count() < LIMIT, "{} characters", text.chars().count());
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let mut columns = None;
    for line in text.lines() {
        if line.starts_with('|') {
            let wanted = *columns.get_or_insert(cells(line));
            assert_eq!(cells(line), wanted, "{line}");
        } else {
            columns = None;
        }
    }
    assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    for word in ["NaN", "inf"] {
        assert!(!text.contains(word), "{word} is in it");
    }
}

#[test]
fn the_sample_is_summed_up() {
    let report = sample();
    let text = render(&report);
    assert_whole(&text);
    for word in ["## ondeck: ", "### Verdict", "### Throughput", "### Longest wait", "| lock |"] {
        assert!(text.contains(word), "{word} is missing");
    }
    for series in &report.series {
        assert!(text.contains(&format!("`{}`", series.lock)), "{} is missing", series.lock);
    }
    // GitHub reads Markdown in a fold only after an empty line.
    assert!(text.contains("</summary>\n\n| lock |"));
    assert!(!text.contains("Left out"));
}

#[test]
fn names_from_outside_are_shown_and_do_nothing() {
    const EVIL: &str = "</details> | @you `x` <b>#1</b>\n\n## no\\";
    let mut report = sample();
    report.machine.cpu = EVIL.to_owned();
    EVIL.clone_into(&mut report.settings.command);
    report.warnings[0].message = EVIL.to_owned();
    report.failures[0].lock = EVIL.to_owned();
    report.failures[0].message = EVIL.to_owned();
    report.costs[0].operation = EVIL.to_owned();
    for series in &mut report.series {
        if series.lock == "nsync" {
            EVIL.clone_into(&mut series.lock);
            series.params.insert(EVIL.to_owned(), EVIL.to_owned());
            series.metrics[0].unit = EVIL.into();
        }
    }
    let text = render(&report);
    // Code shows what is in it and does nothing; only a longer fence may hold backticks.
    let code = format!("``{}``", EVIL.replace("\n\n", " "));
    assert!(text.contains(&code), "{code} is missing");
    let text = text.replace(&code, "");
    assert_whole(&text);
    assert!(text.contains("you") && !text.contains("@you"), "a user is called");
    for word in ["<b", "\n## no"] {
        assert!(!text.contains(word), "{word} is in it");
    }
}

#[test]
fn what_is_too_long_for_an_issue_says_what_it_leaves_out() {
    let mut report = sample();
    let few = report.series.clone();
    for index in 0..40 {
        for series in &few {
            let mut more = series.clone();
            more.params.insert("capacity".to_owned(), index.to_string());
            report.series.push(more);
        }
    }
    for index in 0..500 {
        report.warnings.push(Warning {
            code: format!("code_{index}"),
            message: "m".repeat(200),
            fix: "f".repeat(200),
        });
    }
    let text = render(&report);
    assert_whole(&text);
    assert!(text.chars().count() > LIMIT / 2, "{} characters", text.chars().count());
    assert!(text.contains("Left out, because GitHub takes no more than 65536 characters: "));
    assert!(text.starts_with("## ondeck: "));
}

#[test]
fn an_empty_report_has_a_head() {
    let report = Report {
        series: vec![],
        costs: vec![],
        locks: vec![],
        warnings: vec![],
        failures: vec![],
        seconds: f64::NAN,
        ..sample()
    };
    let text = render(&report);
    assert_whole(&text);
    assert!(text.starts_with("## ondeck: 0 locks in 0 workloads"), "{text}");
}
