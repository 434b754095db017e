//! Lines over the number of threads.

use maud::Markup;

use super::axis::Axis;
use super::canvas::{self, Canvas, Layer, Side, Spot, Width};
use super::legend;
use super::line::{Line, Point, stroke};
use super::theme::{self, Ink};

/// A vertical line with a word, as at the number of CPUs.
#[derive(Clone, Debug)]
pub struct Landmark {
    /// Where.
    pub x: f64,
    /// What is there.
    pub name: String,
}

/// The rectangle of a plot between its axes.
#[derive(Clone, Copy, Debug)]
struct Plot {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Plot {
    fn place(&self, x: &Axis, y: &Axis, at: (f64, f64)) -> Option<(f64, f64)> {
        let (x, y) = (x.at(at.0)?, y.at(at.1)?);
        Some((self.left + x * (self.right - self.left), self.bottom - y * (self.bottom - self.top)))
    }
}

/// Draws the lines, those with a colour last, so that they lie on top.
pub fn draw(
    lines: &[Line],
    x: &Axis,
    y: &Axis,
    landmark: Option<&Landmark>,
    width: Width,
) -> Markup {
    let size = width.text();
    let labels = legend::labels(lines, width);
    let margin = match width {
        Width::Wide => legend::margin(&labels, size),
        Width::Narrow => 14.0,
    };
    let tallest = match width {
        Width::Wide => 400.0,
        Width::Narrow => 270.0,
    };
    let widest_tick =
        y.ticks(7).iter().map(|(_, label)| canvas::text_width(label, size)).fold(0.0, f64::max);
    let plot = Plot {
        left: widest_tick + 16.0,
        right: width.pixels() - margin,
        top: 34.0,
        bottom: 34.0 + tallest,
    };
    let below = plot.bottom + 52.0;
    let height = match width {
        Width::Wide => below,
        Width::Narrow => below + legend::block_height(&labels),
    };
    canvas::draw(width, height, |canvas| {
        frame(canvas, &plot, x, y, width);
        if let Some(landmark) = landmark {
            mark(canvas, &plot, x, landmark);
        }
        // The first lock, and what is not grey, on top.
        let mut order: Vec<&Line> = lines.iter().collect();
        order.sort_by_key(|line| (!line.quiet, theme::is_own(&line.name)));
        for line in order {
            one(canvas, &plot, line, x, y);
        }
        match width {
            Width::Wide => {
                let ends = |name: &str| {
                    let line = lines.iter().find(|line| line.name == name)?;
                    line.points.iter().rev().find_map(|p| plot.place(x, y, (p.x, p.y)))
                };
                legend::at_line_ends(canvas, &labels, ends, plot.right, (plot.top, plot.bottom));
            }
            Width::Narrow => legend::block(canvas, &labels, plot.bottom + 58.0),
        }
    })
}

fn frame(canvas: &mut Canvas, plot: &Plot, x: &Axis, y: &Axis, width: Width) {
    for (place, label) in y.ticks(7) {
        let height = plot.bottom - place * (plot.bottom - plot.top);
        canvas.line(&[(plot.left, height), (plot.right, height)], Ink::Grid, 1.0);
        canvas.text(&label, (plot.left - 8.0, height), Side::End, Ink::Muted, false);
    }
    let along = match width {
        Width::Wide => 16,
        Width::Narrow => 9,
    };
    for (place, label) in x.ticks(along) {
        let across = plot.left + place * (plot.right - plot.left);
        canvas.line(&[(across, plot.bottom), (across, plot.bottom + 5.0)], Ink::Axis, 1.0);
        canvas.text(&label, (across, plot.bottom + 16.0), Side::Middle, Ink::Muted, false);
    }
    canvas.line(&[(plot.left, plot.bottom), (plot.right, plot.bottom)], Ink::Axis, 1.0);
    canvas.text(&y.title, (2.0, 12.0), Side::Start, Ink::Muted, false);
    let middle = f64::midpoint(plot.left, plot.right);
    canvas.text(&x.title, (middle, plot.bottom + 38.0), Side::Middle, Ink::Muted, false);
}

fn mark(canvas: &mut Canvas, plot: &Plot, x: &Axis, landmark: &Landmark) {
    let Some(place) = x.at(landmark.x) else { return };
    let across = plot.left + place * (plot.right - plot.left);
    canvas.dashed(&[(across, plot.top - 6.0), (across, plot.bottom)], Ink::Axis, 1.0, "3 3");
    canvas.text(&landmark.name, (across + 5.0, plot.top - 4.0), Side::Start, Ink::Muted, false);
}

fn one(canvas: &mut Canvas, plot: &Plot, line: &Line, x: &Axis, y: &Axis) {
    let place = |x_value: f64, y_value: f64| plot.place(x, y, (x_value, y_value));
    let spots: Vec<Spot> = line
        .points
        .iter()
        .filter_map(|point| Some((place(point.x, point.y)?, point.words.clone())))
        .collect();
    let placed: Vec<(f64, f64)> = spots.iter().map(|(at, _)| *at).collect();
    let layer = Layer { name: &line.name, quiet: line.quiet, spots, ..Layer::default() };
    canvas.layer(&layer, |canvas| {
        if !line.quiet {
            band(canvas, line, &place);
        }
        let stroke = stroke(&line.name, line.quiet);
        canvas.dashed(&placed, line.ink, stroke, line.ink.dash());
        if !line.quiet || placed.len() < 2 {
            canvas.markers(&placed, line.ink.shape(), line.ink);
        }
    });
}

/// The area between the quartiles.
fn band(canvas: &mut Canvas, line: &Line, place: &impl Fn(f64, f64) -> Option<(f64, f64)>) {
    let edge = |quartile: fn(&Point) -> f64| -> Vec<(f64, f64)> {
        line.points.iter().filter_map(|point| place(point.x, quartile(point))).collect()
    };
    let (low, high) = (edge(|point| point.quartiles.0), edge(|point| point.quartiles.1));
    if low.len() < 2 || low.len() != high.len() {
        return;
    }
    let outline: Vec<(f64, f64)> = low.into_iter().chain(high.into_iter().rev()).collect();
    canvas.area(&outline, line.ink, 0.16);
}
