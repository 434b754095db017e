//! `ondeck trace` from the user's side.

use std::fs;

use crate::support::{ended, parsed, run, stderr, stdout};

const SMALL: [&str; 9] =
    ["trace", "--locks", "std", "--threads", "3", "--runs", "2", "--pairs", "1000"];

#[test]
fn a_trace_is_printed_and_written_and_its_counts_agree() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (json, perfetto) = (path("t.json"), path("t.perfetto.json"));
    let files = ["--json", "--perfetto"].into_iter().zip([&json, &perfetto]);
    let files: Vec<&str> =
        files.flat_map(|(flag, file)| [flag, file.to_str().expect("UTF-8")]).collect();
    let output = ended(0, run(&[&SMALL[..], &files].concat()));

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
    assert!(parsed(&perfetto)["traceEvents"].as_array().is_some_and(|all| !all.is_empty()));
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 2);
}
