//! `ondeck run --compare`: a program under glibc's locks and ondeck's.

use std::fs::{self, File};

use crate::shim::{output, run};
use crate::support::{parsed, stderr, stdout};

#[test]
fn a_comparison_has_every_quantity_and_a_report_that_others_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("r.json");
    let count = folder.path().join("count");
    // Each run reads its input from the start, and only the shim's runs have the shim.
    let script = format!("read word; echo \"$word$LD_PRELOAD\" >> {}; echo seen", count.display());
    let input = folder.path().join("input");
    fs::write(&input, "word\n").expect("a file");
    let output = run(&["--compare", "--runs", "4", "--json"])
        .arg(&json)
        .args(["--", "sh", "-c", &script])
        .stdin(File::open(&input).expect("our file"))
        .output()
        .expect("the command starts");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for words in ["A  glibc, 4 runs", "B  ondeck, 4 runs", "wall time", "CPU time", "memory"] {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
    assert!(!text.contains("seen"), "the program's output: {text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let lines = fs::read_to_string(&count).expect("the program ran");
    assert_eq!(lines.lines().count(), 2 * 5, "a warm-up and four runs of two locks");
    assert_eq!(lines.lines().filter(|line| *line == "word").count(), 5, "{lines}");

    let report = parsed(&json);
    let series = report["series"].as_array().expect("series");
    let locks: Vec<&str> = series.iter().filter_map(|one| one["lock"].as_str()).collect();
    assert_eq!(locks, ["glibc", "ondeck"]);
    assert!(series.iter().all(|one| one["metrics"].as_array().map(Vec::len) == Some(5)));
    let path = json.to_str().expect("UTF-8");
    let again = crate::support::run(&["compare", "--by", "lock", "--base", "glibc", path]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
}

#[test]
fn a_number_that_the_program_prints_is_compared() {
    let script = "echo rate: 1; test -z \"$LD_PRELOAD\" && echo rate: 100 || echo rate: 150 >&2";
    let given = ["--compare", "--runs", "4", "--metric", "rate: ([0-9]+)", "sh", "-c"];
    let output = output(&[&given[..], &[script]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    let line = text.lines().rfind(|line| line.contains("its own number")).expect("its line");
    assert!(["100", "150", "1.50"].iter().all(|word| line.contains(word)), "{line}");
    assert!(text.contains("more is better for its own number"), "{text}");
}

#[test]
fn a_program_that_prints_no_such_number_fails() {
    let output = output(&["--compare", "--metric", "rate: (.*)", "sh", "-c", "echo rate: low"]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    for words in ["printed no number that --metric matches", "rate: low"] {
        assert!(message.contains(words), "{words} is missing in {message}");
    }
}

#[test]
fn a_lock_that_a_program_fails_with_is_left_out_and_said() {
    let failing = "test -z \"$LD_PRELOAD\" || { echo broken >&2; exit 3; }";
    let output = output(&["--compare", "--runs", "2", "sh", "-c", failing]);
    assert_eq!(output.status.code(), Some(1));
    let message = stderr(&output);
    for word in ["ondeck: warm-up", "exit code 3", "broken"] {
        assert!(message.contains(word), "{word} is missing in {message}");
    }
}
