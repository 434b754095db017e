//! Values that an axis does not fit: rows beyond its end, a row for each lock, with an arrow and
//! the number where a line would leave the plot.
//!
//! Grey lines share the last row, because there may be dozens. There a number may count locks.

use super::axis::{Axis, Edge};
use super::canvas::{Canvas, Side, Toward, text_width};
use super::line::Line;
use super::theme::Ink;

/// Height of a row.
const STEP: f64 = 15.0;
/// From the end of the axis to the middle of the first row.
const FIRST: f64 = 13.0;
/// From the middle of an arrow to its number.
const GAP: f64 = 6.0;
/// What labels beside the plot leave free for a number at its right end.
pub const ROOM: f64 = 24.0;

/// The rows beyond one end.
pub struct Rows {
    end: Edge,
    /// The locks with a row of their own.
    own: Vec<String>,
    shared: bool,
}

impl Rows {
    /// The rows that some lines need beyond that end of an axis.
    pub fn new(lines: &[Line], axis: &Axis, end: Edge) -> Self {
        let leaves = |line: &&Line| line.points.iter().any(|p| axis.leaves(p.y) == Some(end));
        let (grey, own): (Vec<&Line>, Vec<&Line>) =
            lines.iter().filter(leaves).partition(|line| line.quiet);
        let own = own.into_iter().map(|line| line.name.clone()).collect();
        Rows { end, own, shared: !grey.is_empty() }
    }

    /// Whether all values are within that end.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty() && !self.shared
    }

    /// The height of all rows.
    pub fn height(&self) -> f64 {
        match self.own.len() + usize::from(self.shared) {
            0 => 0.0,
            rows => rows as f64 * STEP + 10.0,
        }
    }

    /// The height of a lock's row in the drawing, of the height where the axis ends.
    pub fn middle(&self, lock: &str, end: f64) -> f64 {
        let row = self.own.iter().position(|name| name == lock).unwrap_or(self.own.len());
        let away = FIRST + row as f64 * STEP;
        if self.end == Edge::Low { end + away } else { end - away }
    }

    /// Draws the arrows of one row: from right to left, so that the number at the most threads is
    /// there. A number that would lie on its neighbour is left out.
    pub fn arrows(
        &self,
        canvas: &mut Canvas,
        values: &[((f64, f64), String)],
        size: f64,
        ink: Ink,
    ) {
        let toward = if self.end == Edge::Low { Toward::Down } else { Toward::Up };
        let mut free = f64::INFINITY;
        for ((across, height), text) in values.iter().rev() {
            let wide = text_width(text, size) + 2.0 * GAP;
            if text.is_empty() || across + wide / 2.0 > free {
                canvas.arrow((*across, *height), toward, ink);
                free = free.min(across - GAP);
                continue;
            }
            let left = across - wide / 2.0;
            canvas.arrow((left + GAP / 2.0, *height), toward, ink);
            let at = (left + 2.0 * GAP, *height);
            canvas.text(text, at, Side::Start, Ink::Text, false);
            free = left - GAP;
        }
    }

    /// In the row of the grey lines: how many leave at each place, or the number of the only one.
    pub fn counts(
        &self,
        lines: &[Line],
        axis: &Axis,
        short: &dyn Fn(f64) -> String,
    ) -> Vec<(f64, String)> {
        let mut found: Vec<(f64, usize, f64)> = Vec::new();
        for point in lines.iter().filter(|line| line.quiet).flat_map(|line| &line.points) {
            if axis.leaves(point.y) != Some(self.end) {
                continue;
            }
            match found.iter_mut().find(|(x, _, _)| x.total_cmp(&point.x).is_eq()) {
                Some((_, count, _)) => *count += 1,
                None => found.push((point.x, 1, point.y)),
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let text = |count: usize, value: f64| match count {
            1 => short(value),
            _ => format!("{count} locks"),
        };
        found.into_iter().map(|(x, count, value)| (x, text(count, value))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::canvas::{Width, draw};
    use super::*;

    #[test]
    fn a_number_that_would_lie_on_its_neighbour_is_left_out() {
        let rows = Rows { end: Edge::Low, own: vec!["a".to_owned()], shared: false };
        let numbers = |places: [f64; 3]| {
            let values = places.map(|x| ((x, 9.0), format!("{x} k")));
            let size = Width::Narrow.text();
            let paint = |canvas: &mut Canvas| rows.arrows(canvas, &values, size, Ink::Plain);
            let drawn = draw(Width::Narrow, 20.0, paint).0;
            assert_eq!(drawn.matches("<polyline").count(), 3 * 2, "an arrow for each: {drawn}");
            places.map(|x| drawn.contains(&format!(">{x} k</text>")))
        };
        assert_eq!(numbers([100.0, 200.0, 300.0]), [true; 3]);
        assert_eq!(numbers([100.0, 270.0, 300.0]), [true, false, true]);
        assert_eq!(numbers([260.0, 280.0, 300.0]), [false, false, true]);
    }
}
