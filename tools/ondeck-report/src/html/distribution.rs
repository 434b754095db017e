//! The distributions of single times: ridges, one row for each lock, on a logarithmic time axis,
//! and a table.

use maud::{Markup, html};
use ondeck_lab::results::{Distribution, Report, Series};
use ondeck_text::ink::Ink;
use ondeck_text::numbers::page::{self as number, time};

use super::axis::Axis;
use super::canvas::{Canvas, Side, Spot, Width};
use super::figure::{Caption, Span, figure, slug};
use super::palette::Palette;
use super::rows::{Frame, Row};
use super::tables::{self, Cell};
use crate::data::{self, percentile};

/// Percentiles in the table.
const PERCENTILES: [(f64, &str); 4] =
    [(50.0, "median"), (90.0, "90 %"), (99.0, "99 %"), (99.9, "99.9 %")];

/// A lock and its times.
struct Ridge<'a> {
    row: Row,
    times: &'a Distribution,
}

/// Figure and table of the single times of a situation, for each number of threads with such times.
pub fn all(
    report: &Report,
    palette: &Palette,
    workload: &str,
    params: &str,
    group: &[&Series],
) -> Markup {
    let with: Vec<&Series> =
        group.iter().copied().filter(|series| series.distribution.is_some()).collect();
    let of_threads = |threads: usize| {
        let its = with.iter().filter(|series| series.threads == threads);
        let times = its.filter_map(|series| Some((*series, series.distribution.as_ref()?)));
        let mut ordered: Vec<(&Series, &Distribution)> = times.collect();
        ordered.sort_by_key(|(_, times)| times.max_ns);
        let s = if threads == 1 { "" } else { "s" };
        let comma = if params.is_empty() { "" } else { ", " };
        let words = format!("{threads} thread{s}{comma}{params}");
        html! {
            (figure_of(report, palette, workload, &words, &ordered))
            (table(workload, &words, &ordered))
        }
    };
    html! { @for threads in data::thread_counts(&with) { (of_threads(threads)) } }
}

/// A figure with the distribution of single times of each lock.
fn figure_of(
    report: &Report,
    palette: &Palette,
    workload: &str,
    words: &str,
    ordered: &[(&Series, &Distribution)],
) -> Markup {
    let ridges: Vec<Ridge> = ordered
        .iter()
        .filter_map(|(series, times)| {
            let ink = palette.ink(&series.lock);
            let row = Row { name: series.lock.clone(), ink };
            (!times.buckets.is_empty()).then_some(Ridge { row, times })
        })
        .collect();
    if ridges.is_empty() {
        return html! { p.empty { "No distribution was recorded." } };
    }
    let ends = ridges.iter().flat_map(|ridge| {
        let first = ridge.times.buckets.first().map_or(0, |(bound, _)| *bound);
        [ridge.times.min_ns.max(first / 2) as f64, first as f64, ridge.times.max_ns as f64]
    });
    let title = format!("{workload} time, logarithmic");
    let axis = Axis::decades(ends, title, number::time_tick);
    let caption = Caption {
        id: slug(&format!("fig {workload} distribution {words}")),
        title: format!("Distribution of {workload} times: {words}"),
        reading: "Each row shows all times of one lock, from ns to ms on a logarithmic axis; \
                  further left is better, and the circle, the longest of all, matters most. The \
                  height is the logarithm of how many times fell there, so that a single outlier \
                  can be seen beside a million short times. Rows are sorted by the longest."
            .to_owned(),
        note: String::new(),
    };
    figure(&caption, report.evidence, Span::Full, |width| draw(&ridges, &axis, width))
}

