//! The controls of the page where scripts run: a choice of locks, and the theme.

use maud::{Markup, html};
use ondeck_lab::results::Report;

use super::canvas;
use super::line;
use super::palette::{self, Palette};
use crate::data;

/// The bar at the top of the page. It appears when the script has started.
pub fn bar(report: &Report, palette: &Palette) -> Markup {
    let locks = palette.locks();
    let (historical, chosen): (Vec<&str>, Vec<&str>) =
        locks.iter().partition(|lock| data::is_historical(report, lock));
    html! {
        div #tools hidden {
            details #chooser {
                summary { "Locks: " span #chosen { "all " (locks.len()) } }
                p.note {
                    "Click names to bring these locks out in every figure and table. Point at a "
                    "name to find it."
                }
                div.chips role="group" aria-label="Locks to bring out" {
                    @for lock in &chosen { (chip(lock, palette)) }
                    @if !historical.is_empty() {
                        details {
                            summary { "Locks of papers" }
                            @for lock in &historical { (chip(lock, palette)) }
                        }
                    }
                }
                div.choices {
                    span role="radiogroup" aria-label="The other locks" {
                        "The others are "
                        label { input type="radio" name="others" value="faded" checked; " faded" }
                        " "
                        label { input type="radio" name="others" value="hidden"; " hidden" }
                    }
                    button #invert type="button" { "Choose the others" }
                    button #clear type="button" { "Show all" }
                }
            }
            label.theme {
                "Theme "
                select #theme {
                    option value="" { "system" }
                    option value="light" { "light" }
                    option value="dark" { "dark" }
                }
            }
        }
        div #tip hidden {}
        div #said .unseen role="status" {}
    }
}

fn chip(lock: &str, palette: &Palette) -> Markup {
    let ink = palette.ink(lock);
    html! {
        button.chip type="button" data-lock=(lock) aria-pressed="false" {
            (canvas::sample(ink, line::stroke(lock, false)))
            span class=[palette::is_own(lock).then_some("own")] { (lock) }
        }
    }
}
