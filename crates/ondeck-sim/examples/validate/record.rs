//! The recorded numbers of a table: docs/results/validation/TABLE.csv.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::Command;
use std::{fs, io};

use super::case::Table;

/// The origin of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The git tree of the engine's sources.
    pub engine: String,
    /// The date, year first.
    pub date: String,
    /// Seeds; each number is their median.
    pub seeds: u64,
}

/// The numbers of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The origin of the numbers.
    pub made: Made,
    /// The number of each case; `None` if it was not simulated.
    pub numbers: Vec<Option<f64>>,
}

/// The engine's sources in the project.
const ENGINE: &str = "crates/ondeck-sim/src/engine";

impl Made {
    /// Describes a record that is made now.
    ///
    /// # Errors
    ///
    /// If the engine's sources differ from the committed ones: the numbers could then not be reproduced.
    pub fn now(seeds: u64) -> io::Result<Self> {
        let changes = output("git", &["status", "--porcelain", "--", ENGINE])?;
        if !changes.is_empty() {
            return Err(io::Error::other(format!("{ENGINE} is not committed:\n{changes}")));
        }
        let engine = output("git", &["rev-parse", &format!("HEAD:{ENGINE}")])?;
        Ok(Self { engine, date: output("date", &["-u", "+%F"])?, seeds })
    }
}

/// Runs a program in the project's root and returns its output.
fn output(program: &str, arguments: &[&str]) -> io::Result<String> {
    let done = Command::new(program).args(arguments).current_dir(root()).output()?;
    if !done.status.success() {
        return Err(io::Error::other(String::from_utf8_lossy(&done.stderr).into_owned()));
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

/// The root of the project.
pub fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The table's file.
pub fn path(table: &str) -> PathBuf {
    root().join(format!("docs/results/validation/{table}.csv"))
}

const COLUMNS: &str = "series,threads,lock,of_the_zoo,published,simulated";

impl Record {
    /// The file's text.
    pub fn text(&self, table: &Table) -> String {
        let Made { engine, date, seeds } = &self.made;
        let mut out = format!(
            "# Simulated numbers beside the published ones; rows without one were not simulated. Written by: validate --record {}\n\
             # engine {engine}\n# date {date}\n# seeds {seeds}\n{COLUMNS}\n",
            table.name
        );
        for (case, number) in table.cases.iter().zip(&self.numbers) {
            let number = number.map_or(String::new(), |number| number.to_string());
            // Writing to a string cannot fail.
            _ = writeln!(out, "{},{number}", row(case));
        }
        out
    }

    /// The recorded numbers of the table.
    ///
    /// # Errors
    ///
    /// If there is no record, or its rows differ from the table's.
    pub fn read(table: &Table) -> io::Result<Self> {
        let path = path(table.name);
        let text = fs::read_to_string(&path)?;
        Self::parse(table, &text).ok_or_else(|| {
            let (path, name) = (path.display(), table.name);
            io::Error::other(format!("{path} is old: validate --record {name}"))
        })
    }

    fn parse(table: &Table, text: &str) -> Option<Self> {
        let head = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
        let made = Made {
            engine: head("# engine ")?.to_owned(),
            date: head("# date ")?.to_owned(),
            seeds: head("# seeds ")?.parse().ok()?,
        };
        let mut rows = text.lines().filter(|line| !line.starts_with('#'));
        if rows.next() != Some(COLUMNS) {
            return None;
        }
        let mut numbers = Vec::new();
        for case in &table.cases {
            let number = rows.next()?.strip_prefix(&row(case))?.strip_prefix(',')?;
            numbers.push(if number.is_empty() { None } else { Some(number.parse().ok()?) });
        }
        rows.next().is_none().then_some(Self { made, numbers })
    }
}

/// A case's row without the simulated number.
fn row(case: &super::case::Case) -> String {
    let of = &case.published;
    format!("\"{}\",{},\"{}\",{},{}", case.series, of.threads, case.lock, of.ours, of.value)
}
