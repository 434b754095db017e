//! The destinations of reports, and failures to write them.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Stdio;

use crate::support::{LEAST, ended, ondeck, outcome, parsed, small, stderr, stdout};

#[test]
fn an_output_that_cannot_be_written_is_found_before_measuring() {
    let folder = tempfile::tempdir().expect("a folder");
    let missing = folder.path().join("no/such/folder/r.json");
    let taken = folder.path().join("taken");
    fs::create_dir(&taken).expect("a folder");
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
    ended(0, small(&["--workloads", "uncontended", "--json", "/dev/null"]));
    assert!(!fs::metadata("/dev/null").expect("the device").is_file());
}

#[test]
fn a_link_stays_a_link_and_what_it_leads_to_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let (link, end) = (folder.path().join("link"), folder.path().join("end.json"));
    fs::write(&end, "older").expect("a file");
    symlink("end.json", &link).expect("a link");
    ended(0, outcome(ondeck(&LEAST).arg("--json").arg(&link)));
    assert!(link.is_symlink());
    assert_eq!(parsed(&end)["schema"], 1);
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 2);
}

#[test]
fn the_reports_are_safe_when_standard_output_is_full() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join("r.json");
    let full = || File::options().write(true).open("/dev/full").expect("the device");
    let output = ended(
        1,
        outcome(ondeck(&LEAST).arg("--json").arg(&json).stdout(full()).stderr(Stdio::piped())),
    );
    assert!(stderr(&output).contains("cannot write to standard output"), "{}", stderr(&output));
    assert_eq!(parsed(&json)["partial"], false);

    let output =
        outcome(ondeck(&LEAST).arg("--json").arg(&json).stdout(Stdio::piped()).stderr(full()));
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
}

#[test]
fn one_report_that_fails_does_not_take_the_others_along() {
    let folder = tempfile::tempdir().expect("a folder");
    let csv = folder.path().join("r.csv");
    let output = ended(1, outcome(ondeck(&LEAST).args(["--json", "/dev/full", "--csv"]).arg(&csv)));
    assert!(stderr(&output).contains("cannot write /dev/full"), "{}", stderr(&output));
    assert!(stdout(&output).contains("harness:"));
    assert!(fs::read_to_string(&csv).expect("the file").starts_with("workload,"));
}

#[test]
fn a_report_on_standard_output_and_the_tables_do_not_overwrite_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let all = folder.path().join("all");
    let status = ondeck(&LEAST)
        .args(["--json", "/dev/stdout"])
        .stdout(File::create(&all).expect("a file"))
        .stderr(Stdio::null())
        .status()
        .expect("the command starts");
    assert_eq!(status.code(), Some(0));
    let text = fs::read_to_string(&all).expect("the file");
    let first = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>().next();
    let report = first.expect("a report").expect("JSON");
    assert_eq!(report["schema"], 1);
    assert!(text.contains("harness:"), "{text}");
}

#[test]
fn a_path_that_is_not_utf_8_is_a_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let json = folder.path().join(OsStr::from_bytes(b"r\xff.json"));
    ended(0, outcome(ondeck(&LEAST).arg("--json").arg(&json)));
    assert_eq!(parsed(&json)["schema"], 1);

    let output = outcome(ondeck(&["bench", "--locks"]).arg(OsStr::from_bytes(b"st\xff")));
    assert_eq!(output.status.code(), Some(2));
    assert!(!stderr(&output).contains("panicked"), "{}", stderr(&output));
}
