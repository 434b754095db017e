//! Names of lines: labels at the ends of lines on a wide page, a block below on a narrow one.

use ondeck_text::ink::Ink;

use super::canvas::{Canvas, Layer, Side, Width, fitted, text_width};
use super::line::{Line, stroke};
use super::palette;

/// Height of one entry.
const STEP: f64 = 17.0;
/// Room for the sample of the line before a name.
const SAMPLE: f64 = 30.0;
/// The most labels beside a wide plot.
const MOST: usize = 21;

/// One entry.
#[derive(Clone, Debug)]
pub struct Label {
    name: String,
    shown: String,
    ink: Ink,
    quiet: bool,
}

/// The entries: every line if there is room; otherwise the coloured ones and a word on the rest.
pub fn labels(lines: &[Line], width: Width) -> Vec<Label> {
    let room = match width {
        Width::Wide => 190.0,
        Width::Narrow => Width::Narrow.pixels() / 2.0 - SAMPLE - 12.0,
    };
    let entry = |line: &Line| Label {
        name: line.name.clone(),
        shown: fitted(&line.name, width.text(), room),
        ink: line.ink,
        quiet: line.quiet,
    };
    let mut labels: Vec<Label> = if lines.len() <= MOST {
        lines.iter().map(entry).collect()
    } else {
        lines.iter().filter(|line| !line.quiet).map(entry).collect()
    };
    if labels.len() < lines.len() {
        let others = lines.len() - labels.len();
        labels.push(Label {
            name: String::new(),
            shown: format!("{others} others in grey"),
            ink: Ink::Faint,
            quiet: true,
        });
    }
    labels
}

/// The width that labels need on the right.
pub fn margin(labels: &[Label], size: f64) -> f64 {
    let widest = labels.iter().map(|label| text_width(&label.shown, size)).fold(0.0, f64::max);
    widest + SAMPLE + 34.0
}

/// The height of the block of [`block`].
pub fn block_height(labels: &[Label]) -> f64 {
    labels.len().div_ceil(2) as f64 * STEP + 10.0
}

/// Labels beside the ends of their lines, moved apart where they would overlap.
pub fn at_line_ends(
    canvas: &mut Canvas,
    labels: &[Label],
    end: impl Fn(&str) -> Option<(f64, f64)>,
    right: f64,
    (top, bottom): (f64, f64),
) {
    let mut placed: Vec<(Option<(f64, f64)>, &Label)> =
        labels.iter().map(|label| (end(&label.name), label)).collect();
    let height = |at: Option<(f64, f64)>| at.map_or(f64::INFINITY, |(_, y)| y);
    placed.sort_by(|a, b| height(a.0).total_cmp(&height(b.0)));
    let mut heights: Vec<f64> = placed.iter().map(|(at, _)| height(*at).min(bottom)).collect();
    spread(&mut heights, top, bottom + 20.0);

    let left = right + 24.0;
    for ((at, label), height) in placed.into_iter().zip(heights) {
        entry(canvas, label, (left, height), at.map(|at| (at, right + 12.0)));
    }
}

/// Labels in two columns from a height on.
pub fn block(canvas: &mut Canvas, labels: &[Label], top: f64) {
    let rows = labels.len().div_ceil(2).max(1);
    for (index, label) in labels.iter().enumerate() {
        let column = (index / rows) as f64;
        let row = (index % rows) as f64;
        let place = (6.0 + column * Width::Narrow.pixels() / 2.0, top + row * STEP);
        entry(canvas, label, place, None);
    }
}

/// A sample of the line and the name, and a leader from the end of the line if that is near.
fn entry(
    canvas: &mut Canvas,
    label: &Label,
    (x, y): (f64, f64),
    leader: Option<((f64, f64), f64)>,
) {
    let layer = Layer {
        name: &label.name,
        other: label.name.is_empty(),
        quiet: label.quiet,
        ..Layer::default()
    };
    canvas.layer(&layer, |canvas| {
        if let Some((end, turn)) = leader {
            canvas.line(&[(end.0 + 7.0, end.1), (turn, y), (x - 3.0, y)], Ink::Grid, 1.0);
        }
        let thick = stroke(&label.name, label.quiet);
        canvas.dashed(&[(x, y), (x + SAMPLE - 6.0, y)], label.ink, thick, label.ink.dash());
        if !label.quiet {
            canvas.markers(&[(x + SAMPLE / 2.0 - 3.0, y)], label.ink.shape(), label.ink);
        }
        let ink = if label.quiet { Ink::Muted } else { Ink::Text };
        canvas.text(&label.shown, (x + SAMPLE, y), Side::Start, ink, palette::is_own(&label.name));
    });
}

/// Moves ascending heights apart to at least [`STEP`], within the ends as far as they fit.
fn spread(heights: &mut [f64], top: f64, bottom: f64) {
    let mut least = top;
    for height in heights.iter_mut() {
        *height = height.max(least);
        least = *height + STEP;
    }
    let mut most = bottom;
    for height in heights.iter_mut().rev() {
        *height = height.min(most);
        most = *height - STEP;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_overlap() {
        let mut heights = [10.0, 11.0, 12.0, 100.0, 100.0, 100.0];
        spread(&mut heights, 0.0, 120.0);
        for pair in heights.windows(2) {
            assert!(pair[1] - pair[0] >= STEP, "{heights:?}");
        }
        assert!(heights[5] <= 120.0);
    }
}
