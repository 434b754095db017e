//! The page of a replay: the performance of a program with more threads, by lock.

use maud::{Markup, html};
use ondeck_text::frame::Still;
use ondeck_text::ink::{COLOURED, Ink};
use ondeck_text::numbers::page;

use super::axis::Axis;
use super::canvas::Width;
use super::line::{self, Point};
use super::lines::{self, Landmark};

/// The contents of the page.
#[derive(Debug)]
pub struct Page {
    /// The program.
    pub program: String,
    /// The main result in one sentence.
    pub verdict: String,
    /// The machine, and the recording.
    pub about: Vec<String>,
    /// A line a lock.
    pub lines: Vec<Line>,
    /// Numbers of threads that have a name, as "recorded".
    pub names: Vec<(usize, String)>,
    /// The command that repeats the replay.
    pub command: String,
}

/// A program's performance with one lock.
#[derive(Debug)]
pub struct Line {
    /// The lock, and other differences.
    pub name: String,
    /// Threads, acquisitions a second, and the row of the table.
    pub points: Vec<(usize, f64, Vec<String>)>,
    /// The point from which on a lock is saturated, as "7 to 18 threads", and the lock's name.
    pub saturation: Option<(String, String)>,
}

/// The headings of the columns after the threads.
pub const COLUMNS: [&str; 6] =
    ["M/s", "× recorded", "MVA", "waiting", "CPU not work", "busiest lock"];

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
            @for line in &it.lines {
                @if let Some((threads, lock)) = &line.saturation {
                    p { (line.name) ": " (lock) " saturates at " (threads) "." }
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
    let points = || it.lines.iter().flat_map(|line| &line.points);
    let mut counts: Vec<usize> = points().map(|point| point.0).collect();
    counts.sort_unstable();
    counts.dedup();
    let across = Axis::doublings(&counts, "threads");
    let up = Axis::from_zero(points().map(|point| point.1), "a second").written(page::rate_tick);
    let line = |(number, line): (usize, &Line)| {
        let point = |(threads, rate, _): &(usize, f64, Vec<String>)| Point {
            x: *threads as f64,
            y: *rate,
            quartiles: (*rate, *rate),
            words: format!("{} at {threads} threads", page::rate_tick(*rate)),
        };
        line::Line {
            name: line.name.clone(),
            ink: Ink::Series(number % COLOURED),
            quiet: false,
            points: line.points.iter().map(point).collect(),
        }
    };
    let lines: Vec<line::Line> = it.lines.iter().enumerate().map(line).collect();
    let named =
        |(threads, name): &(usize, String)| Landmark { x: *threads as f64, name: name.clone() };
    let landmarks: Vec<Landmark> =
        it.names.iter().filter(|(threads, _)| counts.contains(threads)).map(named).collect();
    lines::draw(&lines, &across, &up, &landmarks, width)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_at_the_end_of_the_plot_ends_at_its_mark() {
        let point = |threads| (threads, 1e6, vec![String::new(); COLUMNS.len()]);
        let html = render(&Page {
            program: "app".to_owned(),
            verdict: String::new(),
            about: Vec::new(),
            lines: vec![Line {
                name: "ondeck".to_owned(),
                points: vec![point(2), point(8)],
                saturation: Some(("7 to 18 threads".to_owned(), "cache".to_owned())),
            }],
            names: vec![(2, "recorded".to_owned()), (8, "4 ×".to_owned())],
            command: String::new(),
        });
        assert!(html.contains("cache saturates at 7 to 18 threads."), "{html}");
        let text = |name: &str| {
            let end = html.find(&format!(">{name}</text>")).expect("a name");
            &html[html[..end].rfind("<text").expect("its text")..end]
        };
        assert!(text("4 ×").contains("end"), "{}", text("4 ×"));
        assert!(!text("recorded").contains("end"), "{}", text("recorded"));
    }
}
