//! The tables of docs/validation.md, written from the records.

use std::fmt::Write;
use std::{fs, io};

use super::record::{Record, root};
use super::verdict::Verdict;

/// Where the tables are on the page.
const START: &str = "<!-- summary -->\n";
const END: &str = "<!-- end of summary -->";

/// Returns the current page, and the page that these verdicts and their records give.
///
/// # Errors
///
/// If the page cannot be read, or has no place for the tables.
pub fn both(recorded: &[(Verdict, Record)]) -> io::Result<(String, String)> {
    let page = fs::read_to_string(path())?;
    let split = page.split_once(START).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some((before, after))
    });
    let (before, after) = split.ok_or_else(|| io::Error::other("the page has no summary"))?;
    let right = format!("{before}{START}\n{}\n{END}{after}", tables(recorded));
    Ok((page, right))
}

/// The page's file.
pub fn path() -> std::path::PathBuf {
    root().join("docs/validation.md")
}

fn tables(recorded: &[(Verdict, Record)]) -> String {
    let mut out = summary(recorded.iter().map(|(verdict, _)| verdict));
    out.push_str(
        "\n| table | rows | seeds | engine's tree | simulated on |\n|---|---|---|---|---|\n",
    );
    for (verdict, record) in recorded {
        let made = &record.made;
        let engine = made.engine.get(..12).unwrap_or(&made.engine);
        // Writing to a string cannot fail.
        _ = writeln!(
            out,
            "| [`{name}`](results/validation/{name}.csv) | {} of {} | {} | `{engine}` | {} |",
            record.numbers.iter().flatten().count(),
            record.numbers.len(),
            made.seeds,
            made.date,
            name = verdict.name,
        );
    }
    out
}

/// The table of how well the simulator and the baseline agree with each published table.
pub fn summary<'a>(verdicts: impl Iterator<Item = &'a Verdict>) -> String {
    let mut out = String::from(
        "| table | by | numbers | median factor | 90 % within | all ranks | ranks of locks |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for verdict in verdicts {
        for (place, (by, figures)) in verdict.lines().into_iter().enumerate() {
            let name = if place == 0 { format!("`{}`", verdict.name) } else { String::new() };
            let [factor, ninetieth, points, locks] = figures.words();
            _ = writeln!(
                out,
                "| {name} | {by} | {} | {factor} | {ninetieth} | {points} | {locks} |",
                figures.numbers
            );
        }
    }
    out
}
