//! Horizontal bars of one metric: a bar for each lock.

use maud::{Markup, html};
use ondeck_lab::results::{Better, Report, Series};
use ondeck_text::ink::Ink;

use super::axis::Axis;
use super::canvas::{Canvas, Side, Width, text_width};
use super::figure::{Caption, Span, figure};
use super::palette::Palette;
use super::reach;
use super::rows::{Frame, Row};
use crate::data::{self, Shown};

/// The words of a metric's figure.
pub struct Words {
    /// Its id.
    pub id: String,
    /// Its title, without the unit.
    pub title: String,
}

/// A median with its quartiles.
#[derive(Clone, Copy, Debug)]
struct Value {
    median: f64,
    quartiles: (f64, f64),
}

/// A lock and its value, if it has one.
type Bar = (Row, Option<Value>);

/// The figure, best lock first; `None` if no lock has the metric.
pub fn bars(
    report: &Report,
    palette: &Palette,
    group: &[&Series],
    metric: &str,
    words: &Words,
    span: Span,
) -> Markup {
    let all: Vec<_> = group.iter().filter_map(|series| series.metric(metric)).collect();
    let Some(first) = all.first() else { return html! {} };
    let shown = Shown::new(&first.unit, all.iter().map(|metric| metric.median));
    let value = |lock: &str| {
        let metric = group.iter().find(|series| series.lock == lock)?.metric(metric)?;
        let scaled = |value: f64| value * shown.factor;
        metric.median.is_finite().then(|| Value {
            median: scaled(metric.median),
            quartiles: (scaled(metric.p25), scaled(metric.p75)),
        })
    };
    let mut locks = data::locks(group);
    data::sort_locks(&mut locks, first.better, |lock| value(lock).map(|value| value.median));
    let bar = |lock: &&str| (Row { name: (*lock).to_owned(), ink: palette.ink(lock) }, value(lock));
    let bars: Vec<Bar> = locks.iter().map(bar).collect();
    let axis = axis(&bars, first.better, &shown);
    let is_beyond = |(_, value): &&Bar| value.is_some_and(|it| axis.is_beyond(it.median));
    let beyond = bars.iter().filter(is_beyond).count();
    let caption = Caption {
        id: words.id.clone(),
        title: format!("{}, {}", words.title, shown.unit),
        reading: format!(
            "Median in {}; {}. The thin line spans the quartiles of the rounds.",
            shown.unit,
            data::direction(first.better)
        ),
        note: reach::note(beyond, bars.len()),
    };
    // Values in the drawing are already scaled.
    let plain = Shown { factor: 1.0, ..shown.clone() };
    figure(&caption, report.evidence, span, |width| draw(&bars, &axis, &plain, width))
}

/// An axis that fits the values between which a reader chooses.
fn axis(bars: &[Bar], better: Better, shown: &Shown) -> Axis {
    let values = || bars.iter().filter_map(|(_, value)| *value);
    if shown.ratio && values().all(|value| value.median <= 1.0) {
        return Axis::between(0.0, 1.0, shown.unit.clone());
    }
    let worst = reach::worst(values().map(|value| value.median), better);
    let both = values().flat_map(|value| [value.median, value.quartiles.1]);
    let fitting = both.filter(|value| reach::fits(*value, worst, better));
    Axis::from_zero(fitting, shown.unit.clone())
}

fn draw(bars: &[Bar], axis: &Axis, shown: &Shown, width: Width) -> Markup {
    const THICK: f64 = 15.0;
    let rows: Vec<Row> = bars.iter().map(|(row, _)| row.clone()).collect();
    // The longest number may be at the longest bar.
    let numbers = bars.iter().filter_map(|(_, value)| Some(shown.text((*value)?.median)));
    let widest = numbers.map(|number| text_width(&number, width.text())).fold(0.0, f64::max);
    let right = (widest + 14.0).max(58.0);
    let frame = Frame { width, rows: &rows, step: THICK + 10.0, above: 8.0, right, axis };
    let (left, right) = frame.ends();
    let spots = |index: usize| {
        let spot = bars[index].1.and_then(|value| {
            let (low, high) = (shown.text(value.quartiles.0), shown.text(value.quartiles.1));
            let words = format!("{} (quartiles {low} to {high})", shown.text(value.median));
            Some(((frame.across(value.median)?, frame.middle(index)), words))
        });
        spot.into_iter().collect()
    };
    let no_key = |_: &mut Canvas, _: &Frame| {};
    frame.draw(no_key, spots, |canvas, index| {
        let (row, Some(value)) = &bars[index] else { return };
        let Some(end) = frame.across(value.median) else { return };
        let middle = frame.middle(index);
        let zero = frame.across(0.0).unwrap_or(left);
        let half = THICK / 2.0;
        solid(canvas, (zero, middle - half), (end, middle + half), row.ink);
        let mut edge = end;
        if axis.is_beyond(value.median) {
            canvas.arrow((right - 8.0, middle), Ink::Paper);
        } else {
            edge = edge.max(whisker(canvas, &frame, *value, middle).unwrap_or(end));
        }
        let at = (edge + 7.0, middle);
        canvas.text(&shown.text(value.median), at, Side::Start, Ink::Text, row.own());
    })
}

