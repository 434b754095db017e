//! Signals: measurements are kept, and nothing else remains.

use std::collections::HashSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::shim::{pid, wait_until};
use crate::support::{ondeck, parsed};

/// A bench that would take an hour or more.
fn long(json: &Path) -> Child {
    long_with(json, &["--duration", "50ms"])
}

fn long_with(json: &Path, options: &[&str]) -> Child {
    ondeck(&["bench", "--locks", "std", "--workloads", "throughput", "--threads", "2"])
        .args(options)
        .args(["--rounds", "100000", "--json"])
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

/// The control groups of a process, below all hierarchies.
fn groups_of(process: u32) -> Vec<PathBuf> {
    let name = format!("ondeck-{process}-");
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(entry.path());
                if entry.file_name().to_string_lossy().starts_with(&name) {
                    found.push(entry.path());
                }
            }
        }
    }
    found
}

/// Starts a bench under a quota, and waits for its control group. Where the system permits none,
/// `None` after the report has said so.
fn limited() -> Option<Child> {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("r.json");
    let asked = ondeck(&["bench", "-l", "std", "-w", "throughput", "-t", "1", "-r", "1", "--json"])
        .arg(&json)
        .args(["--quota", "1.0"])
        .output()
        .expect("the command starts");
    if asked.status.code() == Some(1) {
        let warnings = parsed(&json)["warnings"].to_string();
        assert!(warnings.contains("quota of 1.0 CPUs refused"), "{warnings}");
        return None;
    }
    let child = long_with(&json, &["--duration", "1s", "--quota", "1.0"]);
    wait_until("a group", || !groups_of(child.id()).is_empty());
    Some(child)
}

#[test]
fn a_second_ctrl_c_leaves_no_control_group() {
    let Some(mut child) = limited() else { return };
    for _ in 0..2 {
        kill(pid(&child), Signal::SIGINT).expect("the child lives");
        thread::sleep(Duration::from_millis(3));
    }
    let status = child.wait().expect("the child ends");
    // The round may have ended between the two.
    assert!(matches!(status.code(), Some(1 | 130)), "{status}");
    assert_eq!(groups_of(child.id()), [] as [PathBuf; 0]);
}

#[test]
fn the_control_group_of_a_process_that_was_killed_is_removed_by_the_next() {
    let Some(mut child) = limited() else { return };
    child.kill().expect("the child lives");
    child.wait().expect("the child ends");
    let mut next = limited().expect("it was permitted before");
    assert_eq!(groups_of(child.id()), [] as [PathBuf; 0]);
    kill(pid(&next), Signal::SIGTERM).expect("the child lives");
    assert_eq!(next.wait().expect("the child ends").code(), Some(1));
    assert_eq!(groups_of(next.id()), [] as [PathBuf; 0]);
}
