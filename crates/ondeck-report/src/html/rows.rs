//! Plots with one row for each lock (or operation): the frame, bars and dots.

use maud::Markup;

use super::axis::{Axis, Edge};
use super::canvas::{self, Canvas, Layer, Side, Spot, Toward, Width, fitted, text_width};
use super::theme::{self, Ink};

/// The label of a row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The lock or the operation.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Its colour.
    pub ink: Ink,
}

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A lock.
    Lock,
    /// Something else that has values.
    Other,
    /// A heading without values.
    Heading,
}

impl Row {
    /// Set in bold: this project's own lock.
    pub fn own(&self) -> bool {
        self.kind == Kind::Lock && theme::is_own(&self.name)
    }
}

/// Where things are in a plot of rows.
pub struct Frame<'a> {
    /// Which drawing.
    pub width: Width,
    /// The rows from top to bottom.
    pub rows: &'a [Row],
    /// Height of a row.
    pub step: f64,
    /// Room above for a legend.
    pub above: f64,
    /// Room on the right for values.
    pub right: f64,
    /// The axis at the bottom.
    pub axis: &'a Axis,
}

impl Frame<'_> {
    fn left(&self) -> f64 {
        let most = self.width.pixels() * 0.38;
        let widest = self
            .rows
            .iter()
            .map(|row| text_width(&row.name, self.width.text()))
            .fold(30.0, f64::max);
        widest.min(most) + 14.0
    }

    fn ends(&self) -> (f64, f64) {
        (self.left(), self.width.pixels() - self.right)
    }

    /// The horizontal place of a value.
    pub fn across(&self, value: f64) -> Option<f64> {
        let (left, right) = self.ends();
        Some(left + self.axis.at(value)? * (right - left))
    }

    /// The middle of a row.
    pub fn middle(&self, row: usize) -> f64 {
        self.above + (row as f64 + 0.5) * self.step
    }

    /// Draws grid and axis, then each row: its name, and what `paint` adds. `key` draws above.
    pub fn draw(
        &self,
        key: impl FnOnce(&mut Canvas, &Self),
        spots: impl Fn(usize) -> Vec<Spot>,
        paint: impl Fn(&mut Canvas, usize),
    ) -> Markup {
        let bottom = self.above + self.rows.len() as f64 * self.step;
        canvas::draw_rows(self.width, bottom + 54.0, Some(self.step), |canvas| {
            let (left, right) = self.ends();
            let ticks = self.axis.ticks(self.width.ticks());
            let places: Vec<f64> =
                ticks.iter().map(|(place, _)| left + place * (right - left)).collect();
            canvas.part("grid", |canvas| {
                for across in &places {
                    canvas.line(&[(*across, self.above), (*across, bottom)], Ink::Grid, 1.0);
                }
            });
            canvas.part("foot", |canvas| {
                for (across, (_, label)) in places.iter().zip(&ticks) {
                    let at = (*across, bottom + 16.0);
                    canvas.text(label, at, Side::Middle, Ink::Muted, false);
                }
                let at = (f64::midpoint(left, right), bottom + 38.0);
                canvas.text(&self.axis.title, at, Side::Middle, Ink::Muted, false);
            });
            key(canvas, self);
            for (index, row) in self.rows.iter().enumerate() {
                let layer = Layer {
                    name: &row.name,
                    other: row.kind != Kind::Lock,
                    row: Some(index),
                    spots: spots(index),
                    ..Layer::default()
                };
                canvas.layer(&layer, |canvas| {
                    self.name(canvas, row, self.middle(index));
                    paint(canvas, index);
                });
            }
            canvas.part("grid", |canvas| {
                canvas.line(&[(left, self.above), (left, bottom)], Ink::Axis, 1.0);
            });
        })
    }

    fn name(&self, canvas: &mut Canvas, row: &Row, at: f64) {
        let (left, _) = self.ends();
        let name = fitted(&row.name, self.width.text(), left - 14.0);
        if row.kind == Kind::Heading {
            canvas.text(&name, (2.0, at), Side::Start, Ink::Text, true);
        } else {
            canvas.text(&name, (left - 8.0, at), Side::End, Ink::Text, row.own());
        }
    }
}

/// A median with its quartiles.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// The median.
    pub median: f64,
    /// Lower and upper quartile.
    pub quartiles: (f64, f64),
}

impl Value {
    fn words(&self, format: &dyn Fn(f64) -> String) -> String {
        let (low, high) = self.quartiles;
        format!("{} (quartiles {} to {})", format(self.median), format(low), format(high))
    }
}

