//! Plots with one row for each lock (or operation): the frame, bars and dots.

use maud::Markup;

use super::axis::Axis;
use super::canvas::{self, Canvas, Side, Width, fitted, text_width};
use super::theme::Ink;

/// The label of a row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The lock or the operation.
    pub name: String,
    /// Set in bold and in colour.
    pub own: bool,
    /// A heading without values.
    pub heading: bool,
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

    /// Draws grid, axis, names, and then what `paint` adds.
    pub fn draw(&self, paint: impl FnOnce(&mut Canvas, &Self)) -> Markup {
        let bottom = self.above + self.rows.len() as f64 * self.step;
        canvas::draw(self.width, bottom + 54.0, |canvas| {
            let (left, right) = self.ends();
            for (place, label) in self.axis.ticks(self.width.ticks()) {
                let across = left + place * (right - left);
                canvas.line(&[(across, self.above), (across, bottom + 5.0)], Ink::Grid, 1);
                canvas.text(&label, (across, bottom + 16.0), Side::Middle, Ink::Muted, false);
            }
            let middle = f64::midpoint(left, right);
            canvas.text(&self.axis.title, (middle, bottom + 38.0), Side::Middle, Ink::Muted, false);
            for (index, row) in self.rows.iter().enumerate() {
                let name = fitted(&row.name, self.width.text(), left - 14.0);
                let at = self.middle(index);
                if row.heading {
                    canvas.text(&name, (2.0, at), Side::Start, Ink::Text, true);
                } else {
                    canvas.text(&name, (left - 8.0, at), Side::End, Ink::Text, row.own);
                }
            }
            canvas.line(&[(left, self.above), (left, bottom)], Ink::Axis, 1);
            paint(canvas, self);
        })
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

/// The colour of a row.
pub fn ink(row: &Row) -> Ink {
    if row.own { Ink::Own } else { Ink::Other }
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
    frame.draw(|canvas, frame| {
        let (left, right) = frame.ends();
        for (kind, ((x, y), name)) in key.iter().zip(kinds).enumerate() {
            canvas.bar((*x, y - 6.0), (x + 18.0, y + 6.0), Ink::Other, paleness(kind));
            canvas.text(name, (x + 24.0, *y), Side::Start, Ink::Muted, false);
        }
        for (index, (row, values)) in rows.iter().enumerate() {
            let first = frame.middle(index) - (thick + 1.0) * (kinds.len() as f64 - 1.0) / 2.0;
            for (kind, value) in values.iter().enumerate() {
                let Some(value) = value else { continue };
                let middle = first + (thick + 1.0) * kind as f64;
                let Some(end) = frame.across(value.median) else { continue };
                let zero = frame.across(0.0).unwrap_or(left);
                let half = thick / 2.0;
                canvas.bar((zero, middle - half), (end, middle + half), ink(row), paleness(kind));
                let cut = value.median > axis.high();
                let mut edge = end;
                if cut {
                    cut_mark(canvas, right, middle, half);
                } else {
                    edge = edge.max(whisker(canvas, frame, value, middle).unwrap_or(end));
                }
                let text = format(value.median);
                canvas.text(&text, (edge + 7.0, middle), Side::Start, Ink::Text, row.own);
            }
        }
    })
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

/// Two strokes across a bar that is longer than the plot.
fn cut_mark(canvas: &mut Canvas, right: f64, middle: f64, half: f64) {
    for shift in [14.0, 20.0] {
        let x = right - shift;
        let path = [(x - 3.0, middle + half + 2.0), (x + 3.0, middle - half - 2.0)];
        canvas.line(&path, Ink::Grid, 2);
    }
}

fn paleness(kind: usize) -> f64 {
    if kind == 0 { 1.0 } else { 0.45 }
}

/// The whisker between the quartiles; returns its right end.
fn whisker(canvas: &mut Canvas, frame: &Frame, value: &Value, middle: f64) -> Option<f64> {
    let low = frame.across(value.quartiles.0)?;
    let high = frame.across(value.quartiles.1)?;
    canvas.line(&[(low, middle), (high, middle)], Ink::Text, 1);
    for end in [low, high] {
        canvas.line(&[(end, middle - 3.0), (end, middle + 3.0)], Ink::Text, 1);
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
    frame.draw(|canvas, frame| {
        let (left, _) = frame.ends();
        for (index, (row, value)) in rows.iter().enumerate() {
            let Some(value) = value else { continue };
            let middle = frame.middle(index);
            let Some(at) = frame.across(value.median) else { continue };
            canvas.line(&[(left, middle), (at, middle)], Ink::Grid, 1);
            let low = frame.across(value.quartiles.0);
            let high = frame.across(value.quartiles.1);
            if let (Some(low), Some(high)) = (low, high) {
                canvas.bar((low, middle - 2.0), (high, middle + 2.0), Ink::Own, 0.45);
            }
            canvas.circle((at, middle), 4, Ink::Own, true);
            let beside = high.unwrap_or(at).max(at) + 10.0;
            canvas.text(&format(value.median), (beside, middle), Side::Start, Ink::Text, row.own);
        }
    })
}
