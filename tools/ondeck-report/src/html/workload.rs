//! The section of a workload: its metrics over the number of threads, tables, and single times
//! where they exist.

use maud::{Markup, html};
use ondeck_lab::results::{Metric, Report, Series, Unit};
use ondeck_lab::sample::{CPU_PER_OP, SHARE};
use ondeck_text::ink::COLOURED;
use ondeck_text::numbers::page as number;

use super::axis::Axis;
use super::bars::{Words, bars};
use super::distribution;
use super::facts;
use super::figure::{Caption, Span, figure, slug};
use super::line::{Line, Point};
use super::lines::{self, Landmark};
use super::palette::Palette;
use super::tables;
use crate::data::{self, Shown};

/// The section of a workload.
pub fn section(report: &Report, palette: &Palette, workload: &str) -> Markup {
    let series = data::of_workload(report, workload);
    let groups = data::grouped(series.iter().copied(), |series| series.params.clone());
    html! {
        @if let Some(lead) = data::lead(workload) { p.lead { (facts::prose(&lead)) } }
        @for (params, group) in &groups {
            @let words = data::params_in_words(params);
            @if !words.is_empty() { h3 { (data::capitalized(&words)) } }
            (metrics(report, palette, workload, &words, group))
            (distribution::all(report, palette, workload, &words, group))
        }
        (tables::partial_note(&series))
    }
}

/// Figures and tables of the usual three metrics of a group, and tables of all others.
fn metrics(
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
        @let has = |name: &str| names.contains(&name);
        @let crowded = most_threads(group);
        @let most = crowded.first().map_or(0, |series| series.threads);
        @let has_share = has(SHARE.name) && most > 1;
        @if has(CPU_PER_OP.name) || has_share {
            div.pair {
                @if has(CPU_PER_OP.name) { (plot(CPU_PER_OP.name, Span::Half)) }
                @if has_share {
                    @let words = Words {
                        id: id(SHARE.name),
                        title: format!("{} at {most} threads{place}", SHARE.title),
                    };
                    (bars(report, palette, &crowded, SHARE.name, &words, Span::Half))
                }
            }
        }
        @for name in names {
            details {
                summary { (title(name)) " as a table" }
                (tables::by_threads(&title(name), &locks, group, name, false))
            }
        }
    }
}

/// The series with the greatest number of threads.
fn most_threads<'a>(group: &[&'a Series]) -> Vec<&'a Series> {
    let most = group.iter().map(|series| series.threads).max().unwrap_or(0);
    group.iter().copied().filter(|series| series.threads == most).collect()
}

/// One metric over the number of threads; as bars when there is only one number of threads.
fn over_threads(
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
        return bars(report, palette, group, metric, words, span);
    }
    let shown = Shown::new(&first.unit, all.iter().map(|metric| metric.median));
    let lines = lines_of(group, metric, &shown, palette);
    let x = Axis::doublings(&counts, "threads, logarithmic");
    let y = vertical(&lines, Unit::of(&first.unit), &shown);
    let mut reading = format!("Median of the rounds; {}.", data::direction(first.better));
    let mut points = lines.iter().flat_map(|line| &line.points);
    if points.any(|point| !point.y.is_finite() || !point.quartiles.1.is_finite()) {
        reading.push_str(" Values that are not numbers are left out.");
    }
    if span == Span::Full {
        reading.push_str(" The bands, where they are wide enough to see, span the quartiles.");
        let grey = lines.iter().filter(|line| line.quiet).count();
        if grey > 0 {
            let note = "locks are thin and grey; the table names every one.";
            reading = format!("{reading} {grey} of {} {note}", lines.len());
        }
    }
    let caption = Caption {
        id: words.id.clone(),
        title: format!("{}, {}", words.title, shown.unit),
        reading,
        note: String::new(),
    };
    let landmark = cpus(report, &counts);
    figure(&caption, report.evidence, span, |width| {
        lines::draw(&lines, &x, &y, landmark.as_slice(), width)
    })
}

/// The vertical axis of lines: logarithmic if a linear one would hide the small values.
fn vertical(lines: &[Line], unit: Option<Unit>, shown: &Shown) -> Axis {
    let points = || lines.iter().flat_map(|line| &line.points);
    let values = || points().map(|point| point.y);
    let positive = || values().filter(|value| value.is_finite() && *value > 0.0);
    let least = positive().fold(f64::INFINITY, f64::min);
    if shown.ratio && values().all(|value| value <= 1.0) {
        return Axis::between(0.0, 1.0, "ratio");
    }
    if positive().any(|value| value > 20.0 * least) {
        // Undoes the scaling of tables: ticks with a unit choose it themselves.
        let unscaled = values().map(|value| value / shown.factor);
        return match unit {
            Some(Unit::PerSecond) => {
                let title = "operations in a second, logarithmic";
                Axis::decades(unscaled, title, number::rate_tick).scaled(shown.factor)
            }
            Some(Unit::Nanoseconds) => {
                let title = "time for one operation, logarithmic";
                Axis::decades(unscaled, title, number::time_tick).scaled(shown.factor)
            }
            _ => Axis::decades(values(), format!("{}, logarithmic", shown.unit), number::plain),
        };
    }
    let tops = points().flat_map(|point| [point.y, point.quartiles.1]);
    if unit == Some(Unit::Nanoseconds) {
        Axis::from_zero(tops, "time for one operation").written(number::time_tick)
    } else {
        Axis::from_zero(tops, shown.unit.clone())
    }
}

/// The number of threads that equals the CPUs, if it is between the ends.
fn cpus(report: &Report, counts: &[usize]) -> Option<Landmark> {
    let cpus = report.machine.usable_cpus;
    let inside = counts.first().is_some_and(|least| *least < cpus)
        && counts.last().is_some_and(|most| *most > cpus);
    inside.then(|| Landmark { x: cpus as f64, name: format!("{cpus} CPUs") })
}

fn lines_of(group: &[&Series], metric: &str, shown: &Shown, palette: &Palette) -> Vec<Line> {
    let members = data::grouped(group.iter().copied(), |series| series.lock.clone());
    let crowd = members.len() > COLOURED;
    members
        .into_iter()
        .map(|(lock, series)| {
            let mut points: Vec<Point> = series
                .into_iter()
                .filter_map(|series| {
                    let found = series.metric(metric)?;
                    let (low, high) = (shown.text(found.p25), shown.text(found.p75));
                    let s = if series.threads == 1 { "" } else { "s" };
                    Some(Point {
                        x: series.threads as f64,
                        y: found.median * shown.factor,
                        quartiles: (found.p25 * shown.factor, found.p75 * shown.factor),
                        words: format!(
                            "{} {} at {} thread{s} (quartiles {low} to {high})",
                            shown.text(found.median),
                            shown.unit,
                            series.threads
                        ),
                    })
                })
                .collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            points.dedup_by(|a, b| a.x.total_cmp(&b.x).is_eq());
            let slot = palette.slot(&lock);
            Line { ink: palette.ink(&lock), quiet: crowd && slot >= COLOURED, name: lock, points }
        })
        .collect()
}

/// The locks of a group, best first at the greatest number of threads.
fn ranked<'a>(group: &[&'a Series], metric: &str) -> Vec<&'a str> {
    let mut locks = data::locks(group);
    let found = group.iter().find_map(|series| series.metric(metric));
    if let (Some(found), Some(most)) = (found, data::thread_counts(group).last()) {
        data::sort_locks(&mut locks, found.better, |lock| {
            Some(data::find(group, lock, *most)?.metric(metric)?.median)
        });
    }
    locks
}
