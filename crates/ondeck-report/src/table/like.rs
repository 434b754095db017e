//! An article's tables beside this machine's.

use std::fmt::Write;

use crate::like::{Beside, Line};
use crate::numbers::terminal::significant;

/// The tables, one below the other.
pub fn render(beside: &Beside) -> String {
    let article = beside.article;
    let mut text = format!("like {}\ntheirs: {}\n", article.source, article.machine);
    for table in &beside.tables {
        let name = |width: usize, row: &Line| width.max(row.name.chars().count());
        let wide = table.rows.iter().fold(table.what.chars().count(), name);
        _ = writeln!(text, "\n{:wide$}  {:>7}  {:>7}", table.what, "theirs", "here");
        for row in &table.rows {
            let written = |value: Option<f64>| value.map_or("-".to_owned(), significant);
            let (theirs, ours) = (written(row.theirs), written(row.ours));
            let line = format!("{:wide$}  {theirs:>7}  {ours:>7}  {}", row.name, row.verdict);
            _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}
