//! Flame graphs in SVG, for the page.

use std::collections::BTreeMap;

use maud::{Markup, html};
use ondeck_record::layout::Role;
use ondeck_text::functions::short;
use ondeck_text::numbers::page::time;

use crate::model::Profile;

/// Of the picture, and of one of its rows.
const WIDTH: f64 = 1120.0;
const ROW: usize = 16;
/// Of a letter, about.
const LETTER: f64 = 7.1;
/// What is narrower is left out.
const LEAST: f64 = 0.1;

const STYLE: &str = ".flame { display: block; width: 100%; min-width: 60rem } .flame text { font: 12px sans-serif; \
                     fill: #000; pointer-events: none } .flame g:hover rect { stroke: #000; stroke-width: 0.5 }";

/// The flame graph of a role: outermost functions at the bottom, above each what it called. Widths
/// are waited time, and the title of a frame says what a pointer is on.
pub(crate) fn part(profile: &Profile, role: Role, title: &str) -> Markup {
    let all = Node::of(profile, role);
    let mut drawn = Vec::new();
    all.draw(0.0, WIDTH / all.nanos, 0, &mut drawn);
    let rows = drawn.iter().map(|one| one.row + 1).max().unwrap_or(0);
    html! {
        @if drawn.is_empty() {
            p.note { "No stacks were taken." }
        } @else {
            svg.flame role="img" aria-label=(title) viewBox=(format!("0 0 {WIDTH} {}", rows * ROW)) {
                style { (STYLE) }
                @for Drawn { name, shown, nanos, left, width, row } in &drawn {
                    @let top = (rows - 1 - row) * ROW;
                    g {
                        title { (name) " (" (time(*nanos)) ", " (format!("{:.1}", 100.0 * nanos / all.nanos)) " %)" }
                        rect x=(format!("{left:.1}")) y=(top) width=(format!("{width:.1}")) height=(ROW - 1)
                            fill=(colour(name)) {}
                        text x=(format!("{:.1}", left + 3.0)) y=(top + 11) { (fitted(shown, *width)) }
                    }
                }
            }
        }
    }
}

/// The time of a function with all that it called, or of all functions.
#[derive(Default)]
struct Node {
    nanos: f64,
    /// By the whole name, and the one that is shown.
    called: BTreeMap<(String, String), Self>,
}

struct Drawn<'a> {
    name: &'a str,
    shown: &'a str,
    nanos: f64,
    left: f64,
    width: f64,
    row: usize,
}

impl Node {
    /// The stacks of a role. The outermost frame is the lock, before it the process if there are
    /// several.
    fn of(profile: &Profile, role: Role) -> Self {
        let mut all = Self::default();
        let several = profile.processes.len() > 1;
        for (process, lock) in profile.locks() {
            let process = several.then(|| format!("{} {}", process.name(), process.pid));
            for sample in lock.samples(role) {
                let lock = (format!("lock {}", lock.name()), format!("lock {}", lock.short_name()));
                let process = process.clone().map(|process| (process.clone(), process));
                let begin = process.into_iter().chain([lock]);
                let functions = sample.shown().rev();
                let functions =
                    functions.map(|frame| (frame.function.clone(), short(&frame.function)));
                let nanos = sample.nanos.max(1.0);
                let mut node = &mut all;
                node.nanos += nanos;
                for name in begin.chain(functions) {
                    node = node.called.entry(name).or_default();
                    node.nanos += nanos;
                }
            }
        }
        all
    }

    /// Puts what it called side by side, from `left` on.
    fn draw<'a>(&'a self, mut left: f64, scale: f64, row: usize, drawn: &mut Vec<Drawn<'a>>) {
        for ((name, shown), node) in &self.called {
            let width = node.nanos * scale;
            if width >= LEAST {
                drawn.push(Drawn { name, shown, nanos: node.nanos, left, width, row });
                node.draw(left, scale, row + 1, drawn);
            }
            left += width;
        }
    }
}

/// As much of the name as there is room for; nothing if that is next to nothing.
fn fitted(name: &str, width: f64) -> String {
    let room = ((width - 6.0) / LETTER).max(0.0) as usize;
    match name.chars().count() {
        _ if room < 3 => String::new(),
        all if all <= room => name.to_owned(),
        _ => name.chars().take(room - 1).chain(['…']).collect(),
    }
}

/// Yellow to red, by the name: the same function has the same colour in both graphs.
fn colour(name: &str) -> String {
    // FNV-1a.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let part = |shift: u32, most: u64| (hash >> shift & 0xff) * most / 0xff;
    format!("rgb({},{},{})", 205 + part(0, 50), part(8, 230), part(16, 55))
}