/// Horizontal bars: for each row one bar for each kind, in the order of `kinds`; the first kind is
/// solid, the others are paler.
pub fn bars(
    rows: &[(Row, Vec<Option<Value>>)],
    kinds: &[String],
    axis: &Axis,
    format: &dyn Fn(f64) -> String,
    width: Width,
) -> Markup {
    let labels: Vec<Row> = rows.iter().map(|(row, _)| row.clone()).collect();
    let thick: f64 = if kinds.len() > 1 { 13.0 } else { 15.0 };
    let step = (thick + 1.0) * kinds.len().max(1) as f64 + 9.0;
    let key = places(kinds, width);
    let above = key.last().map_or(8.0, |(_, y)| y + 21.0);
    let frame = Frame { width, rows: &labels, step, above, right: 58.0, axis };
    let (left, right) = frame.ends();
    let middle = |row: usize, kind: usize| {
        let first = frame.middle(row) - (thick + 1.0) * (kinds.len() as f64 - 1.0) / 2.0;
        first + (thick + 1.0) * kind as f64
    };
    let key = |canvas: &mut Canvas, _: &Frame| {
        for (kind, ((x, y), name)) in key.iter().zip(kinds).enumerate() {
            canvas.bar((*x, y - 6.0), (x + 18.0, y + 6.0), Ink::Plain, paleness(kind));
            canvas.text(name, (x + 24.0, *y), Side::Start, Ink::Muted, false);
        }
    };
    let spots = |index: usize| {
        let spot = |(kind, value): (usize, &Option<Value>)| {
            let value = value.as_ref()?;
            let words = match kinds.get(kind).filter(|_| kinds.len() > 1) {
                Some(name) => format!("{name}: {}", value.words(format)),
                None => value.words(format),
            };
            Some(((frame.across(value.median)?, middle(index, kind)), words))
        };
        rows[index].1.iter().enumerate().filter_map(spot).collect()
    };
    frame.draw(key, spots, |canvas, index| {
        let (row, values) = &rows[index];
        for (kind, value) in values.iter().enumerate() {
            let Some(value) = value else { continue };
            let middle = middle(index, kind);
            let Some(end) = frame.across(value.median) else { continue };
            let zero = frame.across(0.0).unwrap_or(left);
            let half = thick / 2.0;
            solid(canvas, (zero, middle - half), (end, middle + half), row.ink, paleness(kind));
            let mut edge = end;
            if axis.leaves(value.median) == Some(Edge::High) {
                canvas.arrow((right - 8.0, middle), Toward::Right, Ink::Paper);
            } else {
                edge = edge.max(whisker(canvas, &frame, value, middle).unwrap_or(end));
            }
            let text = format(value.median);
            canvas.text(&text, (edge + 7.0, middle), Side::Start, Ink::Text, row.own());
        }
    })
}

/// A bar; with an outline, and pale inside, where another lock has the same colour.
fn solid(canvas: &mut Canvas, from: (f64, f64), to: (f64, f64), ink: Ink, alpha: f64) {
    if !ink.shared() {
        canvas.bar(from, to, ink, alpha);
        return;
    }
    canvas.bar(from, to, ink, 0.35 * alpha);
    let (from, to) = ((from.0, from.1 + 0.75), (to.0 - 0.75, to.1 - 0.75));
    let outline = [from, (to.0, from.1), to, (from.0, to.1), from];
    canvas.dashed(&outline, ink, 1.5, ink.dash());
}

/// Where the entries of the key are, in as many lines as they need; none for a single kind.
fn places(kinds: &[String], width: Width) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (2.0, 13.0);
    let mut places = Vec::new();
    for name in kinds.iter().filter(|_| kinds.len() > 1) {
        let wide = 24.0 + text_width(name, width.text());
        if x > 2.0 && x + wide > width.pixels() {
            (x, y) = (2.0, y + 18.0);
        }
        places.push((x, y));
        x += wide + 18.0;
    }
    places
}

fn paleness(kind: usize) -> f64 {
    if kind == 0 { 1.0 } else { 0.45 }
}

/// The whisker between the quartiles; returns its right end.
fn whisker(canvas: &mut Canvas, frame: &Frame, value: &Value, middle: f64) -> Option<f64> {
    let low = frame.across(value.quartiles.0)?;
    let high = frame.across(value.quartiles.1)?;
    canvas.line(&[(low, middle), (high, middle)], Ink::Text, 1.0);
    for end in [low, high] {
        canvas.line(&[(end, middle - 3.0), (end, middle + 3.0)], Ink::Text, 1.0);
    }
    Some(high)
}

/// A dot for each row at its median, a line between the quartiles, and the value beside it.
pub fn dots(
    rows: &[(Row, Option<Value>)],
    axis: &Axis,
    format: &dyn Fn(f64) -> String,
    width: Width,
) -> Markup {
    let labels: Vec<Row> = rows.iter().map(|(row, _)| row.clone()).collect();
    let frame = Frame { width, rows: &labels, step: 21.0, above: 8.0, right: 70.0, axis };
    let (left, _) = frame.ends();
    let spots = |index: usize| {
        let value = rows[index].1.as_ref();
        let spot = |value: &Value| {
            Some(((frame.across(value.median)?, frame.middle(index)), value.words(format)))
        };
        value.and_then(spot).into_iter().collect()
    };
    let no_key = |_: &mut Canvas, _: &Frame| {};
    frame.draw(no_key, spots, |canvas, index| {
        let (row, Some(value)) = &rows[index] else { return };
        let middle = frame.middle(index);
        let Some(at) = frame.across(value.median) else { return };
        canvas.line(&[(left, middle), (at, middle)], Ink::Grid, 1.0);
        let low = frame.across(value.quartiles.0);
        let high = frame.across(value.quartiles.1);
        if let (Some(low), Some(high)) = (low, high) {
            canvas.bar((low, middle - 2.0), (high, middle + 2.0), row.ink, 0.45);
        }
        canvas.markers(&[(at, middle)], 0, row.ink);
        let beside = high.unwrap_or(at).max(at) + 10.0;
        canvas.text(&format(value.median), (beside, middle), Side::Start, Ink::Text, row.own());
    })
}
