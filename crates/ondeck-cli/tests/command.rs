//! The command as its users meet it: results, mistakes, refusals, interruptions.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use ondeck::platform::Linux;

fn ondeck(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ondeck"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    ondeck(arguments).output().expect("the command starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// A bench of two locks that takes about a second.
const SMALL: [&str; 4] = ["bench", "--quick", "--locks", "std,spinlock"];

fn small(more: &[&str]) -> Output {
    run(&[&SMALL, more].concat())
}

fn parsed(path: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("the file exists")).expect("JSON")
}

#[test]
fn a_bench_prints_tables_that_fit_80_columns_and_a_verdict() {
    let output = small(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    for heading in [
        "uncontended:",
        "throughput:",
        "wait:",
        "idle:",
        "costs:",
        "verdict",
        "harness: an empty lock",
    ] {
        assert!(text.contains(heading), "{heading} is missing in\n{text}");
    }
    let tables = text.split("\nverdict").next().expect("text before the verdict");
    for line in tables.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    assert!(!text.contains('\u{1b}'), "escape sequences outside of a terminal");
}

#[test]
fn the_three_reports_agree_and_match_their_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (json, csv, html) = (path("r.json"), path("r.csv"), path("r.html"));
    let output = small(&[
        "--json",
        json.to_str().expect("UTF-8"),
        "--csv",
        csv.to_str().expect("UTF-8"),
        "--html",
        html.to_str().expect("UTF-8"),
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));

    let report = parsed(&json);
    let schema = serde_json::from_str(&stdout(&run(&["schema"]))).expect("the schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("the schema is a schema");
    let errors: Vec<_> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(report["schema"], 1);
    assert_eq!(report["evidence"], "measured");
    assert_eq!(report["partial"], false);

    let metrics: usize = report["series"]
        .as_array()
        .expect("series")
        .iter()
        .map(|series| series["metrics"].as_array().expect("metrics").len())
        .sum();
    let mut reader = csv::Reader::from_path(&csv).expect("CSV");
    let header = reader.headers().expect("a header").iter().collect::<Vec<_>>().join(",");
    assert_eq!(header, "workload,lock,threads,params,metric,unit,median,p25,p75,n");
    let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows");
    assert_eq!(rows.iter().filter(|row| &row[0] != "costs").count(), metrics);

    let page = std::fs::read_to_string(&html).expect("HTML");
    assert!(page.contains("<svg") && page.contains("spinlock"));
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("the folder").count(),
        3,
        "a temporary file was left"
    );
    let mode = std::fs::metadata(&json).expect("the file").permissions().mode();
    assert_eq!(mode & 0o600, 0o600);
}

#[test]
fn mistakes_name_the_value_and_the_fix_and_measure_nothing() {
    for (arguments, words) in [
        (&["bench", "--locks", "parkinglot"][..], &["`parkinglot`", "`parking_lot`"][..]),
        (&["bench", "--workloads", "waitt"], &["`waitt`", "`wait`"]),
        (&["bench", "--threads", "0"], &["'0'", "1 to 4096"]),
        (&["bench", "--threads", "1,99999"], &["'99999'", "1 to 4096"]),
        (&["bench", "--threads", "two"], &["'two'", "whole number"]),
        (&["bench", "--duration", "0s"], &["'0s'", "1ms"]),
        (&["bench", "--duration", "10"], &["'10'", "unit"]),
        (&["bench", "--rounds", "0"], &["'0'", "1 to"]),
        (&["bench", "--pin", "first"], &["'first'", "each"]),
        (&["bench", "--policy", "idle"], &["'idle'", "fifo"]),
        (&["bench", "--work", "100"], &["'100'", "100,500"]),
        (&["bench", "--quick", "--full"], &["--quick", "--full"]),
        (&["list", "--locks", "mcss"], &["`mcss`", "`mcs`"]),
        (&["bnch"], &["'bnch'", "bench"]),
    ] {
        let output = run(arguments);
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        for word in words {
            assert!(message.contains(word), "{arguments:?} should name {word}: {message}");
        }
        assert!(
            stdout(&output).is_empty() && !message.contains("panicked"),
            "{arguments:?}: {message}"
        );
    }
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_measuring() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("no/such/folder/r.json");
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).expect("a folder");
    for path in [&missing, &taken] {
        let path = path.to_str().expect("UTF-8");
        let output = small(&["--json", path]);
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(path), "{}", stderr(&output));
        assert!(stdout(&output).is_empty(), "it measured first");
    }
    let same = folder.path().join("r");
    let same = same.to_str().expect("UTF-8");
    let output = small(&["--json", same, "--csv", same]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!Path::new(same).exists());
}

