//! Lines over the number of threads.

use maud::Markup;

use super::axis::{Axis, Edge};
use super::beyond::{self, Rows};
use super::canvas::{self, Canvas, Layer, Side, Spot, Width};
use super::legend;
use super::line::{Line, Point, stroke};
use super::scale::Scale;
use super::theme::{self, Ink};

/// Room above the plot and its rows, for the axis' title and the landmark's name.
const TOP: f64 = 34.0;

/// A vertical line with a word, as at the number of CPUs.
#[derive(Clone, Debug)]
pub struct Landmark {
    /// Where.
    pub x: f64,
    /// What is there.
    pub name: String,
}

/// A plot: the rectangle between its axes, and the rows beyond the ends of the vertical one.
struct Plot<'a> {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: &'a Axis,
    y: &'a Scale,
    above: Rows,
    below: Rows,
}

impl Plot<'_> {
    fn across(&self, x: f64) -> Option<f64> {
        Some(self.left + self.x.at(x)? * (self.right - self.left))
    }

    /// Where a value is drawn. One that the axis does not fit is at the end through which it
    /// leaves.
    fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        let height = match self.y.axis.leaves(y) {
            Some(Edge::Low) => 0.0,
            Some(Edge::High) => 1.0,
            None => self.y.axis.at(y)?,
        };
        Some((self.across(x)?, self.bottom - height * (self.bottom - self.top)))
    }

    /// The rows for a value that the axis does not fit, and the height of the end that they are
    /// beyond.
    fn beyond(&self, y: f64) -> Option<(&Rows, f64)> {
        self.y.axis.leaves(y).map(|end| match end {
            Edge::Low => (&self.below, self.bottom),
            Edge::High => (&self.above, self.top),
        })
    }

    /// Where the value of a point is to be seen: in the plot, or in a row beyond it.
    fn spot(&self, line: &Line, point: &Point) -> Option<(f64, f64)> {
        let (across, height) = self.place((point.x, point.y))?;
        let beyond = self.beyond(point.y);
        Some((across, beyond.map_or(height, |(rows, end)| rows.middle(&line.name, end))))
    }
}

/// Draws the lines, those with a colour last, so that they lie on top.
pub fn draw(
    lines: &[Line],
    x: &Axis,
    y: &Scale,
    landmark: Option<&Landmark>,
    width: Width,
) -> Markup {
    let size = width.text();
    let labels = legend::labels(lines, width);
    let below = Rows::new(lines, &y.axis, Edge::Low);
    let above = Rows::new(lines, &y.axis, Edge::High);
    let room = if below.is_empty() && above.is_empty() { 0.0 } else { beyond::ROOM };
    let margin = match width {
        Width::Wide => legend::margin(&labels, size) + room,
        Width::Narrow => 14.0 + room,
    };
    let tallest = match width {
        Width::Wide => 400.0,
        Width::Narrow => 270.0,
    };
    let ticks = y.axis.ticks(7);
    let widest_tick =
        ticks.iter().map(|(_, label)| canvas::text_width(label, size)).fold(0.0, f64::max);
    let top = TOP + above.height();
    let plot = Plot {
        left: widest_tick + 16.0,
        right: width.pixels() - margin,
        top,
        bottom: top + tallest,
        x,
        y,
        above,
        below,
    };
    let floor = plot.bottom + plot.below.height();
    let height = match width {
        Width::Wide => floor + 52.0,
        Width::Narrow => floor + 52.0 + legend::block_height(&labels),
    };
    canvas::draw(width, height, |canvas| {
        frame(canvas, &plot, &ticks, floor, width);
        if let Some(landmark) = landmark {
            mark(canvas, &plot, landmark);
        }
        // The first lock, and all that are not grey, on top.
        let mut order: Vec<&Line> = lines.iter().collect();
        order.sort_by_key(|line| (!line.quiet, theme::is_own(&line.name)));
        for line in order {
            one(canvas, &plot, line, size);
        }
        grey_rows(canvas, &plot, lines, size);
        match width {
            Width::Wide => {
                let ends = |name: &str| {
                    let line = lines.iter().find(|line| line.name == name)?;
                    let (x, y) = line.points.iter().rev().find_map(|p| plot.spot(line, p))?;
                    Some((x + room, y))
                };
                let right = plot.right + room;
                legend::at_line_ends(canvas, &labels, ends, right, (TOP, floor));
            }
            Width::Narrow => legend::block(canvas, &labels, floor + 58.0),
        }
    })
}

