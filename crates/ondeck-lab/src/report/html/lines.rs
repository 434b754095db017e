//! Lines over the number of threads.

use maud::Markup;

use super::axis::Axis;
use super::canvas::{self, Canvas, Side, Width};
use super::legend;
use super::theme::Ink;

/// One lock's line.
#[derive(Clone, Debug)]
pub struct Line {
    /// The lock.
    pub name: String,
    /// Its colour, if it has one of its own.
    pub slot: Option<usize>,
    /// Where it passes, from left to right.
    pub points: Vec<Point>,
}

/// A median with its quartiles.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Threads.
    pub x: f64,
    /// The median.
    pub y: f64,
    /// Lower and upper quartile.
    pub quartiles: (f64, f64),
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
pub fn draw(lines: &[Line], x: &Axis, y: &Axis, width: Width) -> Markup {
    let size = width.text();
    let labels = legend::labels(lines, width);
    let margin = match width {
        Width::Wide => legend::margin(&labels, size),
        Width::Narrow => 14.0,
    };
    let tallest = match width {
        Width::Wide => 380.0,
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
        let mut order: Vec<&Line> = lines.iter().collect();
        order.sort_by_key(|line| std::cmp::Reverse(line.slot.unwrap_or(usize::MAX)));
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

/// The stroke of a line, its width and its marker, as the legend shows them too.
pub fn style(slot: Option<usize>) -> (Ink, u32) {
    match slot {
        Some(0) => (Ink::Series(0), 3),
        Some(slot) => (Ink::Series(slot), 2),
        None => (Ink::Faint, 1),
    }
}

fn frame(canvas: &mut Canvas, plot: &Plot, x: &Axis, y: &Axis, width: Width) {
    for (place, label) in y.ticks(7) {
        let height = plot.bottom - place * (plot.bottom - plot.top);
        canvas.line(&[(plot.left, height), (plot.right, height)], Ink::Grid, 1);
        canvas.text(&label, (plot.left - 8.0, height), Side::End, Ink::Muted, false);
    }
    let along = match width {
        Width::Wide => 16,
        Width::Narrow => 9,
    };
    for (place, label) in x.ticks(along) {
        let across = plot.left + place * (plot.right - plot.left);
        canvas.line(&[(across, plot.bottom), (across, plot.bottom + 5.0)], Ink::Axis, 1);
        canvas.text(&label, (across, plot.bottom + 16.0), Side::Middle, Ink::Muted, false);
    }
    canvas.line(&[(plot.left, plot.bottom), (plot.right, plot.bottom)], Ink::Axis, 1);
    canvas.text(&y.title, (2.0, 12.0), Side::Start, Ink::Muted, false);
    let middle = f64::midpoint(plot.left, plot.right);
    canvas.text(&x.title, (middle, plot.bottom + 38.0), Side::Middle, Ink::Muted, false);
}

fn one(canvas: &mut Canvas, plot: &Plot, line: &Line, x: &Axis, y: &Axis) {
    let (ink, stroke) = style(line.slot);
    let placed: Vec<(f64, f64)> =
        line.points.iter().filter_map(|point| plot.place(x, y, (point.x, point.y))).collect();
    canvas.line(&placed, ink, stroke);
    for point in &line.points {
        let Some(at) = plot.place(x, y, (point.x, point.y)) else { continue };
        let Some(slot) = line.slot else {
            canvas.circle(at, 2, ink, true);
            continue;
        };
        let low = plot.place(x, y, (point.x, point.quartiles.0));
        let high = plot.place(x, y, (point.x, point.quartiles.1));
        if let (Some(low), Some(high)) = (low, high)
            && (low.1 - high.1).abs() > 10.0
        {
            canvas.bar((at.0 - 1.0, low.1), (at.0 + 1.0, high.1), ink, 0.55);
        }
        canvas.marker(at, slot, ink);
    }
}
