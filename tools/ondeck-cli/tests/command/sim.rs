//! Simulated machines: the same numbers for the same seed, parts that make up the whole, mistakes.

use std::fs;
use std::path::Path;

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;

use crate::support::{ended, parsed, run, stdout};

/// Short rounds of few threads: about a second.
const SMALL: [&str; 11] = [
    "sim",
    "--locks",
    "ondeck,mcs",
    "--workloads",
    "throughput",
    "--threads",
    "1,4",
    "--duration",
    "100us",
    "--rounds",
    "2",
];

/// On a small machine, unless another is named.
fn simulate(more: &[&str]) -> std::process::Output {
    let named = more.contains(&"--machine");
    let machine = if named { &[][..] } else { &["--machine", "ryzen-7-1700"] };
    ended(0, run(&[&SMALL, machine, more].concat()))
}

/// The report without the parts that depend on the date and the command line.
fn numbers(folder: &Path, name: &str, more: &[&str]) -> Value {
    let path = folder.join(name);
    simulate(&[&["--work", "100,500", "--json", path.to_str().expect("UTF-8")], more].concat());
    let mut report = parsed(&path);
    let fields = report.as_object_mut().expect("an object");
    fields.remove("started");
    fields.remove("seconds");
    fields["settings"].as_object_mut().expect("an object").remove("command");
    report
}

/// The series, sorted by their texts.
fn sorted(report: &Value) -> Vec<String> {
    let mut series: Vec<String> =
        report["series"].as_array().expect("series").iter().map(Value::to_string).collect();
    series.sort();
    series
}

#[test]
fn the_same_seed_gives_the_same_report_and_another_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = numbers(folder.path(), "1.json", &[]);
    assert!(first == numbers(folder.path(), "2.json", &[]), "the same seed gave other numbers");
    let other = numbers(folder.path(), "3.json", &["--seed", "2"]);
    assert_ne!(sorted(&first), sorted(&other));
}

#[test]
fn a_report_names_the_simulated_machine_and_matches_the_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = numbers(folder.path(), "r.json", &["--seed", "7"]);
    assert_eq!(report["evidence"], "simulated");
    assert_eq!(report["simulated"]["machine"], "ryzen-7-1700");
    assert_eq!(report["simulated"]["seed"], 7);
    assert_eq!(report["machine"]["cpus"], 16);
    assert_eq!(report["machine"]["architecture"], "simulated");
    assert_eq!(report["series"].as_array().map(Vec::len), Some(2 * 2));
    assert_eq!(report["series"][0]["metrics"][0]["n"], 2);
    let whole = parsed(&folder.path().join("r.json"));
    assert_eq!(crate::schema::mismatch(&whole), None);
}

#[test]
fn the_tables_begin_with_what_was_simulated_and_fit_80_columns() {
    let text = stdout(&simulate(&["--work", "100,500"]));
    assert!(text.trim_start().starts_with("simulated on ryzen-7-1700, seed 1"), "{text}");
    for words in ["throughput:", "ondeck", "mcs"] {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}

#[test]
fn lines_of_data_are_a_parameter_and_their_transfers_take_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let report = numbers(folder.path(), "r.json", &["--data", "0,8"]);
    assert_eq!(report["settings"]["data"], "0,8");
    let throughput = |lines: &Value| {
        let of = |series: &&Value| {
            series["lock"] == "mcs"
                && series["threads"] == 4
                && series["params"]["data_lines"] == *lines
        };
        let series = report["series"].as_array().expect("series").iter().find(of);
        let metric = &series.expect("a series")["metrics"][0];
        assert_eq!(metric["name"], "throughput");
        metric["median"].as_f64().expect("a number")
    };
    let (without, with) = (throughput(&Value::Null), throughput(&"8".into()));
    assert!(2.0 * with < without, "{with} with 8 lines, {without} without");
}

#[test]
fn a_machine_file_is_simulated_by_its_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.toml");
    let text = "name = \"mine\"\nabout = \"two cores\"\nbase = \"ryzen-7-1700\"\n[topology]\n\
        sockets = { value = 1, from = \"a test\" }\nclusters_per_socket = { value = 1, from = \"a test\" }\n\
        cores_per_cluster = { value = 2, from = \"a test\" }\nsmt = { value = 1, from = \"a test\" }\n";
    fs::write(&path, text).expect("a file");
    let report = numbers(folder.path(), "r.json", &["--machine", path.to_str().expect("UTF-8")]);
    assert_eq!(report["simulated"]["machine"], "mine");
    assert_eq!(report["machine"]["cpus"], 2);
}

/// The largest promised simulation: 1,000 threads on 256 cores.
#[test]
fn a_thousand_threads_on_256_cores_fit_into_two_gibibytes() {
    let large = ["sim", "--machine", "future-256", "--threads", "1000", "--locks", "ondeck"];
    let short =
        ["--workloads", "throughput", "--work", "100,500", "--duration", "10us", "--rounds"];
    let text = stdout(&ended(0, run(&[&large[..], &short, &["1"]].concat())));
    assert!(text.contains("1,000") || text.contains("1000"), "{text}");
    // The greatest of all processes that these tests have waited for.
    let children = getrusage(UsageWho::RUSAGE_CHILDREN).expect("a permitted call");
    let peak = children.max_rss() >> 10;
    assert!((1..2_048).contains(&peak), "{peak} MiB");
}