fn frame(canvas: &mut Canvas, plot: &Plot, ticks: &[(f64, String)], floor: f64, width: Width) {
    for (place, label) in ticks {
        let height = plot.bottom - place * (plot.bottom - plot.top);
        canvas.line(&[(plot.left, height), (plot.right, height)], Ink::Grid, 1.0);
        canvas.text(label, (plot.left - 8.0, height), Side::End, Ink::Muted, false);
    }
    let along = match width {
        Width::Wide => 16,
        Width::Narrow => 9,
    };
    for (place, label) in plot.x.ticks(along) {
        let across = plot.left + place * (plot.right - plot.left);
        canvas.line(&[(across, floor), (across, floor + 5.0)], Ink::Axis, 1.0);
        canvas.text(&label, (across, floor + 16.0), Side::Middle, Ink::Muted, false);
    }
    canvas.line(&[(plot.left, plot.bottom), (plot.right, plot.bottom)], Ink::Axis, 1.0);
    for (rows, end) in [(&plot.below, floor), (&plot.above, plot.top)] {
        if !rows.is_empty() {
            canvas.line(&[(plot.left, end), (plot.right, end)], Ink::Axis, 1.0);
        }
    }
    canvas.text(&plot.y.axis.title, (2.0, 12.0), Side::Start, Ink::Muted, false);
    let middle = f64::midpoint(plot.left, plot.right);
    canvas.text(&plot.x.title, (middle, floor + 38.0), Side::Middle, Ink::Muted, false);
}

fn mark(canvas: &mut Canvas, plot: &Plot, landmark: &Landmark) {
    let Some(across) = plot.across(landmark.x) else { return };
    let ceiling = plot.top - plot.above.height();
    canvas.dashed(&[(across, ceiling - 6.0), (across, plot.bottom)], Ink::Axis, 1.0, "3 3");
    canvas.text(&landmark.name, (across + 5.0, ceiling - 4.0), Side::Start, Ink::Muted, false);
}

fn one(canvas: &mut Canvas, plot: &Plot, line: &Line, size: f64) {
    let spots: Vec<Spot> = line
        .points
        .iter()
        .filter_map(|point| Some((plot.spot(line, point)?, point.words.clone())))
        .collect();
    let is_inside = |point: &&Point| plot.beyond(point.y).is_none();
    let placed: Vec<(f64, f64)> =
        line.points.iter().filter(is_inside).filter_map(|p| plot.place((p.x, p.y))).collect();
    let layer = Layer { name: &line.name, quiet: line.quiet, spots, ..Layer::default() };
    canvas.layer(&layer, |canvas| {
        if !line.quiet {
            band(canvas, line, plot);
        }
        let stroke = stroke(&line.name, line.quiet);
        for piece in pieces(plot, line) {
            canvas.dashed(&piece, line.ink, stroke, line.ink.dash());
        }
        if !line.quiet || placed.len() < 2 {
            canvas.markers(&placed, line.ink.shape(), line.ink);
        }
        if !line.quiet {
            own_row(canvas, plot, line, size);
        }
    });
}

