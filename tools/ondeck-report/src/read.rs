//! Reads reports. Whatever a file contains, the outcome is a report or one line that names the
//! file, the mistake and the remedy.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use ondeck_lab::results::{Report, SCHEMA_VERSION};
use serde::Deserialize;
use serde_json::error::Category;

/// The name that stands for standard input.
pub const STANDARD_INPUT: &str = "-";

/// No report is longer: one of `--full` is some tens of megabytes.
const MOST_BYTES: u64 = 1 << 30;

/// Why a report cannot be read, in one line.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {problem}; {fix}")]
pub struct Unreadable {
    /// The file, as the user wrote it.
    pub name: String,
    /// The problem.
    pub problem: String,
    /// The remedy.
    pub fix: &'static str,
}

const GIVE_A_REPORT: &str = "give a file that `ondeck bench --json` wrote";

/// The beginning of a compressed file.
const GZIP: &[u8] = b"\x1f\x8b";

/// Only the version; ignores everything else.
#[derive(Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
}

/// Reads a file, or standard input for [`STANDARD_INPUT`].
///
/// # Errors
/// [`Unreadable`] for any problem.
pub fn file(path: &Path) -> Result<Report, Unreadable> {
    let standard_input = path == Path::new(STANDARD_INPUT);
    let name =
        if standard_input { "standard input".to_owned() } else { path.display().to_string() };
    let bytes =
        if standard_input { at_most(io::stdin()) } else { File::open(path).and_then(at_most) };
    match bytes {
        Ok(bytes) => text(&name, &bytes),
        Err(error) => Err(Unreadable {
            name,
            problem: format!("cannot be read: {error}"),
            fix: "name a report that exists and that you may read",
        }),
    }
}

/// Reads one byte more than the limit, which shows that there are too many.
fn at_most(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Parses a report that is already in memory; `name` is for the error.
///
/// # Errors
///
/// [`Unreadable`] for any problem.
pub fn text(name: &str, bytes: &[u8]) -> Result<Report, Unreadable> {
    let wrong = |problem: String, fix| Unreadable { name: name.to_owned(), problem, fix };
    if bytes.len() as u64 > MOST_BYTES {
        return Err(wrong("is longer than 1 GiB, which no report is".to_owned(), GIVE_A_REPORT));
    }
    if bytes.starts_with(GZIP) {
        return Err(wrong("is compressed by gzip".to_owned(), "unpack it with `gunzip`"));
    }
    if bytes.trim_ascii().is_empty() {
        return Err(wrong("is empty".to_owned(), "measure again, and let the run end"));
    }
    let head: Head = serde_json::from_slice(bytes).map_err(|error| {
        let (problem, fix) = in_words(&error);
        wrong(problem, fix)
    })?;
    match head.schema {
        None => return Err(wrong("is JSON and not a report".to_owned(), GIVE_A_REPORT)),
        Some(version) if version != SCHEMA_VERSION => {
            let version = one_line(&version.to_string());
            let problem = format!("has schema {version}, and this program reads {SCHEMA_VERSION}");
            return Err(wrong(problem, "read it with the ondeck that wrote it"));
        }
        Some(_) => {}
    }
    let report: Report = serde_json::from_slice(bytes).map_err(|error| {
        let (problem, fix) = in_words(&error);
        wrong(problem, fix)
    })?;
    let mut seen = BTreeSet::new();
    for series in &report.series {
        if !seen.insert(series.key()) {
            let params = series.params_word();
            let problem = format!(
                "has two series of {}, {}, {} threads, {params}",
                series.workload, series.lock, series.threads
            );
            return Err(wrong(one_line(&problem), GIVE_A_REPORT));
        }
    }
    Ok(report)
}

/// The parser's error, and the remedy.
fn in_words(error: &serde_json::Error) -> (String, &'static str) {
    /// JSON's substitute for a number that is not finite.
    const NULL: &str = "invalid type: null, expected f64";
    /// A number too great for a double, such as 1e999.
    const TOO_GREAT: &str = "number out of range";
    let words = one_line(&error.to_string());
    let place = format!("line {} column {}", error.line(), error.column());
    if words.starts_with(NULL) || words.starts_with(TOO_GREAT) {
        let problem = format!("has a number that is not finite at {place}");
        return (problem, "measure that series again, with longer rounds");
    }
    match error.classify() {
        Category::Eof => (format!("is cut off at {place}"), "copy it again, or measure again"),
        Category::Data => (format!("is not a whole report: {words}"), GIVE_A_REPORT),
        Category::Syntax | Category::Io => (format!("is not JSON: {words}"), GIVE_A_REPORT),
    }
}

/// A message may quote the file: only what fits in a line, and nothing that moves the cursor.
fn one_line(text: &str) -> String {
    const MOST: usize = 200;
    let plain = |letter: char| if letter.is_control() { ' ' } else { letter };
    let mut letters = text.chars();
    let mut line: String = letters.by_ref().take(MOST).map(plain).collect();
    if letters.next().is_some() {
        line.push('…');
    }
    line
}
