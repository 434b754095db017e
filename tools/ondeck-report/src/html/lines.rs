//! Lines over the number of threads.

use maud::Markup;
use ondeck_text::ink::Ink;

use super::axis::Axis;
use super::canvas::{self, Canvas, Layer, Side, Spot, Width};
use super::legend;
use super::line::{Line, Point, stroke};
use super::palette;

/// Room above the plot, for the axis' title and the landmark's name.
const TOP: f64 = 34.0;

/// A vertical line with a word, as at the number of CPUs.
#[derive(Clone, Debug)]
pub struct Landmark {
    /// Its place.
    pub x: f64,
    /// Its word.
    pub name: String,
}

/// A plot: the rectangle between its axes.
struct Plot<'a> {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: &'a Axis,
    y: &'a Axis,
}

impl Plot<'_> {
    fn across(&self, x: f64) -> Option<f64> {
        Some(self.left + self.x.at(x)? * (self.right - self.left))
    }

    /// The place of a value in the drawing.
    fn place(&self, (x, y): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.across(x)?, self.bottom - self.y.at(y)? * (self.bottom - self.top)))
    }
}

/// Draws the lines, those with a colour last, so that they are on top.
pub fn draw(lines: &[Line], x: &Axis, y: &Axis, landmarks: &[Landmark], width: Width) -> Markup {
    let size = width.text();
    let labels = legend::labels(lines, width);
    let (margin, tallest) = match width {
        Width::Wide => (legend::margin(&labels, size), 400.0),
        Width::Narrow => (14.0, 270.0),
    };
    let ticks = y.ticks(7);
    let widest_tick =
        ticks.iter().map(|(_, label)| canvas::text_width(label, size)).fold(0.0, f64::max);
    let plot = Plot {
        left: widest_tick + 16.0,
        right: width.pixels() - margin,
        top: TOP,
        bottom: TOP + tallest,
        x,
        y,
    };
    let height = match width {
        Width::Wide => plot.bottom + 52.0,
        Width::Narrow => plot.bottom + 52.0 + legend::block_height(&labels),
    };
    canvas::draw(width, height, |canvas| {
        frame(canvas, &plot, &ticks, width);
        for landmark in landmarks {
            mark(canvas, &plot, landmark);
        }
        // The first lock, and all that are not grey, on top.
        let mut order: Vec<&Line> = lines.iter().collect();
        order.sort_by_key(|line| (!line.quiet, palette::is_own(&line.name)));
        for line in order {
            one(canvas, &plot, line);
        }
        match width {
            Width::Wide => {
                let ends = |name: &str| {
                    let line = lines.iter().find(|line| line.name == name)?;
                    line.points.iter().rev().find_map(|point| plot.place((point.x, point.y)))
                };
                legend::at_line_ends(canvas, &labels, ends, plot.right, (TOP, plot.bottom));
            }
            Width::Narrow => legend::block(canvas, &labels, plot.bottom + 58.0),
        }
    })
}

fn frame(canvas: &mut Canvas, plot: &Plot, ticks: &[(f64, String)], width: Width) {
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
        canvas.line(&[(across, plot.bottom), (across, plot.bottom + 5.0)], Ink::Axis, 1.0);
        canvas.text(&label, (across, plot.bottom + 16.0), Side::Middle, Ink::Muted, false);
    }
    canvas.line(&[(plot.left, plot.bottom), (plot.right, plot.bottom)], Ink::Axis, 1.0);
    canvas.text(&plot.y.title, (2.0, 12.0), Side::Start, Ink::Muted, false);
    let middle = f64::midpoint(plot.left, plot.right);
    canvas.text(&plot.x.title, (middle, plot.bottom + 38.0), Side::Middle, Ink::Muted, false);
}

fn mark(canvas: &mut Canvas, plot: &Plot, landmark: &Landmark) {
    let Some(across) = plot.across(landmark.x) else { return };
    canvas.dashed(&[(across, plot.top - 6.0), (across, plot.bottom)], Ink::Axis, 1.0, "3 3");
    // At the end of a narrow drawing there is no room after the mark.
    let (x, side) = if across > plot.right - 20.0 {
        (across - 5.0, Side::End)
    } else {
        (across + 5.0, Side::Start)
    };
    canvas.text(&landmark.name, (x, plot.top - 4.0), side, Ink::Muted, false);
}

fn one(canvas: &mut Canvas, plot: &Plot, line: &Line) {
    let spots: Vec<Spot> = line
        .points
        .iter()
        .filter_map(|point| Some((plot.place((point.x, point.y))?, point.words.clone())))
        .collect();
    let placed: Vec<(f64, f64)> = spots.iter().map(|(place, _)| *place).collect();
    let layer = Layer { name: &line.name, quiet: line.quiet, spots, ..Layer::default() };
    canvas.layer(&layer, |canvas| {
        if !line.quiet {
            band(canvas, line, plot);
        }
        let stroke = stroke(&line.name, line.quiet);
        canvas.dashed(&placed, line.ink, stroke, line.ink.dash());
        if !line.quiet || placed.len() < 2 {
            canvas.markers(&placed, line.ink.shape(), line.ink);
        }
    });
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