/// Percentiles of single times, a row for each lock.
fn table(workload: &str, words: &str, ordered: &[(&Series, &Distribution)]) -> Markup {
    let mut head: Vec<String> = ["lock", "times taken", "shortest"].map(str::to_owned).to_vec();
    head.extend(PERCENTILES.iter().map(|(_, name)| (*name).to_owned()));
    head.push("longest".to_owned());
    let rows: Vec<(&str, Markup, Vec<Cell>)> = ordered
        .iter()
        .map(|(series, times)| {
            let mut cells = vec![Cell::of(number::count(times.count))];
            cells.push(time_cell(times.min_ns as f64));
            for (percent, _) in PERCENTILES {
                let value = percentile(times, percent);
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

/// Draws the rows in the order given.
fn draw(ridges: &[Ridge], axis: &Axis, width: Width) -> Markup {
    let rows: Vec<Row> = ridges.iter().map(|ridge| ridge.row.clone()).collect();
    let tallest = ridges
        .iter()
        .flat_map(|ridge| densities(ridge.times))
        .map(|(_, density)| density)
        .fold(0.0, f64::max);
    let frame = Frame { width, rows: &rows, step: 36.0, above: 36.0, right: 66.0, axis };
    let floor = |index: usize| frame.middle(index) + frame.step * 0.36;
    let spots = |index: usize| values(&frame, ridges[index].times, floor(index) - 5.0);
    frame.draw(key, spots, |canvas, index| {
        let rise = frame.step * 0.84;
        one(canvas, &frame, &ridges[index], (floor(index), rise, tallest));
    })
}

/// The times that a row marks, in words.
fn values(frame: &Frame, times: &Distribution, y: f64) -> Vec<Spot> {
    let marks = [
        ("median", percentile(times, 50.0)),
        ("99 % below", percentile(times, 99.0)),
        ("longest", Some(times.max_ns as f64)),
    ];
    let count = number::count(times.count);
    let spot = |(name, time): (&str, Option<f64>)| {
        let time = time?;
        Some((
            (frame.across(time)?, y),
            format!("{name} {}; {count} times taken", number::time(time)),
        ))
    };
    marks.into_iter().filter_map(spot).collect()
}

fn one(canvas: &mut Canvas, frame: &Frame, ridge: &Ridge, (floor, rise, tallest): (f64, f64, f64)) {
    let ink = ridge.row.ink;
    // Runs of neighbouring bins form one outline; a gap interrupts it.
    let mut outline: Vec<(f64, f64)> = Vec::new();
    let mut last_bin = None;
    for (bin, density) in densities(ridge.times) {
        let (from, to) = bin_edges(bin);
        let (Some(left), Some(right)) = (frame.across(from), frame.across(to)) else { continue };
        let height = floor - rise * density / tallest.max(f64::MIN_POSITIVE);
        if last_bin.is_none_or(|last| last + 1 != bin) {
            close(canvas, &mut outline, floor, ink);
            outline.push((left, floor));
        }
        outline.push((left, height));
        outline.push((right, height));
        last_bin = Some(bin);
    }
    close(canvas, &mut outline, floor, ink);

    let middle = floor - 5.0;
    let at = |percent: f64| frame.across(percentile(ridge.times, percent)?);
    if let Some(at) = at(50.0) {
        median_mark(canvas, at, middle);
    }
    if let Some(at) = at(99.0) {
        canvas.markers(&[(at, middle)], 3, Ink::Text);
    }
    let longest = ridge.times.max_ns as f64;
    if let Some(at) = frame.across(longest) {
        canvas.markers(&[(at, middle)], 4, Ink::Text);
        let text = number::time(longest);
        canvas.text(&text, (at + 9.0, middle), Side::Start, Ink::Text, ridge.row.own());
    }
}

/// Fills and strokes an outline, and empties it.
fn close(canvas: &mut Canvas, outline: &mut Vec<(f64, f64)>, floor: f64, ink: Ink) {
    if let Some(last) = outline.last().copied() {
        outline.push((last.0, floor));
        let (alpha, stroke) = if ink.shared() { (0.15, 1.5) } else { (0.45, 1.0) };
        canvas.area(outline, ink, alpha);
        canvas.dashed(outline, ink, stroke, if ink.shared() { ink.dash() } else { "" });
    }
    outline.clear();
}

fn median_mark(canvas: &mut Canvas, x: f64, y: f64) {
    canvas.bar((x - 1.0, y - 7.0), (x + 1.0, y + 5.0), Ink::Text, 1.0);
}

fn key(canvas: &mut Canvas, frame: &Frame) {
    let mut x = 10.0;
    let y = 13.0;
    for (mark, name) in ["median", "99 %", "longest"].into_iter().enumerate() {
        match mark {
            0 => median_mark(canvas, x, y),
            1 => canvas.markers(&[(x, y)], 3, Ink::Text),
            _ => canvas.markers(&[(x, y)], 4, Ink::Text),
        }
        canvas.text(name, (x + 10.0, y), Side::Start, Ink::Muted, false);
        x += canvas.width_of(name) + 36.0;
    }
    if frame.width == Width::Wide {
        let note = "height: logarithm of how many";
        canvas.text(note, (x, y), Side::Start, Ink::Muted, false);
    }
}

/// Bins of a quarter of a power of two, whose edges are also edges of the histogram's buckets:
/// number of the bin and logarithm of the times in it for its width.
fn densities(times: &Distribution) -> Vec<(i64, f64)> {
    let mut bins: Vec<(i64, f64)> = Vec::new();
    for (bound, count) in &times.buckets {
        // Inside the bucket, whether its bound belongs to it or not.
        let bin = bin_of(*bound as f64 * 0.97);
        match bins.last_mut() {
            Some((last, sum)) if *last == bin => *sum += *count as f64,
            _ => bins.push((bin, *count as f64)),
        }
    }
    bins.retain(|(_, sum)| *sum > 0.0);
    for (bin, sum) in &mut bins {
        let (from, to) = bin_edges(*bin);
        *sum = (1.0 + *sum * 0.25 / (to / from).log2()).ln();
    }
    bins
}

fn bin_of(value: f64) -> i64 {
    let value = value.max(1.0);
    let octave = value.log2().floor();
    let quarter = ((value / octave.exp2() - 1.0) * 4.0).floor().clamp(0.0, 3.0);
    octave as i64 * 4 + quarter as i64
}

fn bin_edges(bin: i64) -> (f64, f64) {
    let edge = |bin: i64| {
        let octave = (bin.div_euclid(4) as f64).exp2();
        octave * (1.0 + bin.rem_euclid(4) as f64 / 4.0)
    };
    (edge(bin), edge(bin + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_their_values() {
        for value in [1.0, 1.3, 7.9, 8.0, 100.0, 12_345.0, 4e9] {
            let (from, to) = bin_edges(bin_of(value));
            assert!(from <= value && value < to, "{value}: {from} to {to}");
        }
    }
}
