//! Reports that are read back: compared.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::support::{ended, ondeck, parsed, run, stderr, stdout};

const SAMPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../ondeck-report/tests/data/sample-report.json");

/// The sample's report, changed as if `lock` had `by` times its throughput.
fn changed(folder: &Path, lock: &str, by: f64) -> PathBuf {
    let mut report = parsed(Path::new(SAMPLE));
    report["seconds"] = 1.0.into();
    for series in report["series"].as_array_mut().expect("series") {
        if series["lock"] != lock || series["workload"] != "throughput" {
            continue;
        }
        let metric = &mut series["metrics"][0];
        assert_eq!(metric["name"], "throughput");
        for sample in metric["samples"].as_array_mut().expect("samples") {
            *sample = (sample.as_f64().expect("a number") * by).into();
        }
    }
    let path = folder.join("after.json");
    fs::write(&path, report.to_string()).expect("a file");
    path
}

fn word(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}

#[test]
fn a_comparison_ends_with_one_only_if_something_is_worse_by_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let compare = |after: &Path, more: &[&str]| {
        run(&[&["compare", SAMPLE, word(after), "--alpha", "0.001"], more].concat())
    };
    let slower = changed(folder, "glibc", 0.5);
    let output = ended(0, compare(&slower, &[]));
    assert!(stdout(&output).contains("geometric mean") && !stdout(&output).contains('\u{1b}'));

    let output = ended(1, compare(&slower, &["--fail-above", "5%"]));
    assert!(stderr(&output).contains("worse: glibc, throughput,"), "{}", stderr(&output));
    assert!(stderr(&output).lines().all(|line| line.contains("glibc")), "{}", stderr(&output));

    for (more, code) in [
        (&["--fail-above", "60 %"][..], 0),
        (&["--fail-above", "5%", "--locks", "std,ondeck"], 0),
        (&["--fail-above", "5%", "--workloads", "wait"], 0),
    ] {
        let output = compare(&slower, more);
        assert_eq!(output.status.code(), Some(code), "{more:?}: {}", stderr(&output));
    }
    let faster = changed(folder, "glibc", 2.0);
    assert_eq!(compare(&faster, &["--fail-above", "5%"]).status.code(), Some(0));
}

#[test]
fn a_comparison_is_written_as_json() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("c.json");
    let locks = ["compare", "--by", "lock", "--base", "glibc", SAMPLE];
    ended(0, run(&[&locks[..], &["--json", word(&json)]].concat()));
    assert_eq!(parsed(&json)["tables"][0]["base"], "glibc");
    let files = fs::read_dir(folder.path()).expect("the folder").count();
    assert_eq!(files, 1, "a temporary file was left");
}

#[test]
fn a_report_comes_from_standard_input_too() {
    let compare = || {
        ondeck(&["compare", "-", SAMPLE])
            .stdin(File::open(SAMPLE).expect("the sample"))
            .output()
            .expect("the command starts")
    };
    let output = ended(0, compare());
    assert!(stdout(&output).starts_with("A  -\n"), "{}", stdout(&output));
}

#[test]
fn machines_are_compared_if_that_is_meant() {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = fs::read_to_string(SAMPLE).expect("the sample");
    let other = folder.path().join("other.json");
    fs::write(&other, sample.replace("\"kernel\": \"", "\"kernel\": \"Other ")).expect("a file");
    ended(0, run(&["compare", SAMPLE, word(&other), "--across-machines"]));
}
