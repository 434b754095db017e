//! `ondeck trace` from the user's side.

use crate::support::{ended, parsed, run, stderr, stdout};

const SMALL: [&str; 9] =
    ["trace", "--locks", "std", "--threads", "3", "--runs", "2", "--pairs", "1000"];

#[test]
fn a_trace_is_printed_and_written_and_its_counts_agree() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("t.json");
    let file = ["--json", json.to_str().expect("UTF-8")];
    let output = ended(0, run(&[&SMALL[..], &file].concat()));

    let text = stdout(&output);
    assert!(text.contains("std: 2 runs, 6000 pairs"), "{text}");
    assert!(text.contains("idle: 5998 times") && text.contains("waits: 6000 times"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    let trace = parsed(&json);
    assert_eq!((&trace["schema"], &trace["kind"]), (&1.into(), &"ondeck trace".into()));
    assert_eq!(trace["locks"][0]["pairs"], 6000);
    assert_eq!(trace["locks"][0]["waits"]["count"], 6000);
    let narrowed = trace["sight"] != "machine";
    assert_eq!(narrowed, stderr(&output).contains("refused:"), "{}", stderr(&output));
}