/// The line in pieces: it goes to the end of the axis and comes back from there, but not along it.
fn pieces(plot: &Plot, line: &Line) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<Vec<(f64, f64)>> = vec![Vec::new()];
    let mut was_inside = true;
    for point in &line.points {
        let Some(at) = plot.place((point.x, point.y)) else { continue };
        let is_inside = plot.beyond(point.y).is_none();
        if !was_inside && !is_inside {
            pieces.push(Vec::new());
        }
        pieces.last_mut().expect("there is a piece").push(at);
        was_inside = is_inside;
    }
    pieces
}

/// The values of a line that the axis does not fit.
fn own_row(canvas: &mut Canvas, plot: &Plot, line: &Line, size: f64) {
    for rows in [&plot.below, &plot.above] {
        let here =
            |point: &&Point| plot.beyond(point.y).is_some_and(|(of, _)| std::ptr::eq(of, rows));
        let value = |point: &Point| Some((plot.spot(line, point)?, (plot.y.short)(point.y)));
        let values: Vec<_> = line.points.iter().filter(here).filter_map(value).collect();
        rows.arrows(canvas, &values, size, line.ink);
    }
}

/// The values of grey lines that the axis does not fit.
fn grey_rows(canvas: &mut Canvas, plot: &Plot, lines: &[Line], size: f64) {
    for (rows, end) in [(&plot.below, plot.bottom), (&plot.above, plot.top)] {
        let height = rows.middle("", end);
        let values: Vec<_> = rows
            .counts(lines, &plot.y.axis, &*plot.y.short)
            .into_iter()
            .filter_map(|(x, text)| Some(((plot.across(x)?, height), text)))
            .collect();
        rows.arrows(canvas, &values, size, Ink::Faint);
    }
}

/// The area between the quartiles.
fn band(canvas: &mut Canvas, line: &Line, plot: &Plot) {
    let edge = |quartile: fn(&Point) -> f64| -> Vec<(f64, f64)> {
        line.points.iter().filter_map(|point| plot.place((point.x, quartile(point)))).collect()
    };
    let (low, high) = (edge(|point| point.quartiles.0), edge(|point| point.quartiles.1));
    if low.len() < 2 || low.len() != high.len() {
        return;
    }
    let outline: Vec<(f64, f64)> = low.into_iter().chain(high.into_iter().rev()).collect();
    canvas.area(&outline, line.ink, 0.16);
}

#[cfg(test)]
mod tests {
    use super::super::scale;
    use super::*;
    use crate::data::Shown;
    use ondeck_lab::results::{Better, Unit, Vocabulary};

    /// A lock over 1, 8 and 32 threads.
    fn line(name: &str, slot: usize, quiet: bool, values: [f64; 3]) -> Line {
        let point =
            |(x, y): (f64, f64)| Point { x, y, quartiles: (y, y), words: format!("{y} words") };
        let points = [1.0, 8.0, 32.0].into_iter().zip(values).map(point).collect();
        Line { name: name.to_owned(), ink: Ink::Series(slot), quiet, points }
    }

    fn drawn(lines: &[Line], unit: &str, better: Better) -> String {
        let shown = Shown { factor: 1.0, unit: unit.to_owned(), ratio: false };
        let y = scale::of_lines(lines, Unit::of(unit), better, &shown);
        let x = Axis::doublings(&[1, 8, 32], "threads");
        let landmark = Landmark { x: 2.0, name: "2 CPUs".to_owned() };
        draw(lines, &x, &y, Some(&landmark), Width::Narrow).0
    }

