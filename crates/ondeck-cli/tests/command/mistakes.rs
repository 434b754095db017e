//! Files and values that are wrong in ways that no other test of a command has: each is named, with what to do.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use crate::support::{ondeck, stderr, stdout};

const SAMPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../ondeck-report/tests/data/sample-report.json");

/// A machine file with one section of its own.
fn machine(section: &str) -> String {
    format!("name = \"mine\"\nabout = \"a test\"\nbase = \"ryzen-7-1700\"\n{section}\n")
}

#[test]
fn a_wrong_file_or_value_is_named_with_the_fix_and_nothing_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("dir")).expect("a folder");
    let sample = fs::read_to_string(SAMPLE).expect("the sample");
    for (name, text) in [
        ("empty.json", ""),
        ("infinite.json", &sample.replacen("\"median\": ", "\"median\": 1e999, \"old\": ", 1)),
        ("v99.json", r#"{"kind":"ondeck recording","version":99}"#),
        ("v99.jsonl", r#"{"type":"profile","version":99}"#),
        ("cut.jsonl", "{\"type\":\"profile\",\"version\":1}\n{\"type\":\"lo"),
        ("idle.jsonl", r#"{"type":"profile","version":1}"#),
        ("deep.json", &"[".repeat(100_000)),
        ("deep.toml", &format!("a = {}", "[".repeat(100_000))),
        ("negative.toml", &machine("[class.zen]\nrmw = { value = -3, from = \"a test\" }")),
        ("nan.toml", &machine("[topology]\nsmt = { value = nan, from = \"a test\" }")),
        ("no_source.toml", &machine("[class.zen]\nrmw = { value = 5 }")),
    ] {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    fs::write(folder.path().join("binary.toml"), b"\xff\xfe").expect("a file");
    let before = fs::read_dir(folder.path()).expect("the folder").count();

    for (line, words) in [
        // Files.
        ("compare dir dir", &["dir", "name a report"][..]),
        ("compare empty.json empty.json", &["empty.json", "is empty", "measure again"]),
        ("compare infinite.json infinite.json", &["infinite.json", "not finite", "measure"]),
        ("sim --machine dir", &["dir", "give a machine file"]),
        ("sim --machine=", &["\"\"", "epyc-9454p"]),
        ("sim --machine binary.toml", &["binary.toml", "UTF-8", "give a machine file"]),
        ("sim --machine negative.toml", &["negative.toml:5", "rmw = -3", "0.5 to 200"]),
        ("sim --machine nan.toml", &["nan.toml:5", "smt", "nan", "1 to 2"]),
        ("sim --machine no_source.toml", &["no_source.toml:5", "rmw", "from = "]),
        ("sim --replay dir", &["dir", "--record"]),
        ("sim --replay v99.json", &["version 99", "record the program again"]),
        ("advise --profile dir", &["dir", "--profile FILE.jsonl"]),
        ("advise --profile v99.jsonl", &["v99.jsonl", "version 99", "record the program again"]),
        ("advise --profile cut.jsonl", &["cut.jsonl", "line 2", "record the program again"]),
        ("advise --from dir", &["dir", "name a report"]),
        ("merge dir empty.json --json all.json", &["dir", "name a report"]),
        ("man --folder empty.json", &["empty.json", "name a folder"]),
        ("bench --json empty.json/r.json", &["empty.json/r.json", "name a file in a folder"]),
        ("bench --json /proc/r.json", &["/proc/r.json", "that you may write"]),
        ("costs --machine-file dir", &["dir", "name a file in it"]),
        ("run --record dir true", &["dir", "name a file in it"]),
        ("run --profile dir true", &["'dir'", ".html"]),
        ("compare deep.json deep.json", &["deep.json", "not JSON"]),
        ("sim --replay deep.json", &["deep.json", "--record"]),
        ("sim --machine deep.toml", &["deep.toml:1", "`a = [["]),
        ("advise --profile idle.jsonl", &["idle.jsonl", "no lock that a thread waited for"]),
        ("advise --profile deep.json", &["deep.json", "--profile FILE.jsonl"]),
        ("merge empty.json --json x --csv x", &["same file", "give each its own"]),
        ("run --record a.html --profile a.html true", &["same file"]),
        // Numbers.
        ("bench --shard 3/2", &["'3/2'", "1 to 2"]),
        ("bench --data 99999999", &["'99999999'", "0 to 16384"]),
        ("bench --capacity 0", &["'0'", "1 to 1000000"]),
        ("bench --threads 1,,2", &["''", "1 to 4096"]),
        ("bench --work 1e30,1", &["'1e30,1'", "100,500"]),
        ("advise --reads 42", &["'42'", "99.9"]),
        ("advise --fairness 0ms", &["'0ms'", "10ms"]),
        ("advise --time 0s", &["'0s'", "1s to 30m"]),
        ("sim --replay v99.json --shorter f=500%", &["500%", "0% to 100%"]),
        ("costs --rounds 1000000000000", &["'1000000000000'", "1 to 100000"]),
        ("bench --duration NaNs", &["'NaNs'", "100ms"]),
        ("bench --duration -5ms", &["'-5ms'", "100ms"]),
        ("bench --duration --quick", &["'--quick'", "100ms"]),
        ("bench --threads 1e9", &["'1e9'", "1 to 4096"]),
        ("bench --seed -1", &["'-1'", "0 to 18446744073709551615"]),
        ("sim --seed 99999999999999999999", &["'99999999999999999999'", "whole number"]),
        ("compare a b --alpha -1", &["'-1'", "0.5"]),
        ("compare a b --fail-above -5%", &["'-5%'", "0% to 1000%"]),
        ("advise --cpus 0", &["'0'", "1 to 4096 CPUs"]),
        ("advise --work nan,nan", &["'nan,nan'", "100,500"]),
        ("run --compare --runs 0 true", &["'0'", "runs"]),
        ("attach -1", &["'-1'", "ps -e"]),
        ("attach 99999999999", &["'99999999999'", "1 to 4194304"]),
        ("attach init", &["'init'", "ps -e"]),
        // Names.
        ("advise --now ondek", &["`ondek`", "ondeck list"]),
        ("completions tcsh", &["'tcsh'", "zsh"]),
        ("sim --machine M2", &["\"M2\"", "m1"]),
    ] {
        let mut command = ondeck(&line.split(' ').collect::<Vec<_>>());
        let output = command.current_dir(folder.path()).output().expect("the command starts");
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        for word in words {
            assert!(message.contains(word), "{line} should name {word}: {message}");
        }
        assert!(stdout(&output).is_empty() && !message.contains("panicked"), "{line}: {message}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), before);
}

#[test]
fn a_file_that_is_read_is_not_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    fs::copy(SAMPLE, path("r.json")).expect("the sample");
    std::os::unix::fs::symlink("r.json", path("link.json")).expect("a link");
    fs::write(path("m.toml"), machine("")).expect("a file");
    for line in [
        "compare r.json r.json --json ./r.json",
        "merge r.json --json link.json",
        "merge r.json --json m.json --html r.json",
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
