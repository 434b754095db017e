//! Runs as their source shows them: the average run and the four longest times.

use ondeck_lab::results::Series;
use ondeck_lab::sample::{LONGEST, RUN};

use super::{marked, new_table, right_align};
use crate::numbers::terminal::{in_one_unit, time};

/// One row for each lock, the one with the shortest of its longest on top.
pub(super) fn table(series: &[&Series], colour: bool) -> String {
    let mut rows: Vec<&Series> = series.to_vec();
    let longest =
        |series: &Series| series.metric(LONGEST.name).map_or(f64::MAX, |metric| metric.max);
    rows.sort_by(|one, other| longest(one).total_cmp(&longest(other)));
    let mut table =
        new_table(&["lock", "run", "four longest", "least", "p50", "p99", "p99.9", "runs"], colour);
    for one in rows {
        let run = one.metric(RUN.name);
        let mean = run
            .map_or(0.0, |run| run.samples.iter().sum::<f64>() / run.samples.len().max(1) as f64);
        let mut longest =
            one.metric(LONGEST.name).map_or(Vec::new(), |metric| metric.samples.clone());
        longest.sort_by(|one, other| other.total_cmp(one));
        let runs = longest.len();
        longest.truncate(4);
        let percentile = |wanted: f64| {
            one.distribution
                .as_ref()
                .and_then(|times| times.percentiles.iter().find(|(p, _)| (p - wanted).abs() < 1e-9))
                .map_or("-".to_owned(), |&(_, nanos)| time(nanos as f64))
        };
        let least =
            one.distribution.as_ref().map_or("-".to_owned(), |times| time(times.min_ns as f64));
        table.add_row([
            marked(&one.lock, one.partial),
            format!("{}{}", if one.cut_runs > 0 { ">" } else { "" }, time(mean * 1e6)),
            in_one_unit(&longest),
            least,
            percentile(50.0),
            percentile(99.0),
            percentile(99.9),
            runs.to_string(),
        ]);
    }
    right_align(&mut table, &[1, 2, 3, 4, 5, 6, 7]);
    // Eight columns fit a terminal only with a single space between them.
    for column in table.column_iter_mut() {
        column.set_padding((0, 0));
    }
    table.trim_fmt()
}
