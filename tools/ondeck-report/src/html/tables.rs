//! Data tables: a head, rows that begin with a name, and numbers aligned by their digits.

use maud::{Markup, html};
use ondeck_lab::results::{Better, Metric, Series};
use ondeck_text::numbers::page::NONE;

use super::palette;
use crate::data::{self, Shown};

/// A cell of numbers.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The number.
    pub text: String,
    /// Its spread, smaller.
    pub spread: String,
    /// The best of its column.
    pub best: bool,
    /// The sort key, where it is not the number itself.
    pub sort: Option<f64>,
}

impl Cell {
    /// A number alone.
    pub fn of(text: impl Into<String>) -> Self {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// A cell for a missing measurement.
    pub fn none() -> Self {
        Cell::of(NONE)
    }
}

/// A table of named rows inside its own scrolling box.
pub fn table(
    caption: &str,
    over: Option<(&str, usize)>,
    head: &[String],
    rows: &[(&str, Markup, Vec<Cell>)],
) -> Markup {
    html! {
        (scrolling(caption, &html! {
            table aria-label=(caption) {
                thead {
                    @if let Some((title, columns)) = over {
                        tr { td {} th.over scope="colgroup" colspan=(columns) { (title) } }
                    }
                    tr {
                        @for (index, title) in head.iter().enumerate() {
                            th class=[(index > 0).then_some("number")] scope="col" { (title) }
                        }
                    }
                }
                tbody {
                    @for (lock, name, cells) in rows {
                        tr data-lock=(lock) {
                            th scope="row" { (name) }
                            @for cell in cells {
                                td.number .best[cell.best] data-sort=[cell.sort] {
                                    (cell.text)
                                    @if !cell.spread.is_empty() { span.spread { (cell.spread) } }
                                }
                            }
                        }
                    }
                }
            }
        }))
    }
}

/// A table in this page's style, of titled columns, some numeric, and of `tbody` elements.
pub fn plain(caption: &str, class: &str, head: &[(&str, bool)], rows: &Markup) -> Markup {
    scrolling(
        caption,
        &html! {
            table class=[(!class.is_empty()).then_some(class)] aria-label=(caption) {
                thead {
                    tr {
                        @for (title, is_number) in head {
                            th class=[is_number.then_some("number")] scope="col" { (title) }
                        }
                    }
                }
                (rows)
            }
        },
    )
}

/// A table with its title, in a box that scrolls when the page is narrower than the table.
pub fn scrolling(caption: &str, table: &Markup) -> Markup {
    html! {
        p.caption { (caption) }
        div.scroll tabindex="0" role="region" aria-label=(caption) { (table) }
    }
}

/// A lock's name in a row, with a mark when rounds are missing.
pub fn lock_name(lock: &str, partial: bool) -> Markup {
    html! {
        span class=[palette::is_own(lock).then_some("own")] { (lock) }
        @if partial { abbr.mark title="fewer rounds than planned" { "†" } }
    }
}

/// Explains the mark of [`lock_name`], if it is used.
pub fn partial_note(series: &[&Series]) -> Markup {
    html! {
        @if series.iter().any(|series| series.partial) {
            p.note { "† Fewer rounds than planned: the run was interrupted." }
        }
    }
}

/// Locks as rows, threads as columns, one metric. Locks are in the given order.
pub fn by_threads(
    caption: &str,
    locks: &[&str],
    series: &[&Series],
    metric: &str,
    spread: bool,
) -> Markup {
    let counts = data::thread_counts(series);
    let all: Vec<&Metric> = series.iter().filter_map(|series| series.metric(metric)).collect();
    let Some(first) = all.first() else { return html! {} };
    let shown = Shown::new(&first.unit, all.iter().map(|metric| metric.median));
    // A program's number of threads is not known.
    let is_program = counts == [0];
    let mut head = vec!["lock".to_owned()];
    head.extend(
        counts.iter().map(|count| if is_program { shown.unit.clone() } else { count.to_string() }),
    );
    let best: Vec<Option<f64>> = counts
        .iter()
        .map(|threads| {
            let column: Vec<f64> = locks
                .iter()
                .filter_map(|lock| data::find(series, lock, *threads)?.metric(metric))
                .map(|metric| metric.median)
                .collect();
            best_of(&column, first.better)
        })
        .collect();
    let rows: Vec<(&str, Markup, Vec<Cell>)> = locks
        .iter()
        .map(|lock| {
            let partial = series.iter().any(|series| series.lock == *lock && series.partial);
            let cells = counts.iter().zip(&best).map(|(threads, best)| {
                let found = data::find(series, lock, *threads).and_then(|s| s.metric(metric));
                found.map_or_else(Cell::none, |metric| Cell {
                    text: shown.text(metric.median),
                    spread: if spread { quartiles(metric, &shown) } else { String::new() },
                    best: best.is_some_and(|best| best.total_cmp(&metric.median).is_eq()),
                    sort: None,
                })
            });
            (*lock, lock_name(lock, partial), cells.collect())
        })
        .collect();
    let over = (!is_program).then_some(("threads", counts.len()));
    table(&format!("{caption} ({})", shown.unit), over, &head, &rows)
}

/// The best of a column that has at least two different values.
pub fn best_of(column: &[f64], better: Better) -> Option<f64> {
    let finite = || column.iter().copied().filter(|value| value.is_finite());
    let least = finite().min_by(f64::total_cmp)?;
    let most = finite().max_by(f64::total_cmp)?;
    match better {
        _ if least >= most => None,
        Better::Lower => Some(least),
        Better::Higher => Some(most),
        Better::Neither => None,
    }
}

/// The quartiles of a metric, if there are enough rounds.
pub fn quartiles(metric: &Metric, shown: &Shown) -> String {
    if metric.n < 2 {
        return String::new();
    }
    let (low, high) = (shown.text(metric.p25), shown.text(metric.p75));
    if low == NONE || high == NONE { String::new() } else { format!("{low}–{high}") }
}

/// Names and texts in two columns, for facts that are not numbers.
pub fn facts(rows: &[(&str, String)]) -> Markup {
    html! {
        dl.facts {
            @for (name, text) in rows {
                @if !text.is_empty() { div { dt { (name) } dd { (text) } } }
            }
        }
    }
}
