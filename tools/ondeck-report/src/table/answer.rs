//! The answer: a row for each kind of situation, a column for each lock.

use std::fmt::Write;

use crate::answer::{Answer, written};

const SHARE: &str =
    "share: of the least served thread, by the most served one's, short sections.\n";

/// The lines of the answer, each at most 80 columns wide if the locks have short names.
pub fn render(answer: &Answer) -> String {
    let first = format!("speed, {} = 1", answer.reference);
    let wide = answer.rows.iter().map(|row| row.question.name.len()).chain([first.len()]).max();
    let wide = wide.unwrap_or(0);
    let across: Vec<usize> = answer.locks.iter().map(|lock| lock.len().max(4)).collect();
    let line = |head: &str, cells: &[String], last: &str| {
        let mut line = format!("{head:wide$}");
        for (cell, across) in cells.iter().zip(&across) {
            _ = write!(line, "  {cell:>across$}");
        }
        format!("{line}  {last}").trim_end().to_owned() + "\n"
    };
    let mut text = line(&first, &answer.locks, "leads");
    for row in &answer.rows {
        let cells: Vec<String> = row
            .times
            .iter()
            .map(|times| times.map_or("-".to_owned(), |times| written(times.median)))
            .collect();
        text += &line(row.question.name, &cells, &row.leaders_in_words(&answer.locks));
    }
    if let Some((threads, shares)) = &answer.share {
        let cells: Vec<String> = shares
            .iter()
            .map(|share| share.map_or("-".to_owned(), |share| format!("{share:.2}")))
            .collect();
        text += &line(&format!("share, {threads} threads"), &cells, "1 is even");
        text += SHARE;
    }
    text += "=: not told apart, because their quartiles overlap: choose by something else.\n";
    text
}
