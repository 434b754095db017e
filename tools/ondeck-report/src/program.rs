//! A program's runs with one lock and with others, for a terminal. Each of the others has a table
//! with a row for each quantity, whereas a comparison of workloads has a table for each quantity.

use std::fmt::Write;

use ondeck_lab::sample::{CPU_PER_OP, INVOLUNTARY, RUN, VOLUNTARY};
use ondeck_text::grid::Grid;

use crate::compare::Comparison;
use crate::comparison::{interval, p_value, ratio, side};
use crate::table::marked;

/// The peak memory of a program.
pub const MAX_RSS: &str = "max_rss";

/// The number that a program prints itself.
pub const PRINTED: &str = "printed";

/// The tables, at most 80 columns wide. `colour` allows escape sequences.
pub fn render(comparison: &Comparison, colour: bool) -> String {
    let mut text = String::new();
    let Some(first) = comparison.tables.first() else { return text };
    let better = if first.metric == PRINTED {
        "more is better for its own number, less elsewhere"
    } else {
        "less is better everywhere"
    };
    for (index, row) in first.rows.iter().enumerate() {
        let base = &first.base;
        let partial = row.base.partial || row.other.partial;
        let lock = marked(&row.lock, partial);
        _ = writeln!(
            text,
            "A  {base}, {} runs\nB  {lock}, {} runs; {better}\n\n{}\n",
            row.base.n,
            row.other.n,
            body(comparison, index, colour)
        );
    }
    text
}

/// The rows of one lock, by its index among the others.
fn body(comparison: &Comparison, index: usize, colour: bool) -> String {
    let confidence = format!("{} %", ((1.0 - comparison.alpha) * 1e6).round() / 1e4);
    let mut rows = Grid::new(&["", "A", "B", "B/A", &confidence, "p"], colour);
    for table in &comparison.tables {
        let Some(row) = table.rows.get(index) else { continue };
        rows.add_row([
            in_words(&table.metric),
            side(row.base, &table.unit),
            side(row.other, &table.unit),
            ratio(row),
            interval(row),
            p_value(row),
        ]);
    }
    rows.right_align(&[1, 2, 3, 4, 5]);
    rows.render()
}

/// The words for a quantity when the operation is a whole run.
fn in_words(metric: &str) -> String {
    let known = [
        (PRINTED, "its own number"),
        (RUN.name, "wall time"),
        (CPU_PER_OP.name, "CPU time"),
        (VOLUNTARY.name, "voluntary switches"),
        (INVOLUNTARY.name, "involuntary switches"),
        (MAX_RSS, "most memory, bytes"),
    ];
    known.iter().find(|(name, _)| *name == metric).map_or(metric, |(_, words)| words).to_owned()
}
