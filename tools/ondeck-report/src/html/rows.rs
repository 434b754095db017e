//! The frame of plots with one row for each lock.

use maud::Markup;
use ondeck_text::ink::Ink;

use super::axis::Axis;
use super::canvas::{self, Canvas, Layer, Side, Spot, Width, fitted, text_width};
use super::palette;

/// The label of a row.
#[derive(Clone, Debug)]
pub struct Row {
    /// The lock.
    pub name: String,
    /// Its colour.
    pub ink: Ink,
}

impl Row {
    /// Set in bold: this project's own lock.
    pub fn own(&self) -> bool {
        palette::is_own(&self.name)
    }
}

/// The layout of a plot of rows.
pub struct Frame<'a> {
    /// The kind of drawing.
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

    /// The left and the right end of the axis.
    pub fn ends(&self) -> (f64, f64) {
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
        canvas.text(&name, (left - 8.0, at), Side::End, Ink::Text, row.own());
    }
}