#[test]
fn a_device_is_written_to_and_not_replaced() {
    let output = small(&["--workloads", "uncontended", "--json", "/dev/null"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!std::fs::metadata("/dev/null").expect("the device").is_file());
}

#[test]
fn a_cpu_that_is_refused_is_reported_and_the_rest_is_measured() {
    let output = small(&["--workloads", "uncontended", "--pin", "7999"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("7999") && stderr(&output).contains("refused"),
        "{}",
        stderr(&output)
    );
    assert!(stdout(&output).contains("spinlock"));
}

#[test]
fn one_cpu_is_enough_and_said_to_be_one() {
    let first = Linux::affinity()[0];
    let output = std::thread::spawn(move || {
        Linux::set_affinity(&[first]).expect("a CPU of our own mask");
        // A child inherits the mask of the thread that starts it.
        small(&["--workloads", "throughput,costs", "--threads", "2"])
    })
    .join()
    .expect("no panic");
    assert!(stderr(&output).contains("one CPU"), "{}", stderr(&output));
    assert!(stdout(&output).contains("refused"), "{}", stdout(&output));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_marks_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("r.json");
    let mut child =
        ondeck(&["bench", "--locks", "std", "--workloads", "throughput", "--threads", "2"])
            .args([
                "--duration",
                "50ms",
                "--rounds",
                "100000",
                "--json",
                json.to_str().expect("UTF-8"),
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
    std::thread::sleep(Duration::from_millis(1_500));
    let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGINT).expect("the child lives");
    let status = child.wait().expect("the child ends");
    let mut text = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("UTF-8");
    assert_eq!(status.code(), Some(1), "{text}");
    assert!(text.contains("interrupted"), "{text}");
    let report = parsed(&json);
    assert_eq!(report["partial"], true);
    assert_eq!(report["series"][0]["partial"], true);
    assert!(report["series"][0]["metrics"][0]["n"].as_u64() >= Some(1));
}

#[test]
fn lists_completions_manual_and_schema_are_whole() {
    let text = stdout(&run(&["list"]));
    for word in [
        "terrible_spinlock",
        "go_spinbit",
        "parking_lot",
        "glibc_pi",
        "workloads",
        "idle",
        "groups",
    ] {
        assert!(text.contains(word), "{word} is missing in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let long = stdout(&run(&["list", "--long", "--locks", "mcs"]));
    assert!(long.contains("teaches:") && long.contains("Mellor-Crummey"), "{long}");
    assert!(stdout(&run(&["completions", "bash"])).contains("ondeck"));
    assert!(stdout(&run(&["man"])).contains(".TH ondeck"));
    assert!(stdout(&run(&["--help"])).contains("Examples:"));
    assert!(stdout(&run(&["bench", "--help"])).contains("Examples:"));
}

#[test]
fn the_documented_schema_is_the_program_s_own() {
    let documented = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report.schema.json");
    let documented = std::fs::read_to_string(documented).expect("docs/report.schema.json");
    assert!(
        documented == stdout(&run(&["schema"])),
        "the schema changed: raise SCHEMA_VERSION if a reader could notice, then run \
         `cargo run -- schema > docs/report.schema.json`"
    );
}
