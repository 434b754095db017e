//! For a file that is not a report, one line names the file, the problem and the remedy.

use std::path::Path;

use ondeck_report::{json, read};

use crate::support::{report, throughput};

fn refused(bytes: &[u8]) -> String {
    let line = read::text("r.json", bytes).expect_err("no report").to_string();
    assert!(line.starts_with("r.json: ") && line.contains("; "), "{line}");
    assert!(!line.contains('\n') && line.chars().count() < 400, "{line}");
    line
}

fn good() -> String {
    json::render(&report(vec![throughput("lock", 8, &[1.5, 2.5])]))
}

#[test]
fn a_report_is_read_as_it_was_written() {
    let read = read::text("r.json", good().as_bytes()).expect("a report");
    assert_eq!(json::render(&read), good());
}

#[test]
fn each_way_to_be_wrong_has_its_words() {
    let good = good();
    for (text, words) in [
        (String::new(), "is empty"),
        (" \n".to_owned(), "is empty"),
        (good[..good.len() / 2].to_owned(), "is cut off at line"),
        (good.replace("\"schema\": 1", "\"schema\": 2"), "has schema 2, and this program reads 1"),
        (good.replace("\"schema\": 1", "\"schema\": \"x\\u001b[2J\""), "has schema"),
        (good.replace("\"measured\"", "\"\\u001b[2J\\n\""), "unknown variant"),
        ("workload,lock\nthroughput,std\n".to_owned(), "is not JSON"),
        ("{}".to_owned(), "is JSON and not a report"),
        ("[1, 2]".to_owned(), "is not"),
        ("7".to_owned(), "is not a whole report"),
        (good.replace("\"machine\"", "\"mashine\""), "missing field `machine`"),
        (good.replace("2.5", "null"), "a number that is not finite at line"),
        (good.replace("2.5", "1e999"), "a number that is not finite at line"),
        (good.replace("2.5", "\"two\""), "is not a whole report"),
        (good.replace("2.5", "NaN"), "is not JSON"),
        ("[".repeat(1 << 20), "is not JSON: recursion"),
        (format!("{{\"schema\": {}", "[".repeat(1 << 20)), "is not JSON: recursion"),
        (format!("{{\"x\": {}", "{\"a\":".repeat(1 << 20)), "is cut off"),
    ] {
        let line = refused(text.as_bytes());
        assert!(line.contains(words), "{words}: {line}");
        assert!(!line.contains('\u{1b}'), "{line:?}");
    }
}

#[test]
fn a_compressed_report_is_named() {
    assert!(refused(b"\x1f\x8b\x08\x00").contains("is compressed by gzip"));
}

#[test]
fn a_series_that_is_there_twice_is_refused() {
    let twice = report(vec![throughput("lock", 8, &[1.0]), throughput("lock", 8, &[2.0])]);
    let line = refused(json::render(&twice).as_bytes());
    assert!(line.contains("two series of throughput, lock, 8 threads"), "{line}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    for path in [folder.path().join("missing.json"), folder.path().to_owned()] {
        let line = read::file(&path).expect_err("no file").to_string();
        assert!(
            line.contains(&path.display().to_string()) && line.contains("cannot be read"),
            "{line}"
        );
    }
    assert!(
        read::file(Path::new(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/data/sample-report.json"
        )))
        .is_ok()
    );
}
