//! The page of a replay: what a program would do with more threads, by lock.

use maud::{Markup, html};

use super::axis::Axis;
use super::canvas::{Canvas, Side, Width, draw};
use super::frame::Still;
use super::theme::Ink;
use crate::numbers::page;

/// What the page shows.
#[derive(Debug)]
pub struct Page {
    /// The program.
    pub program: String,
    /// The sentence that matters.
    pub verdict: String,
    /// The machine, and what was recorded where.
    pub about: Vec<String>,
    /// A line a lock.
    pub lines: Vec<Line>,
    /// Numbers of threads that have a name, as "today".
    pub names: Vec<(usize, String)>,
    /// The command that repeats it.
    pub command: String,
}

/// What one lock makes of the program.
#[derive(Debug)]
pub struct Line {
    /// The lock, and what else differs.
    pub name: String,
    /// Threads, acquisitions a second, and the row of the table.
    pub points: Vec<(usize, f64, Vec<String>)>,
    /// From when on a lock is saturated: threads, and its name.
    pub saturation: Option<(usize, String)>,
}

/// What the columns of the rows are called, after the threads.
pub const COLUMNS: [&str; 5] = ["M/s", "× today", "waiting", "CPU not work", "busiest lock"];

/// One self-contained HTML document.
pub fn render(it: &Page) -> String {
    let page = Still {
        title: format!("ondeck replay: {} (simulated)", it.program),
        version: env!("CARGO_PKG_VERSION"),
        kicker: "ondeck sim --replay: simulated",
        heading: html! { "What " code { (it.program) } " would do with more threads" },
        verdict: html! { (it.verdict) },
        main: html! {
            @for words in &it.about { p { (words) } }
            figure {
                figcaption { strong { "Acquisitions in a second, simulated" } }
                div.drawing {
                    div.wide { (plot(it, Width::Wide)) }
                    div.narrow { (plot(it, Width::Narrow)) }
                }
            }
            @for line in &it.lines { (table(line)) }
            p { code { (it.command) } }
        },
        footer: html! { "All numbers are simulated." },
    };
    page.render()
}

fn table(line: &Line) -> Markup {
    html! {
        section {
            h2 { (line.name) ", simulated" }
            div.scroll tabindex="0" role="region" aria-label=(line.name) {
                table {
                    thead { tr {
                        th.number scope="col" { "threads" }
                        @for title in COLUMNS { th.number scope="col" { (title) } }
                    } }
                    tbody {
                        @for (threads, _, cells) in &line.points {
                            tr {
                                th.number scope="row" { (threads) }
                                @for cell in cells { td.number { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn plot(it: &Page, width: Width) -> Markup {
    const HEIGHT: f64 = 380.0;
    const TOP: f64 = 24.0;
    const LEFT: f64 = 60.0;
    const BOTTOM: f64 = 330.0;
    let right = width.pixels() - if width == Width::Wide { 200.0 } else { 20.0 };
    let points = || it.lines.iter().flat_map(|line| &line.points);
    let counts: Vec<usize> = points().map(|point| point.0).collect();
    let across = Axis::doublings(&counts, "threads");
    let up = Axis::from_zero(points().map(|point| point.1), "a second").written(page::rate_tick);
    let place = |threads: usize, rate: f64| {
        let x = LEFT + across.at(threads as f64).unwrap_or(0.0) * (right - LEFT);
        (x, BOTTOM - up.at(rate).unwrap_or(0.0) * (BOTTOM - TOP))
    };
    draw(width, HEIGHT + 17.0 * it.lines.len() as f64, |canvas| {
        for (part, words) in up.ticks(6) {
            let y = BOTTOM - part * (BOTTOM - TOP);
            canvas.line(&[(LEFT, y), (right, y)], Ink::Grid, 1.0);
            canvas.text(&words, (LEFT - 6.0, y + 4.0), Side::End, Ink::Muted, false);
        }
        named(canvas, it, &place, (TOP, BOTTOM));
        for (number, line) in it.lines.iter().enumerate() {
            let ink = Ink::Series(number % super::theme::COLOURED);
            let way: Vec<_> = line.points.iter().map(|point| place(point.0, point.1)).collect();
            canvas.dashed(&way, ink, 2.5, ink.dash());
            canvas.markers(&way, ink.shape(), ink);
            let y = HEIGHT + 17.0 * number as f64;
            canvas.dashed(&[(LEFT, y - 4.0), (LEFT + 26.0, y - 4.0)], ink, 2.5, ink.dash());
            let words = match &line.saturation {
                Some((threads, lock)) => format!("{}: {lock} saturates at {threads}", line.name),
                None => line.name.clone(),
            };
            canvas.text(&words, (LEFT + 34.0, y), Side::Start, Ink::Text, false);
        }
    })
}

/// The vertical lines of the numbers of threads, with their names.
fn named(
    canvas: &mut Canvas,
    it: &Page,
    place: &impl Fn(usize, f64) -> (f64, f64),
    (top, bottom): (f64, f64),
) {
    let mut counts: Vec<usize> =
        it.lines.iter().flat_map(|line| &line.points).map(|point| point.0).collect();
    counts.sort_unstable();
    counts.dedup();
    for threads in counts {
        let x = place(threads, 0.0).0;
        canvas.line(&[(x, top), (x, bottom)], Ink::Grid, 1.0);
        canvas.text(&threads.to_string(), (x, bottom + 16.0), Side::Middle, Ink::Muted, false);
        if let Some((_, name)) = it.names.iter().find(|(count, _)| *count == threads) {
            canvas.text(name, (x, bottom + 32.0), Side::Middle, Ink::Text, true);
        }
    }
}
