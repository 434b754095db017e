//! The tables of an article beside the report's, each with a plot: a bar for the article's figure and one for ours.

use maud::{Markup, html};
use ondeck_lab::results::Report;

use super::tables;
use super::theme::Ink;
use crate::like::{ARTICLES, Beside, Compared, beside};
use crate::numbers::page::number;

/// A section for each article that the run was to repeat, by the command that it was made by.
pub fn sections(report: &Report) -> Vec<(String, String, Markup)> {
    let words: Vec<&str> = report.settings.command.split([' ', '=']).collect();
    let asked = |name: &str| words.windows(2).any(|pair| pair == ["--like", name]);
    ARTICLES
        .iter()
        .filter(|article| asked(article.name))
        .filter_map(|article| beside(article, report))
        .map(|beside| {
            let id = format!("like-{}", beside.article.name);
            let title = format!("Like {}", beside.article.source);
            (id, title, section(&beside))
        })
        .collect()
}

fn section(beside: &Beside) -> Markup {
    html! {
        p.lead { "Theirs: " (beside.article.machine) ". A verdict compares how many times a lock's figure is the first \
                  one's, there and here." }
        @if let Some(limits) = &beside.limits {
            p { strong { "What this machine cannot show" } ", " (limits) "." }
        }
        @for table in &beside.tables { (compared(table)) }
    }
}

fn compared(table: &Compared) -> Markup {
    html! {
        h3 { (table.what) }
        (plot(table))
        (tables::scrolling(table.what, &html! {
            table aria-label=(table.what) {
                thead {
                    tr {
                        th scope="col" { "lock" }
                        th.number scope="col" { "theirs" }
                        th.number scope="col" { "here" }
                        th scope="col" { "verdict" }
                    }
                }
                tbody {
                    @for row in &table.rows {
                        tr {
                            th scope="row" { (row.name) }
                            td.number { @if let Some(value) = row.theirs { (number(value)) } @else { "–" } }
                            td.number { @if let Some(value) = row.ours { (number(value)) } @else { "–" } }
                            td { (row.verdict) }
                        }
                    }
                }
            }
        }))
    }
}

/// Bars from the least value on, on a logarithmic axis: the figures differ by orders of magnitude.
fn plot(table: &Compared) -> Markup {
    const LEFT: f64 = 220.0;
    const ACROSS: f64 = 420.0;
    const ROW: f64 = 34.0;
    let values = || {
        let both = table.rows.iter().flat_map(|row| [row.theirs, row.ours]);
        both.flatten().filter(|value| *value > 0.0)
    };
    let (least, most) =
        (values().fold(f64::INFINITY, f64::min) / 2.0, values().fold(0.0, f64::max));
    let length = |value: Option<f64>| {
        let value = value.filter(|value| *value > 0.0)?;
        Some(((value / least).ln() / (most / least).ln() * ACROSS).round())
    };
    let (theirs, here) = (Ink::Plain.number(), Ink::Series(0).number());
    let bar = |value: Option<f64>, top: f64, ink: usize| {
        html! {
            @if let (Some(across), Some(value)) = (length(value), value) {
                rect.(format!("f{ink}")) x=(LEFT) y=(top) width=(across) height="12" {}
                text.(format!("f{}", Ink::Muted.number())) x=(LEFT + across + 6.0) y=(top + 10.0) font-size="11" {
                    (number(value))
                }
            }
        }
    };
    let height = ROW * table.rows.len() as f64 + 6.0;
    html! {
        figure {
            figcaption { p { "Upper bar theirs, lower bar here; logarithmic." } }
            svg viewBox=(format!("0 0 720 {height}")) role="img" aria-label=(format!("{}, theirs and here", table.what)) {
                @for (place, row) in table.rows.iter().enumerate() {
                    @let top = ROW * place as f64 + 3.0;
                    text.(format!("f{}", Ink::Text.number())) x=(LEFT - 8.0) y=(top + 17.0) text-anchor="end" font-size="13" {
                        (row.name)
                    }
                    (bar(row.theirs, top, theirs))
                    (bar(row.ours, top + 14.0, here))
                }
            }
        }
    }
}
