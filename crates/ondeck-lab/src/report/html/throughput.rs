//! `throughput`: operations over the number of threads, their cost in CPU time, and who got them.

use maud::{Markup, html};

use crate::results::{Metric, Report, Series};

use super::axis::Axis;
use super::data::{self, Shown};
use super::figure::{Caption, Span, figure, slug};
use super::lines::{self, Line, Point};
use super::number;
use super::tables;
use super::theme::Palette;
use super::uncontended::{self, Words};

/// The section.
pub fn section(report: &Report, palette: &Palette) -> Markup {
    let series = data::of_workload(report, "throughput");
    let groups = data::grouped(series.iter().copied(), |series| series.params.clone());
    html! {
        p.lead {
            "All threads lock, work inside, unlock, work outside, and again. Throughput counts the "
            "operations of all threads together; the share is that of the thread that got least "
            "divided by that of the thread that got most, so 1 is even and 0 means that somebody "
            "starved."
        }
        @for (params, group) in &groups {
            @let words = data::params_in_words(params);
            @if !words.is_empty() { h3 { (capitalized(&words)) } }
            (metrics(report, palette, "throughput", &words, group))
        }
        (tables::partial_note(&series))
    }
}

/// Figures and tables of the usual three metrics of a group, and tables of all others.
pub fn metrics(
    report: &Report,
    palette: &Palette,
    workload: &str,
    words: &str,
    group: &[&Series],
) -> Markup {
    let main = group.iter().find_map(|series| data::main_metric(series));
    let Some(main) = main.map(|metric| metric.name.clone()) else {
        return html! { p.empty { "No metric was recorded." } };
    };
    let mut names: Vec<&str> = Vec::new();
    for metric in group.iter().flat_map(|series| &series.metrics) {
        if !names.contains(&&*metric.name) && metric.name != main {
            names.push(&metric.name);
        }
    }
    let locks = ranked(group, &main);
    let place = if words.is_empty() { String::new() } else { format!(": {words}") };
    let id = |metric: &str| slug(&format!("fig {workload} {metric} {words}"));
    let title = |metric: &str| format!("{}{place}", data::metric_title(metric));
    let plot = |metric: &str, span| {
        let words = Words { id: id(metric), title: title(metric) };
        over_threads(report, palette, group, metric, &words, span)
    };
    html! {
        (plot(&main, Span::Full))
        (tables::by_threads(&title(&main), &locks, group, &main, true))
        @let beside: Vec<&str> =
            ["cpu_per_op", "share"].into_iter().filter(|name| names.contains(name)).collect();
        @if !beside.is_empty() {
            div.pair { @for name in beside { (plot(name, Span::Half)) } }
        }
        @for name in names {
            details {
                summary { (title(name)) " as a table" }
                (tables::by_threads(&title(name), &locks, group, name, false))
            }
        }
    }
}

/// One metric over the number of threads; as bars when there is only one number of threads.
pub fn over_threads(
    report: &Report,
    palette: &Palette,
    group: &[&Series],
    metric: &str,
    words: &Words,
    span: Span,
) -> Markup {
    let all: Vec<&Metric> = group.iter().filter_map(|series| series.metric(metric)).collect();
    let Some(first) = all.first() else { return html! {} };
    let counts = data::thread_counts(group);
    if counts.len() < 2 {
        return uncontended::bars(report, group, metric, words, span);
    }
    let shown = Shown::new(&first.unit, all.iter().map(|metric| metric.median));
    let lines = lines_of(group, metric, &shown, palette);
    let x = Axis::doublings(&counts, "threads, logarithmic");
    let values = || lines.iter().flat_map(|line| line.points.iter().map(|point| point.y));
    let tops =
        || lines.iter().flat_map(|line| line.points.iter().flat_map(|p| [p.y, p.quartiles.1]));
    let logarithmic = metric == "cpu_per_op" && wide_spread(values());
    let y = if shown.ratio && values().all(|value| value <= 1.0) {
        Axis::between(0.0, 1.0, "ratio")
    } else if logarithmic {
        Axis::decades(values(), "time for one operation, logarithmic", number::time_tick)
    } else {
        Axis::from_zero(tops(), shown.unit.clone())
    };
    let mut reading = format!("Median of the rounds; {}.", data::direction(first.better));
    if tops().any(|value| !value.is_finite()) {
        reading.push_str(" Values that are not numbers are left out.");
    }
    if logarithmic && values().any(|value| value <= 0.0) {
        reading.push_str(" Zero has no place on a logarithmic axis.");
    }
    if span == Span::Full {
        reading
            .push_str(" Vertical strokes, where they are long enough to see, span the quartiles.");
        let grey = lines.iter().filter(|line| line.slot.is_none()).count();
        if grey > 0 {
            let note = "locks are thin and grey; the table names every one.";
            reading = format!("{reading} {grey} of {} {note}", lines.len());
        }
    }
    let caption = Caption {
        id: words.id.clone(),
        title: format!("{}, {}", words.title, shown.unit),
        reading,
    };
    figure(&caption, report.evidence, span, |width| lines::draw(&lines, &x, &y, width))
}

fn lines_of(group: &[&Series], metric: &str, shown: &Shown, palette: &Palette) -> Vec<Line> {
    let locks = data::locks(group);
    let slots = palette.slots_of(&locks);
    locks
        .into_iter()
        .zip(slots)
        .map(|(lock, slot)| {
            let mut points: Vec<Point> = group
                .iter()
                .filter(|series| series.lock == lock)
                .filter_map(|series| {
                    let found = series.metric(metric)?;
                    Some(Point {
                        x: series.threads as f64,
                        y: found.median * shown.factor,
                        quartiles: (found.p25 * shown.factor, found.p75 * shown.factor),
                    })
                })
                .collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            points.dedup_by(|a, b| a.x.total_cmp(&b.x).is_eq());
            Line { name: lock.to_owned(), slot, points }
        })
        .collect()
}

/// The locks of a group, best first at the greatest number of threads.
pub fn ranked<'a>(group: &[&'a Series], metric: &str) -> Vec<&'a str> {
    let mut locks = data::locks(group);
    let found = group.iter().find_map(|series| series.metric(metric));
    if let (Some(found), Some(most)) = (found, data::thread_counts(group).last()) {
        data::sort_locks(&mut locks, found.better, |lock| {
            Some(data::find(group, lock, *most)?.metric(metric)?.median)
        });
    }
    locks
}

/// Whether values differ so much that a linear axis would hide the small ones.
fn wide_spread(values: impl Iterator<Item = f64>) -> bool {
    let (least, most) = values
        .filter(|value| value.is_finite() && *value > 0.0)
        .fold((f64::INFINITY, 0.0f64), |(least, most), value| (least.min(value), most.max(value)));
    most > 20.0 * least
}

/// The text with its first letter in upper case.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
