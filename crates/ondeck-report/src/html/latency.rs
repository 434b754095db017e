//! Workloads whose runs end by count and record single times: how long threads waited, or a lock stayed free.

use maud::{Markup, html};
use ondeck_lab::results::{Better, Distribution, Metric, Report, Series};
use ondeck_lab::sample::{LONGEST, RUN};
use ondeck_lab::workload;

use super::axis::{Axis, Edge};
use super::distribution::{self, Ridge};
use super::figure::{Caption, Span, figure, slug};
use super::idles;
use super::reach;
use super::rows::{Kind, Row};
use super::tables::{self, Cell};
use super::theme::Palette;
use crate::data;
use crate::numbers::page::{self as number, milliseconds, time};

/// Percentiles in the table.
const PERCENTILES: [(f64, &str); 4] =
    [(50.0, "median"), (90.0, "90 %"), (99.0, "99 %"), (99.9, "99.9 %")];

/// The section of such a workload.
pub fn section(report: &Report, palette: &Palette, workload: &str) -> Markup {
    let series = data::of_workload(report, workload);
    let groups =
        data::grouped(series.iter().copied(), |series| (series.params.clone(), series.threads));
    html! {
        @if let Some(lead) = data::lead(workload) { p.lead { (lead) } }
        @for ((params, threads), group) in &groups {
            @let words = situation(*threads, &data::params_in_words(params));
            h3 { (words) }
            (one(report, palette, workload, &words, group))
        }
        @if workload::named(workload).is_some_and(|known| known.traced) {
            (idles::timelines(report))
        }
        (tables::partial_note(&series))
    }
}

fn situation(threads: usize, params: &str) -> String {
    let plural = if threads == 1 { "" } else { "s" };
    let comma = if params.is_empty() { "" } else { ", " };
    format!("{threads} thread{plural}{comma}{params}")
}

fn one(
    report: &Report,
    palette: &Palette,
    workload: &str,
    words: &str,
    group: &[&Series],
) -> Markup {
    let mut ordered = group.to_vec();
    ordered.sort_by(|a, b| longest(a).total_cmp(&longest(b)));
    html! {
        (ridges(report, palette, workload, words, &ordered))
        (runs(workload, words, &ordered))
        (times(workload, words, &ordered))
        details {
            summary { "All metrics as a table: " (words) }
            (tables::all_metrics(&format!("{workload}, all metrics: {words}"), &ordered))
        }
    }
}

/// The longest time of a series in nanoseconds, for the order of the rows.
fn longest(series: &Series) -> f64 {
    let recorded = series.distribution.as_ref().map(|times| times.max_ns as f64);
    let longest = || {
        let metric = series.metric(LONGEST.name)?;
        Some(metric.max * milliseconds_in(metric)? * 1e6)
    };
    recorded.or_else(longest).filter(|value| value.is_finite()).unwrap_or(f64::INFINITY)
}

/// A figure with the distribution of single times of each lock.
pub fn ridges(
    report: &Report,
    palette: &Palette,
    workload: &str,
    words: &str,
    ordered: &[&Series],
) -> Markup {
    let ridges: Vec<Ridge> = ordered
        .iter()
        .filter_map(|series| {
            let times = series.distribution.as_ref()?;
            let ink = palette.ink(&series.lock);
            let row = Row { name: series.lock.clone(), kind: Kind::Lock, ink };
            (!times.buckets.is_empty()).then_some(Ridge { row, times })
        })
        .collect();
    if ridges.is_empty() {
        return html! { p.empty { "No distribution was recorded." } };
    }
    let all_longest = || ridges.iter().map(|ridge| ridge.times.max_ns as f64);
    let worst = reach::worst(all_longest(), Better::Lower, reach::TAIL);
    let ends = ridges.iter().flat_map(|ridge| {
        let first = ridge.times.buckets.first().map_or(0, |(bound, _)| *bound);
        [ridge.times.min_ns.max(first / 2) as f64, first as f64, ridge.times.max_ns as f64]
    });
    let ends = ends.filter(|time| reach::fits(*time, worst, Better::Lower));
    let title = format!("{workload} time, logarithmic");
    let axis = Axis::decades(ends, title, number::time_tick);
    let leaving = all_longest().filter(|time| axis.leaves(*time) == Some(Edge::High)).count();
    let caption = Caption {
        id: slug(&format!("fig {workload} distribution {words}")),
        title: format!("Distribution of {workload} times: {words}"),
        reading: "Each row shows all times of one lock, from ns to ms on a logarithmic axis; \
                  further left is better, and the circle, the longest of all, matters most. The \
                  height is the logarithm of how many times fell there, so that a single outlier \
                  can be seen beside a million short times. Rows are sorted by the longest."
            .to_owned(),
        note: reach::note(leaving, ridges.len(), reach::TAIL, " longest time"),
    };
    figure(&caption, report.evidence, Span::Full, |width| distribution::draw(&ridges, &axis, width))
}

