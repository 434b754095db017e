//! Signals: measurements are kept, and nothing else remains.

use std::collections::HashSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::shim::{pid, wait_until};
use crate::support::{ondeck, parsed};

/// A bench that would take an hour or more.
fn long(json: &Path) -> Child {
    ondeck(&["bench", "--locks", "std", "--workloads", "throughput", "--threads", "2"])
        .args(["--duration", "50ms", "--rounds", "100000", "--json"])
        .arg(json)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts")
}

/// Waits until the third team of two threads measures: the first one warms up, and the second one's
/// round is a sample.
fn wait_for_a_sample(child: &Child) {
    let tasks = format!("/proc/{}/task", child.id());
    let mut seen = HashSet::new();
    wait_until("a third round", || {
        for task in fs::read_dir(&tasks).into_iter().flatten().flatten() {
            let name = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
            if name.starts_with("lab-") {
                seen.insert(task.file_name());
            }
        }
        seen.len() >= 6
    });
}

/// Whether any process is a child of this one.
fn has_a_child(parent: Pid) -> bool {
    fs::read_dir("/proc").expect("/proc").flatten().any(|process| {
        let stat = fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        // The name before it is in brackets and may contain blanks: ") S 123 ...".
        let behind_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        behind_name.split(' ').nth(1) == Some(&parent.to_string())
    })
}

#[test]
fn ctrl_c_and_sigterm_keep_what_was_measured_and_mark_it() {
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let folder = tempfile::tempdir().expect("a folder");
        let json = folder.path().join("r.json");
        let child = long(&json);
        wait_for_a_sample(&child);
        kill(pid(&child), signal).expect("the child lives");
        let output = child.wait_with_output().expect("the child ends");
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{signal}: {text}");
        assert!(text.contains("interrupted"), "{text}");
        let report = parsed(&json);
        assert_eq!(report["partial"], true);
        assert_eq!(report["series"][0]["partial"], true);
        assert!(report["series"][0]["metrics"][0]["n"].as_u64() >= Some(1));
    }
}

#[test]
fn a_process_that_is_killed_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = long(&folder.path().join("r.json"));
    wait_for_a_sample(&child);
    child.kill().expect("the child lives");
    child.wait().expect("the child ends");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
}

/// A terminal sends Ctrl-C to every process of the group.
#[test]
fn ctrl_c_while_a_second_process_measures_is_no_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("r.json");
    let child = ondeck(&["bench", "--locks", "std", "--workloads", "uncontended"])
        .args(["--duration", "200ms", "--rounds", "10", "--json"])
        .arg(&json)
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command starts");
    wait_until("a second process", || has_a_child(pid(&child)));
    killpg(pid(&child), Signal::SIGINT).expect("the child lives");
    let output = child.wait_with_output().expect("the child ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let report = parsed(&json);
    assert_eq!(report["partial"], true);
    assert_eq!(report["failures"], serde_json::json!([]), "{text}");
}
