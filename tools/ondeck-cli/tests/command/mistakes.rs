//! Files and values that are wrong: each is named, with what to do.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use crate::replay;
use crate::support::{ondeck, stderr, stdout};

const SAMPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../ondeck-report/tests/data/sample-report.json");

/// A machine file with one section of its own.
fn machine(section: &str) -> String {
    format!("name = \"mine\"\nabout = \"a test\"\nbase = \"ryzen-7-1700\"\n{section}\n")
}

/// The mistakes, and the words of their errors.
const MISTAKES: &str = include_str!("mistakes.txt");

#[test]
fn a_mistake_is_named_with_the_fix_and_nothing_is_measured_or_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("dir")).expect("a folder");
    symlink("r", path("link")).expect("a link");
    let sample = fs::read_to_string(SAMPLE).expect("the sample");
    let elsewhere = sample.replace("\"kernel\": \"", "\"kernel\": \"Other ");
    let recorded = replay::recorded(folder.path());
    let recorded = fs::read_to_string(recorded).expect("a recording");
    for (name, text) in [
        ("sample.json", &*sample),
        ("empty.json", ""),
        ("cut.json", &sample[..sample.len() / 2]),
        ("newer.json", &sample.replace("\"schema\": 1,", "\"schema\": 2,")),
        ("other.json", &elsewhere.replace("\"seconds\": ", "\"seconds\": 1")),
        ("infinite.json", &sample.replacen("\"median\": ", "\"median\": 1e999, \"old\": ", 1)),
        ("r.html", "<!DOCTYPE html>"),
        ("report.json", r#"{"schema":1}"#),
        ("silent.ondeck.json", &recorded.replace("\"lock\",", "\"notify\",")),
        ("v99.json", r#"{"kind":"ondeck recording","version":99}"#),
        ("v99.jsonl", r#"{"type":"profile","version":99}"#),
        ("cut.jsonl", "{\"type\":\"profile\",\"version\":1}\n{\"type\":\"lo"),
        ("idle.jsonl", r#"{"type":"profile","version":1}"#),
        ("deep.json", &"[".repeat(1 << 20)),
        ("deep.toml", &format!("a = {}", "[".repeat(100_000))),
        ("negative.toml", &machine("[class.zen]\nrmw = { value = -3, from = \"a test\" }")),
        ("nan.toml", &machine("[topology]\nsmt = { value = nan, from = \"a test\" }")),
        ("no_source.toml", &machine("[class.zen]\nrmw = { value = 5 }")),
    ] {
        fs::write(path(name), text).expect("a file");
    }
    fs::write(path("binary.toml"), b"\xff\xfe").expect("a file");
    let before = fs::read_dir(folder.path()).expect("the folder").count();

    let lines = MISTAKES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for (line, words) in lines.map(|line| line.split_once(" => ").expect("a line has words")) {
        let mut command = ondeck(&line.split(' ').collect::<Vec<_>>());
        let output = command.current_dir(folder.path()).output().expect("the command starts");
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        for word in words.split(" | ") {
            assert!(message.contains(word), "{line} should name {word}: {message}");
        }
        assert!(stdout(&output).is_empty() && !message.contains("panicked"), "{line}: {message}");
        let begun = ["measuring for", "simulating"].iter().any(|word| message.contains(word));
        let errors = message.lines().filter(|line| line.starts_with("error")).count();
        assert!(!begun && errors == 1, "{line}: {message}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), before);
}

#[test]
fn a_file_that_is_read_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::copy(SAMPLE, path("r.json")).expect("the sample");
    symlink("r.json", path("link.json")).expect("a link");
    fs::write(path("m.toml"), machine("")).expect("a file");
    for line in [
        "compare r.json r.json --json ./r.json",
        "compare r.json r.json --json link.json",
        "advise --from r.json --json r.json",
        "advise --profile r.json --save r.json",
        "sim --machine m.toml --quick --json m.toml",
    ] {
        let mut command = ondeck(&line.split(' ').collect::<Vec<_>>());
        let output = command.current_dir(folder.path()).output().expect("the command starts");
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(message.contains("which is read; name another file"), "{line}: {message}");
    }
    assert_eq!(
        fs::read(path("r.json")).expect("it is there"),
        fs::read(SAMPLE).expect("the sample")
    );
    assert_eq!(fs::read_to_string(path("m.toml")).expect("it is there"), machine(""));
}

#[test]
fn a_word_that_is_not_utf_8_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let odd = OsStr::from_bytes(b"st\xff");
    for arguments in [["list", "--locks"], ["sim", "--machine"], ["bench", "--workloads"]] {
        let output = ondeck(&arguments).arg(odd).output().expect("the command starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains("`st\u{fffd}` is not UTF-8"), "{}", stderr(&output));
    }
    // A file may have such a name: this one lies in no folder.
    let name: OsString = [odd, OsStr::new("/r.html")].into_iter().collect();
    let mut command = ondeck(&["run", "--profile"]);
    command.arg(name).arg("true").current_dir(folder.path());
    let output = command.output().expect("the command starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("name a file in a folder that exists"), "{}", stderr(&output));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    for arguments in [&["list"][..], &["schema"], &["man"], &["completions", "bash"]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = ondeck(arguments);
        command.stdout(writer).stderr(Stdio::piped());
        let output = command.output().expect("the command starts");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        assert!(output.stderr.is_empty(), "{arguments:?}: {}", stderr(&output));
    }
}