/// The table of the source: average run and the four longest over all runs.
fn runs(workload: &str, words: &str, ordered: &[&Series]) -> Markup {
    let mut head: Vec<String> = vec!["lock".to_owned(), "runs".to_owned()];
    head.push("average run, ms".to_owned());
    head.extend(["longest", "2nd", "3rd", "4th"].map(|place| format!("{place}, ms")));
    let averages: Vec<f64> = ordered.iter().map(|series| average_run(series)).collect();
    let fours: Vec<Vec<f64>> = ordered.iter().map(|series| four_longest(series)).collect();
    let best_run = tables::best_of(&averages, Better::Lower);
    let best_longest: Vec<Option<f64>> = (0..4)
        .map(|place| {
            let column: Vec<f64> =
                fours.iter().filter_map(|four| four.get(place).copied()).collect();
            tables::best_of(&column, Better::Lower)
        })
        .collect();
    let same = |best: Option<f64>, value: f64| best.is_some_and(|b| b.total_cmp(&value).is_eq());
    let rows: Vec<(&str, Markup, Vec<Cell>)> = ordered
        .iter()
        .zip(averages.iter().zip(&fours))
        .map(|(series, (average, four))| {
            let count =
                series.metric(LONGEST.name).or_else(|| series.metric(RUN.name)).map(|m| m.n);
            let mut cells = vec![Cell::of(number::count(count.unwrap_or(0) as u64))];
            let cell = |value: f64, best| Cell {
                text: milliseconds(value),
                best: same(best, value),
                ..Cell::default()
            };
            cells.push(cell(*average, best_run));
            for (place, best) in best_longest.iter().enumerate() {
                cells.push(four.get(place).map_or_else(Cell::none, |value| cell(*value, *best)));
            }
            (&*series.lock, tables::lock_name(&series.lock, series.partial), cells)
        })
        .collect();
    let caption =
        format!("Average run and the four longest {workload} times over all runs: {words}");
    tables::table(&caption, None, &head, &rows)
}

/// Percentiles of single times, a row for each lock; nothing if there are none.
pub fn times(workload: &str, words: &str, ordered: &[&Series]) -> Markup {
    let with: Vec<(&&Series, &Distribution)> =
        ordered.iter().filter_map(|s| Some((s, s.distribution.as_ref()?))).collect();
    if with.is_empty() {
        return html! {};
    }
    let mut head: Vec<String> = ["lock", "times taken", "shortest"].map(str::to_owned).to_vec();
    head.extend(PERCENTILES.iter().map(|(_, name)| (*name).to_owned()));
    head.push("longest".to_owned());
    let rows: Vec<(&str, Markup, Vec<Cell>)> = with
        .into_iter()
        .map(|(series, times)| {
            let mut cells = vec![Cell::of(number::count(times.count))];
            cells.push(time_cell(times.min_ns as f64));
            for (percent, _) in PERCENTILES {
                let value = distribution::percentile(times, percent);
                cells.push(value.map_or_else(Cell::none, time_cell));
            }
            cells.push(time_cell(times.max_ns as f64));
            (&*series.lock, tables::lock_name(&series.lock, series.partial), cells)
        })
        .collect();
    let caption = format!("Percentiles of single {workload} times: {words}");
    tables::table(&caption, None, &head, &rows)
}

/// A time with its unit, which sorts by its nanoseconds.
fn time_cell(nanoseconds: f64) -> Cell {
    Cell { sort: nanoseconds.is_finite().then_some(nanoseconds), ..Cell::of(time(nanoseconds)) }
}

/// The mean duration of a run in milliseconds, as the source gives it.
fn average_run(series: &Series) -> f64 {
    let timed = series.metric(RUN.name).and_then(|metric| Some((metric, milliseconds_in(metric)?)));
    let Some((metric, factor)) = timed else { return f64::NAN };
    let finite: Vec<f64> = metric.samples.iter().copied().filter(|run| run.is_finite()).collect();
    if finite.is_empty() {
        metric.median * factor
    } else {
        factor * finite.iter().sum::<f64>() / finite.len() as f64
    }
}

/// How many milliseconds the unit of a metric has; none if it is no unit of time.
fn milliseconds_in(metric: &Metric) -> Option<f64> {
    Some(metric.unit.known()?.nanoseconds()? / 1e6)
}

/// The greatest four samples of `longest`, in milliseconds.
pub fn four_longest(series: &Series) -> Vec<f64> {
    let timed =
        series.metric(LONGEST.name).and_then(|metric| Some((metric, milliseconds_in(metric)?)));
    let Some((metric, factor)) = timed else { return Vec::new() };
    let mut samples: Vec<f64> =
        metric.samples.iter().copied().filter(|sample| sample.is_finite()).collect();
    if samples.is_empty() && metric.max.is_finite() {
        samples.push(metric.max);
    }
    samples.sort_by(|a, b| b.total_cmp(a));
    samples.truncate(4);
    samples.iter().map(|sample| sample * factor).collect()
}