/// A bar; with an outline, and pale inside, where another lock has the same colour.
fn solid(canvas: &mut Canvas, from: (f64, f64), to: (f64, f64), ink: Ink) {
    if !ink.shared() {
        canvas.bar(from, to, ink, 1.0);
        return;
    }
    canvas.bar(from, to, ink, 0.35);
    let (from, to) = ((from.0, from.1 + 0.75), (to.0 - 0.75, to.1 - 0.75));
    let outline = [from, (to.0, from.1), to, (from.0, to.1), from];
    canvas.dashed(&outline, ink, 1.5, ink.dash());
}

/// The whisker between the quartiles; returns its right end.
fn whisker(canvas: &mut Canvas, frame: &Frame, value: Value, middle: f64) -> Option<f64> {
    let low = frame.across(value.quartiles.0)?;
    let high = frame.across(value.quartiles.1)?;
    canvas.line(&[(low, middle), (high, middle)], Ink::Text, 1.0);
    for end in [low, high] {
        canvas.line(&[(end, middle - 3.0), (end, middle + 3.0)], Ink::Text, 1.0);
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_longest_bar_is_within_the_drawing() {
        let value = Value { median: 452_140_000.0, quartiles: (4e8, 452_140_000.0) };
        let bars = [(Row { name: "ondeck".to_owned(), ink: Ink::Series(0) }, Some(value))];
        let shown = Shown { factor: 1.0, unit: "bytes".to_owned(), ratio: false };
        let axis = axis(&bars, Better::Lower, &shown);
        for width in [Width::Narrow, Width::Wide] {
            let number = shown.text(value.median);
            let drawing = draw(&bars, &axis, &shown, width).0;
            let (before, _) = drawing.split_once(&format!(">{number}</text>")).expect("the number");
            let (_, at) = before.rsplit_once("<text x=\"").expect("its element");
            let at: f64 = at.split('"').next().and_then(|at| at.parse().ok()).expect("its place");
            let end = at + text_width(&number, width.text());
            assert!(end <= width.pixels(), "{number} ends at {end}");
        }
    }

    #[test]
    fn a_collapsed_lock_changes_no_axis_and_ends_in_an_arrow_with_its_number() {
        let bar = |median: &f64| {
            let row = Row { name: format!("lock{median}"), ink: Ink::Series(0) };
            (row, Some(Value { median: *median, quartiles: (*median, *median) }))
        };
        for unit in ["ns", "ratio"] {
            let shown = Shown { factor: 1.0, unit: unit.to_owned(), ratio: unit == "ratio" };
            let of = |values: &[f64]| {
                let bars: Vec<Bar> = values.iter().map(bar).collect();
                let axis = axis(&bars, Better::Lower, &shown);
                (draw(&bars, &axis, &shown, Width::Narrow).0, axis)
            };
            let (few, few_axis) = of(&[2.0, 5.0, 19.0]);
            let (more, more_axis) = of(&[2.0, 5.0, 19.0, 9e6]);
            assert_eq!(few_axis.ticks(9), more_axis.ticks(9));
            let arrow = format!("<polyline class=\"s{}\"", Ink::Paper.number());
            assert_eq!(few.matches(&arrow).count(), 0);
            assert_eq!(more.matches(&arrow).count(), 2, "a shaft and a head");
            assert!(more.contains("9\u{202f}000\u{202f}000"), "{more}");
        }
    }
}
