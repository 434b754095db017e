//! A program's runs with one lock and with others, for a terminal: a row for each quantity, where a
//! comparison of workloads has a table.

use ondeck_lab::sample::{CPU_PER_OP, INVOLUNTARY, RUN, VOLUNTARY};

use crate::compare::Comparison;
use crate::comparison::{interval, p_value, ratio, side};
use crate::table::{marked, new_table, right_align};

/// Which lock is compared with which, and the table. `colour` allows escape sequences.
pub fn render(comparison: &Comparison, colour: bool) -> String {
    let base = comparison.tables.first().map_or("", |table| &table.base);
    let confidence = format!("{} %", ((1.0 - comparison.alpha) * 1e6).round() / 1e4);
    let header = ["", "lock", "A", "B", "B/A", &confidence, "p", "n"];
    let mut rows = new_table(&header, colour);
    for table in &comparison.tables {
        let mut name = in_words(&table.metric);
        for row in &table.rows {
            rows.add_row([
                std::mem::take(&mut name),
                marked(&row.lock, row.base.partial || row.other.partial),
                side(row.base, &table.unit),
                side(row.other, &table.unit),
                ratio(row),
                interval(row),
                p_value(row),
                format!("{}+{}", row.base.n, row.other.n),
            ]);
        }
    }
    right_align(&mut rows, &[2, 3, 4, 5, 6, 7]);
    format!("A  {base}\nB  the lock of the row; less is better everywhere\n\n{}\n", rows.trim_fmt())
}

/// What a quantity is when the operation is a whole run.
fn in_words(metric: &str) -> String {
    let known = [
        (RUN.name, "wall time"),
        (CPU_PER_OP.name, "CPU time"),
        (VOLUNTARY.name, "switches, voluntary"),
        (INVOLUNTARY.name, "switches, involuntary"),
        ("max_rss", "most memory"),
    ];
    let words = known.iter().find(|(name, _)| *name == metric).map_or(metric, |(_, words)| words);
    words.to_owned()
}
