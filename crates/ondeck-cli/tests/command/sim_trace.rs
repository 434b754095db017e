//! `ondeck sim --trace` as its users meet it.

use std::fs;

use serde_json::Value;

use crate::support::{parsed, run, stderr, stdout};

/// Six threads on sixteen CPUs, which wait for each other.
const SMALL: [&str; 15] = [
    "sim",
    "--machine",
    "ryzen-7-1700",
    "--workloads",
    "throughput",
    "--threads",
    "6",
    "--work",
    "1000,500",
    "--duration",
    "200us",
    "--rounds",
    "2",
    "--seed",
    "7",
];

/// The trace of a lock, as the file of all numbers has it, and what was printed.
fn traced(lock: &str) -> (Value, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("t.json");
    let more = ["--locks", lock, "--trace", path.to_str().expect("UTF-8")];
    let output = run(&[&SMALL[..], &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    (parsed(&path), stdout(&output))
}

fn nanos(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number of nanoseconds"))
}

#[test]
fn a_trace_says_that_it_is_simulated_wherever_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = ["t.perfetto.json", "t.json"].map(|name| folder.path().join(name));
    let mut arguments = [&SMALL[..], &["--locks", "mcs"]].concat();
    for file in &files {
        arguments.extend(["--trace", file.to_str().expect("UTF-8")]);
    }
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));

    let text = stdout(&output);
    let trace = text.split("trace simulated on ryzen-7-1700, seed 7").nth(1).expect("a trace");
    for words in ["throughput, 6 threads", "section_ns=1000", "mcs: 2 runs", "waiting: waits near"]
    {
        assert!(trace.contains(words), "{words} is missing in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    let events = parsed(&files[0]);
    assert_eq!(events["otherData"]["evidence"], "simulated");
    assert_eq!(events["otherData"]["simulated"]["machine"], "ryzen-7-1700");
    let named = |name: &str| {
        let all = events["traceEvents"].as_array().expect("events");
        all.iter().any(|event| event["name"] == name)
    };
    assert!(named("waits near") && named("handoff") && named("running, CPU 0"));
    let all = parsed(&files[1]);
    assert_eq!((&all["schema"], &all["kind"]), (&1.into(), &"ondeck sim trace".into()));
    assert_eq!(all["settings"]["simulated"]["seed"], 7);
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 2);
}

#[test]
fn the_same_seed_gives_the_same_trace() {
    let ((mut one, _), (mut other, _)) = (traced("ondeck"), traced("ondeck"));
    for trace in [&mut one, &mut other] {
        trace.as_object_mut().expect("an object").remove("started");
        trace["settings"].as_object_mut().expect("an object").remove("command");
    }
    assert!(one == other, "the same seed gave another trace");
}

#[test]
fn what_threads_did_adds_up() {
    let (trace, _) = traced("three_state_futex");
    let lock = &trace["locks"][0];
    assert_eq!(nanos(&lock["waits"]["count"]), nanos(&lock["pairs"]));
    assert_eq!(nanos(&lock["idles"]["count"]), nanos(&lock["pairs"]) - 2, "one fewer in each run");
    let ways = lock["ways"].as_array().expect("ways");
    let total: u64 = ways.iter().map(|way| nanos(&way["nanos"])).sum();
    let waited = nanos(&lock["waits"]["nanos"]);
    // A thread that gets the lock at once waits for as long as the call takes, and each time is cut to nanoseconds.
    assert!(total.abs_diff(waited) <= 2 * nanos(&lock["pairs"]), "{total} of {waited}");
    let has = |way: &str| ways.iter().any(|one| one["way"] == way);
    assert!(has("parked") && has("in_flight") && has("polls") && !has("near"), "{ways:?}");
    let clip = &lock["clips"][0];
    assert_eq!(clip["threads"].as_array().map(Vec::len), Some(6));
    assert_eq!(clip["cpus"].as_array().map(Vec::len), Some(16));
}

#[test]
fn a_trace_is_of_one_mutex_in_one_situation() {
    for (arguments, words) in [
        (
            &["--quick", "--locks", "mcs,ondeck", "--threads", "2"][..],
            &["locks mcs or ondeck", "--locks"][..],
        ),
        (&["--quick", "--locks", "mcs", "--threads", "2,4"], &["threads 2 or 4", "--threads"]),
        (
            &["--locks", "mcs", "--threads", "2", "--workloads", "throughput"],
            &["work 0,0 or ", "--work"],
        ),
        (
            &["--locks", "mcs", "--threads", "2", "--workloads", "wait,idle"],
            &["workloads idle or wait", "--workloads"],
        ),
        (
            &["--quick", "--locks", "mcs", "--threads", "2", "--sweep", "transfer.memory=80,90"],
            &["transfer.memory 80 or 90", "--sweep"],
        ),
        (&["--locks", "mcs"], &["values of workloads", "--workloads"]),
        (
            &["--workloads", "semaphore", "--locks", "ondeck_semaphore", "--threads", "2"],
            &["--trace is of"],
        ),
        (&["--quick", "--locks", "mcs", "--threads", "2", "--shard", "1/2"], &["--shard"]),
    ] {
        let output = run(&[&["sim", "--trace", "t.json"], arguments].concat());
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        for word in words {
            assert!(message.contains(word), "{arguments:?} should name {word}: {message}");
        }
        assert!(!message.contains("simulating"), "{arguments:?}: {message}");
    }
}

#[test]
fn a_file_is_written_as_its_name_says_or_refused() {
    let quick = ["sim", "--quick", "--locks", "mcs", "--threads", "2", "--trace"];
    for (more, words) in [
        (&["t.html"][..], &["t.html", ".perfetto.json"][..]),
        (&["no/where.json"], &["no/where.json", "folder"]),
        (&["one.json", "--json", "one.json"], &["one.json", "the same file"]),
    ] {
        let output = run(&[&quick, more].concat());
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {message}");
        for word in words {
            assert!(message.contains(word), "{more:?} should name {word}: {message}");
        }
    }
}