    /// What is drawn of a lock.
    fn layer<'a>(drawn: &'a str, name: &str) -> &'a str {
        let start = drawn.find(&format!("data-lock=\"{name}\"")).expect("the lock's layer");
        drawn[start..].split("</g>").next().expect("it ends")
    }

    /// The texts with their heights.
    fn texts(drawn: &str) -> Vec<(&str, f64)> {
        drawn
            .split("<text ")
            .skip(1)
            .map(|part| {
                let (head, rest) = part.split_once('>').expect("a tag ends");
                let height = head.split("y=\"").nth(1).and_then(|y| y.split('"').next());
                let height = height.and_then(|y| y.parse().ok()).expect("a height");
                (rest.split("</text>").next().expect("a text ends"), height)
            })
            .collect()
    }

    const GOOD: [[f64; 3]; 2] = [[3e8, 2e6, 2e6], [2e8, 3e6, 1e6]];

    fn good() -> Vec<Line> {
        vec![line("a", 0, false, GOOD[0]), line("b", 1, false, GOOD[1])]
    }

    #[test]
    fn a_value_out_of_range_is_an_arrow_at_the_edge_with_its_number() {
        let before = drawn(&good(), "ops/s", Better::Higher);
        let mut lines = good();
        lines.push(line("collapsed", 2, false, [3e8, 41.0, 0.0]));
        let after = drawn(&lines, "ops/s", Better::Higher);
        let layer = layer(&after, "collapsed");
        let numbers: Vec<&str> = texts(layer).iter().map(|(text, _)| *text).collect();
        assert_eq!(numbers, ["0", "41"]);
        let ticks = texts(&after);
        let foot = ticks.iter().find(|(text, _)| *text == "32").expect("a tick").1;
        for (_, height) in texts(layer) {
            assert!(TOP + 270.0 < height && height < foot, "{height} {foot}");
        }
        // A shaft and a head for each of the two arrows, and the line from one thread to the edge.
        assert_eq!(layer.matches("<polyline").count(), 2 * 2 + 1, "{layer}");
        assert!(layer.contains("41 words\n0 words"), "{layer}");
        let heights = |drawn: &str| -> Vec<(String, f64)> {
            let ticks = texts(drawn).into_iter().filter(|(text, _)| text.ends_with("/s"));
            ticks.map(|(text, height)| (text.to_owned(), height)).collect()
        };
        assert_eq!(heights(&before), heights(&after), "the axis is another one");
        assert!(after.contains(">2 CPUs</text>"));
    }

    #[test]
    fn a_time_out_of_range_leaves_through_the_top() {
        let mut lines = vec![
            line("a", 0, false, [30.0, 60.0, 50.0]),
            line("b", 1, false, [40.0, 50.0, 50.0]),
            line("collapsed", 2, false, [40.0, 50.0, 9e9]),
        ];
        let drawn = drawn(&lines, "ns", Better::Lower);
        let [(number, height)] = texts(layer(&drawn, "collapsed"))[..] else { panic!("{drawn}") };
        assert_eq!(number, "9 s");
        let top = TOP + Rows::new(&lines, &Axis::between(0.0, 70.0, ""), Edge::High).height();
        assert!(height < top, "{height}");
        lines.pop();
        assert!(Rows::new(&lines, &Axis::between(0.0, 70.0, ""), Edge::High).is_empty());
    }

    #[test]
    fn without_a_value_out_of_range_nothing_is_beyond_the_axis() {
        let drawn = drawn(&good(), "ops/s", Better::Higher);
        assert_eq!(texts(layer(&drawn, "a")), []);
        let foot = texts(&drawn).iter().find(|(text, _)| *text == "32").expect("a tick").1;
        assert!((foot - (TOP + 270.0 + 20.0)).abs() < 0.5, "{foot}");
    }

    #[test]
    fn grey_lines_share_a_row() {
        let mut lines = good();
        lines.push(line("c", 2, false, GOOD[0]));
        for index in 0..2 {
            lines.push(line(&format!("grey{index}"), 10, true, [3e8, 2e6 * f64::from(index), 7.0]));
        }
        let drawn = drawn(&lines, "ops/s", Better::Higher);
        let found: Vec<&str> = texts(&drawn).into_iter().map(|(text, _)| text).collect();
        assert!(found.contains(&"2 locks"), "{found:?}");
        assert!(found.contains(&"0"), "the only one at 8 threads: {found:?}");
        assert_eq!(texts(layer(&drawn, "grey0")), []);
    }
}
