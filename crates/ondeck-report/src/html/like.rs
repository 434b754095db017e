//! The tables of an article beside the report's, each with a plot: a bar for the article's figure and one for this
//! machine's.

use maud::{Markup, html};
use ondeck_lab::results::{Evidence, Report};

use super::axis::Axis;
use super::canvas::{self, Canvas, Side, Width, fitted};
use super::figure::{Caption, Span, figure, slug};
use super::tables;
use super::theme::Ink;
use crate::data;
use crate::like::{ARTICLES, Beside, Compared, beside};
use crate::numbers::page::{NONE, number, plain};

/// A section for each article that the run repeated, as its command shows: id, title, and text.
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
            (id, title, section(&beside, report.evidence))
        })
        .collect()
}

fn section(beside: &Beside, evidence: Evidence) -> Markup {
    html! {
        p.lead {
            "Theirs: " (beside.article.machine) ". A verdict compares how many times a lock's figure is the first \
             one's, there and here."
        }
        @if let Some(limits) = &beside.limits {
            p { strong { "What this machine cannot show" } ", " (limits) "." }
        }
        @for table in &beside.tables {
            (plot(table, evidence))
            (numbers(table))
        }
    }
}

fn numbers(table: &Compared) -> Markup {
    let head = [("lock", false), ("theirs", true), ("here", true), ("verdict", false)];
    let written = |value: Option<f64>| value.map_or(NONE.to_owned(), number);
    let rows = html! {
        tbody {
            @for row in &table.rows {
                tr {
                    th scope="row" { (row.name) }
                    td.number { (written(row.theirs)) }
                    td.number { (written(row.ours)) }
                    td { (row.verdict) }
                }
            }
        }
    };
    tables::plain(table.what, "", &head, &rows)
}

fn plot(table: &Compared, evidence: Evidence) -> Markup {
    let caption = Caption {
        id: slug(&format!("fig like {}", table.what)),
        title: table.what.to_owned(),
        reading: format!(
            "Upper bar theirs, lower bar here, logarithmic; {}.",
            data::direction(table.better)
        ),
        note: String::new(),
    };
    figure(&caption, evidence, Span::Full, |width| draw(table, width))
}

/// Bars on a logarithmic axis: the figures differ by orders of magnitude.
fn draw(table: &Compared, width: Width) -> Markup {
    const THICK: f64 = 12.0;
    const STEP: f64 = 2.0 * THICK + 10.0;
    const FOR_NUMBER: f64 = 60.0;
    let left = width.pixels() * 0.3;
    let across = width.pixels() - left - FOR_NUMBER;
    let values = table.rows.iter().flat_map(|row| [row.theirs, row.ours]).flatten();
    let axis = Axis::decades(values, "", plain);
    let bar = |canvas: &mut Canvas, value: Option<f64>, top: f64, ink: Ink| {
        let Some((value, place)) = value.and_then(|value| Some((value, axis.at(value)?))) else {
            return;
        };
        let end = left + place * across;
        canvas.bar((left, top), (end, top + THICK), ink, 1.0);
        let at = (end + 6.0, top + THICK / 2.0);
        canvas.text(&number(value), at, Side::Start, Ink::Text, false);
    };
    canvas::draw(width, STEP * table.rows.len() as f64, |canvas| {
        for (place, row) in table.rows.iter().enumerate() {
            let top = STEP * place as f64 + 4.0;
            let name = fitted(&row.name, width.text(), left - 8.0);
            canvas.text(&name, (left - 8.0, top + THICK), Side::End, Ink::Text, false);
            bar(canvas, row.theirs, top, Ink::Plain);
            bar(canvas, row.ours, top + THICK + 1.0, Ink::Series(0));
        }
    })
}
