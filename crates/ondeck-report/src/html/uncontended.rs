//! The section of workloads that time single pairs: what a lock costs that no other thread wants.

use maud::{Markup, html};
use ondeck_lab::results::{Better, Report, Series};
use ondeck_lab::sample::PAIR;
use ondeck_lab::workload::param;

use super::axis::Axis;
use super::figure::{Caption, Span, figure, slug};
use super::reach;
use super::rows::{self, Kind as RowKind, Row, Value};
use super::tables;
use super::theme::Palette;
use crate::data::{self, Shown};

/// The section.
pub fn section(report: &Report, palette: &Palette, workload: &str) -> Markup {
    let series = data::of_workload(report, workload);
    let groups = data::grouped(series.iter().copied(), |series| {
        let mut params = series.params.clone();
        params.remove(param::PROCESS);
        data::params_in_words(&params)
    });
    html! {
        @if let Some(lead) = data::lead(workload) { p.lead { (lead) } }
        @for (params, group) in &groups {
            @let name = if params.is_empty() { String::new() } else { format!(": {params}") };
            (bars(report, palette, group, PAIR.name, &Words {
                id: format!("fig-{}-{}", slug(workload), slug(params)),
                title: format!("{} without contention{name}", PAIR.title),
            }, Span::Full))
            @for (index, (kind, members)) in by_kind(group).into_iter().enumerate() {
                @let caption = format!("All metrics{name}; {}", kind_name(&kind));
                @if index == 0 {
                    (tables::all_metrics(&caption, &members))
                } @else {
                    details {
                        summary { (caption) " as a table" }
                        (tables::all_metrics(&caption, &members))
                    }
                }
            }
        }
        (tables::partial_note(&series))
    }
}

/// What a figure of bars is called.
pub struct Words {
    /// Its id.
    pub id: String,
    /// Its title, without the unit.
    pub title: String,
}

/// Horizontal bars of one metric, one kind of bar for each kind of process; nothing if no lock has
/// the metric.
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
    let kinds = kinds(group);
    let value = |lock: &str, kind: &Kind| {
        let series = group.iter().find(|series| series.lock == lock && kind_of(series) == *kind)?;
        let metric = series.metric(metric)?;
        let scaled = |value: f64| value * shown.factor;
        metric.median.is_finite().then(|| Value {
            median: scaled(metric.median),
            quartiles: (scaled(metric.p25), scaled(metric.p75)),
        })
    };
    let mut locks = data::locks(group);
    for kind in kinds.iter().rev() {
        data::sort_locks(&mut locks, first.better, |lock| value(lock, kind).map(|v| v.median));
    }
    let rows: Vec<(Row, Vec<Option<Value>>)> = locks
        .iter()
        .map(|lock| {
            let name = (*lock).to_owned();
            let row = Row { name, kind: RowKind::Lock, ink: palette.ink(lock) };
            (row, kinds.iter().map(|kind| value(lock, kind)).collect())
        })
        .collect();
    let axis = bar_axis(&rows, first.better, &shown);
    let leaves = |value: &Value| axis.leaves(value.median).is_some();
    let leaving = rows.iter().filter(|(_, of)| of.iter().flatten().any(leaves)).count();
    let names: Vec<String> = kinds.iter().map(kind_name).collect();
    let several = kinds.len() > 1;
    let reading = format!(
        "Median in {}; {}. {}{}",
        shown.unit,
        data::direction(first.better),
        "The thin line spans the quartiles of the rounds.",
        if several { " Pale bars: see the key above the plot." } else { "" }
    );
    let caption = Caption {
        id: words.id.trim_end_matches('-').to_owned(),
        title: format!("{}, {}", words.title, shown.unit),
        reading,
        note: reach::note(leaving, rows.len(), reach::FACTOR, ""),
    };
    // Values in the drawing are already scaled.
    let plain = Shown { factor: 1.0, ..shown.clone() };
    figure(&caption, report.evidence, span, |width| {
        rows::bars(&rows, &names, &axis, &|value| plain.text(value), width)
    })
}

