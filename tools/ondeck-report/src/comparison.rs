//! A comparison for a terminal.

use std::fmt::Write;

use ondeck_lab::results::Better;
use ondeck_text::grid::Grid;

use super::table::marked;
use crate::compare::{Comparison, Row, Side, Table, place};
use crate::compared::{factor, in_unit};

/// Further series without a partner are only counted.
const MOST_LONE: usize = 5;

/// The legend, the tables, and the series of one side only. `colour` allows escape sequences.
pub fn render(comparison: &Comparison, colour: bool) -> String {
    let mut text = String::new();
    if let Some(Table { other: None, base, .. }) = comparison.tables.first() {
        _ = writeln!(text, "A  {base}\nB  the lock of the row");
    } else {
        for (index, file) in comparison.files.iter().enumerate() {
            _ = writeln!(text, "{}  {file}", letter(index));
        }
    }
    for table in &comparison.tables {
        let better = match table.better {
            Better::Higher => ", higher is better",
            Better::Lower => ", lower is better",
            Better::Neither => "",
        };
        let place = place(&table.workload, &table.params);
        let rounds = rounds(table).map_or(String::new(), |rounds| format!(", n={rounds}"));
        let body = body(comparison, table, colour);
        _ = writeln!(text, "\n{place}: {} in {}{better}{rounds}\n{body}", table.metric, table.unit);
    }
    for lone in comparison.lone.iter().take(MOST_LONE) {
        let place = place(&lone.workload, &lone.params);
        let why = lone.failure.as_ref().map_or(String::new(), |kind| format!(" ({kind})"));
        _ = writeln!(
            text,
            "\nonly in {}: {}, {place}, {} threads{why}",
            lone.file, lone.lock, lone.threads
        );
    }
    if comparison.lone.len() > MOST_LONE {
        _ = writeln!(text, "\nand {} more on one side only", comparison.lone.len() - MOST_LONE);
    }
    text
}

fn letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(index @ 0..26) => char::from(b'A' + index).to_string(),
        _ => format!("#{}", index + 1),
    }
}

fn body(comparison: &Comparison, table: &Table, colour: bool) -> String {
    let other = table.other.as_ref().map_or("B".to_owned(), |other| {
        // The first file may be compared with itself.
        letter(1 + comparison.files.iter().skip(1).position(|file| file == other).unwrap_or(0))
    });
    let ratio_of = format!("{other}/A");
    // Without the digits that only the binary fraction has.
    let confidence = format!("{} %", ((1.0 - comparison.alpha) * 1e6).round() / 1e4);
    let mut header = vec!["lock", "thr", "A", &other, &ratio_of, &confidence, "p"];
    let counted = rounds(table).is_none();
    if counted {
        header.push("n");
    }
    let mut rows = Grid::new(&header, colour);
    for row in &table.rows {
        let mut cells = vec![
            marked(&row.lock, row.base.partial || row.other.partial),
            row.threads.to_string(),
            side(row.base, &table.unit),
            side(row.other, &table.unit),
            ratio(row),
            interval(row),
            p_value(row),
        ];
        if counted {
            cells.push(format!("{}+{}", row.base.n, row.other.n));
        }
        rows.add_row(cells);
    }
    if let Some(mean) = table.geomean.filter(|_| table.rows.len() > 1) {
        let all = mean.rows == table.rows.len();
        rows.add_row([
            format!(
                "geometric mean{}",
                if all { String::new() } else { format!(" of {}", mean.rows) }
            ),
            String::new(),
            in_unit(mean.base, &table.unit),
            in_unit(mean.other, &table.unit),
            factor(mean.ratio),
        ]);
    }
    rows.right_align(&[1, 2, 3, 4, 5, 6, 7]);
    rows.render()
}

/// The number of rounds on every side of every row, if it is the same.
fn rounds(table: &Table) -> Option<usize> {
    let first = table.rows.first()?.base.n;
    table.rows.iter().all(|row| (row.base.n, row.other.n) == (first, first)).then_some(first)
}

/// "-" where there are too few samples.
pub(crate) fn interval(row: &Row) -> String {
    let ends = |(low, high)| format!("{}-{}", factor(low), factor(high));
    row.interval.map_or("-".to_owned(), ends)
}

pub(crate) fn p_value(row: &Row) -> String {
    if row.p < 0.001 { "<.001".to_owned() } else { format!("{:.3}", row.p) }
}

/// "~" where the difference does not count.
pub(crate) fn ratio(row: &Row) -> String {
    match (row.differs, row.ratio) {
        (false, _) => "~".to_owned(),
        (true, Some(ratio)) => factor(ratio),
        (true, None) => "-".to_owned(),
    }
}

/// `13.2ns ±2%`, the spread as a part of the median.
pub(crate) fn side(side: Side, unit: &str) -> String {
    let median = in_unit(side.median, unit);
    let cut = if side.cut_runs > 0 { ">" } else { "" };
    if side.median == 0.0 || side.n < 2 {
        return format!("{cut}{median}");
    }
    let percent = (side.spread / side.median.abs() * 100.0).round();
    // Above a hundred per cent it is no longer a spread around a median.
    let percent = if percent < 100.0 { format!("{percent:.0}") } else { ">99".to_owned() };
    format!("{cut}{median} ±{percent}%")
}
