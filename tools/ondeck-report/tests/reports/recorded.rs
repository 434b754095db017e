//! The recorded reports and their formats: the digests of the texts must not change.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use ondeck_lab::results::Report;
use ondeck_report::read;

use crate::golden::{data, digest, is_written};

/// A report with at least one of everything.
pub fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ondeck-report/tests/data/sample-report.json")
}

/// The recorded reports with their names. A report that was recorded again is not checked until its
/// lines are rewritten.
pub fn recorded() -> Vec<(String, Report)> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
    let mut paths = vec![sample()];
    for folder in [docs.join("findings"), docs] {
        let files = fs::read_dir(folder).expect("the folder is there");
        let files = files.map(|file| file.expect("a file").path());
        paths.extend(files.filter(|path| path.extension().is_some_and(|end| end == "json")));
    }
    paths.sort();
    let report = |path: PathBuf| {
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("a report");
        (format!("{name} {}", digest(&text)), read::file(&path).expect("a report"))
    };
    paths.into_iter().map(report).collect()
}

/// The digests of texts, a line each.
#[derive(Default)]
pub struct Digests(String);

impl Digests {
    /// Adds the report of that name in `format`.
    pub fn add(&mut self, report: &str, format: &str, text: &str) {
        _ = writeln!(self.0, "{report} {format} {}", digest(text));
    }

    /// Fails unless the golden file has the same lines, and more than `least` of them; or rewrites
    /// it.
    pub fn assert_golden(&self, least: usize) {
        let path = data("golden.txt");
        if is_written(&path, &self.0) {
            return;
        }
        let known = fs::read_to_string(&path).expect("a golden file");
        let key = |line: &str| line.rsplit_once(' ').map(|(key, _)| key.to_owned());
        let known: BTreeMap<_, _> = known.lines().map(|line| (key(line), line)).collect();
        let mut same = 0;
        for line in self.0.lines() {
            let Some(expected) = known.get(&key(line)) else {
                let is_recorded = !line.starts_with("everything") && !line.starts_with("sample");
                assert!(is_recorded, "no golden line for {line}");
                continue;
            };
            assert_eq!(*expected, line);
            same += 1;
        }
        assert!(same > least, "{same} lines are in {}", path.display());
    }
}