/// The axis of bars: of each kind it fits the values between which a reader chooses.
fn bar_axis(rows: &[(Row, Vec<Option<Value>>)], better: Better, shown: &Shown) -> Axis {
    let kinds = rows.iter().map(|(_, values)| values.len()).max().unwrap_or(0);
    let of = |kind: usize| rows.iter().filter_map(move |(_, values)| *values.get(kind)?);
    let all = || (0..kinds).flat_map(of);
    if shown.ratio && all().all(|value| value.median <= 1.0) {
        return Axis::between(0.0, 1.0, shown.unit.clone());
    }
    let fitting = (0..kinds).flat_map(|kind| {
        let worst = reach::worst(of(kind).map(|value| value.median), better, reach::FACTOR);
        let both = of(kind).flat_map(|value| [value.median, value.quartiles.1]);
        both.filter(move |value| reach::fits(*value, worst, better))
    });
    Axis::from_zero(fitting, shown.unit.clone())
}

/// The differences between bars of one lock: the kind of process and the number of threads.
type Kind = (Option<String>, usize);

fn kind_of(series: &Series) -> Kind {
    match series.params.get(param::PROCESS) {
        // The kind of process says enough.
        Some(process) => (Some(process.clone()), 0),
        None => (None, series.threads),
    }
}

fn kinds(group: &[&Series]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for series in group {
        let kind = kind_of(series);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    // Multi-threaded first: that is how locks are used.
    kinds.sort();
    kinds.truncate(3);
    kinds
}

fn kind_name((process, threads): &Kind) -> String {
    match process {
        Some(process) => format!("{process} process"),
        None if *threads == 1 => "1 thread".to_owned(),
        None => format!("{threads} threads"),
    }
}

/// The series of each kind, best first.
fn by_kind<'a>(group: &[&'a Series]) -> Vec<(Kind, Vec<&'a Series>)> {
    let mut kinds = data::grouped(group.iter().copied(), kind_of);
    kinds.sort_by(|a, b| a.0.cmp(&b.0));
    let pair = |series: &Series| series.metric(PAIR.name).map_or(f64::INFINITY, |pair| pair.median);
    for (_, members) in &mut kinds {
        members.sort_by(|a, b| pair(a).total_cmp(&pair(b)));
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::super::axis::Edge;
    use super::super::canvas::Width;
    use super::super::theme::Ink;
    use super::*;

    /// Rows of one kind of bar.
    fn rows(values: &[f64]) -> Vec<(Row, Vec<Option<Value>>)> {
        let row = |median: &f64| {
            let name = format!("lock{median}");
            let row = Row { name, kind: RowKind::Lock, ink: Ink::Series(0) };
            (row, vec![Some(Value { median: *median, quartiles: (*median, *median) })])
        };
        values.iter().map(row).collect()
    }

    fn axis(values: &[f64], unit: &str) -> Axis {
        let shown = Shown { factor: 1.0, unit: unit.to_owned(), ratio: unit == "ratio" };
        bar_axis(&rows(values), Better::Lower, &shown)
    }

    #[test]
    fn a_collapsed_lock_does_not_change_the_axis_of_the_bars() {
        for unit in ["ns", "ratio"] {
            let (few, more) = (axis(&[2.0, 5.0, 19.0], unit), axis(&[2.0, 5.0, 19.0, 9e6], unit));
            assert_eq!(few.ticks(9), more.ticks(9));
            assert_eq!(more.leaves(19.0), None);
            assert_eq!(more.leaves(9e6), Some(Edge::High));
        }
        assert!(axis(&[0.0, 0.0], "ns").leaves(0.0).is_none());
        assert!(axis(&[7.0], "ns").leaves(7.0).is_none());
    }

    #[test]
    fn a_bar_out_of_range_ends_in_an_arrow_with_its_number() {
        let of = |values: &[f64]| {
            let format = |value: f64| format!("{value} ns");
            let kinds = ["pair".to_owned()];
            rows::bars(&rows(values), &kinds, &axis(values, "ns"), &format, Width::Narrow).0
        };
        let arrow = format!("<polyline class=\"s{}\"", Ink::Paper.number());
        let drawn = of(&[2.0, 5.0, 9e6]);
        assert_eq!(drawn.matches(&arrow).count(), 2, "a shaft and a head");
        assert!(drawn.contains("9000000 ns"));
        assert!(!of(&[2.0, 5.0, 9.0]).contains(&arrow));
    }
}
