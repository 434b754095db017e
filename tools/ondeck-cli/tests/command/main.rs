//! The command from the user's side: results, mistakes, refusals, interruptions.

mod advise;
mod attach;
mod compare;
mod files;
mod machine_file;
mod mistakes;
mod replay;
mod run;
mod run_compared;
mod run_notified;
mod run_refused;
mod schema;
mod shim;
mod signals;
mod sim;
mod support;
mod trace;
mod who;

use std::os::unix::fs::PermissionsExt;

use ondeck::platform::Linux;

use support::{ended, parsed, run, small, stderr, stdout, with_costs};

#[test]
fn a_bench_prints_tables_that_fit_80_columns_and_a_verdict() {
    let text = stdout(&ended(with_costs(), small(&[])));
    for heading in [
        "uncontended:",
        "throughput:",
        "wait:",
        "idle:",
        "handoff:",
        "capture:",
        "starve:",
        "oversubscribed:",
        "condvar:",
        "producer_consumer:",
        "chan:",
        "bystander:",
        "real:",
        "empty lock:",
        "costs:",
        "verdict",
        "harness: an empty lock",
    ] {
        assert!(text.contains(heading), "{heading} is missing in\n{text}");
    }
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    assert!(!text.contains('\u{1b}'), "escape sequences outside of a terminal");
}

#[test]
fn a_bench_without_a_choice_answers_on_one_screen() {
    let output = run(&["bench", "--rounds", "2", "--duration", "10ms"]);
    let text = stdout(&output);
    // On a busy machine a row may have too few rounds for a statement, and then says so.
    for row in [
        "speed, std = 1",
        "uncontended",
        "short sections",
        "long sections",
        "many threads",
        "hand-offs",
        "real programs",
        "readers, writers",
    ] {
        assert!(text.lines().any(|line| line.starts_with(row)), "{row} is missing in\n{text}");
    }
    assert!(text.lines().count() <= 25, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn one_command_measures_every_buffer_beside_background_load() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("r.json");
    let mut arguments = vec!["bench", "--quick", "--locks", "std", "--rounds", "1"];
    arguments.extend(["--duration", "5ms", "--workloads", "producer_consumer,recovery"]);
    arguments.extend(["--threads", "4,2", "--capacity", "8,1,8", "--notify", "after,inside"]);
    arguments.extend(["--background", "1", "--json", path.to_str().expect("a path")]);
    let text = stdout(&ended(0, run(&arguments)));
    for words in ["4 threads, capacity 1", "2 threads, capacity 8, notified after"] {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let report = parsed(&path);
    assert_eq!(report["settings"]["background"], 1);
    assert_eq!(report["series"].as_array().map(Vec::len), Some(2 * 2 * 2 * 2));
}

#[test]
fn the_reports_agree_and_match_their_schema() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let (json, csv, html) = (path("r.json"), path("r.csv"), path("r.html"));
    ended(
        with_costs(),
        small(&[
            "--json",
            json.to_str().expect("UTF-8"),
            "--csv",
            csv.to_str().expect("UTF-8"),
            "--html",
            html.to_str().expect("UTF-8"),
        ]),
    );

    let report = parsed(&json);
    assert_eq!(schema::mismatch(&report), None);
    let mut wrong = report.clone();
    wrong["series"][0]["metrics"][0]["median"] = "fast".into();
    let found = schema::mismatch(&wrong).expect("a median is a number");
    assert!(found.starts_with("/series/item/metrics/item/median: not type"), "{found}");
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
fn a_cpu_that_is_refused_is_reported_and_the_rest_is_measured() {
    let output = ended(1, small(&["--workloads", "uncontended", "--pin", "7999"]));
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
