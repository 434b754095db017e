//! Tables with locks down and quantities across.

use ondeck_lab::results::{Better, Series};
use ondeck_lab::workload::face::Column;

use super::{marked, new_table, right_align, written};

/// One row for each lock, the best of the first column that has a better and a worse on top.
pub(super) fn table(series: &[&Series], columns: &[Column], colour: bool) -> String {
    let mut rows = series.to_vec();
    if let Some(Column(_, quantity, _)) = columns.first() {
        let key = |series: &Series| match series.metric(quantity.name) {
            Some(metric) if metric.better == Better::Higher => -metric.median,
            Some(metric) => metric.median,
            None => f64::INFINITY,
        };
        rows.sort_by(|one, other| key(one).total_cmp(&key(other)));
    }
    let mut header = vec!["lock"];
    header.extend(columns.iter().map(|Column(title, ..)| *title));
    let mut table = new_table(&header, colour);
    for one in rows {
        let mut row = vec![marked(&one.lock, one.partial)];
        row.extend(columns.iter().map(|Column(_, quantity, shown)| {
            let metric = one.metric(quantity.name);
            metric.map_or("-".to_owned(), |metric| written(*shown, metric.median))
        }));
        table.add_row(row);
    }
    right_align(&mut table, &(1..header.len()).collect::<Vec<_>>());
    table.trim_fmt()
}
