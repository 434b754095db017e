//! A drawing surface: SVG shapes in groups, a group for each lock.
//!
//! Shapes carry classes and no colours: `f3` fills with the third ink, `s3` strokes with it. The
//! style sheet gives inks their colours in either theme, and a script that saves a drawing writes
//! them into it.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped, Render, html};
use ondeck_text::ink::Ink;

/// The approximate width of a character relative to the font size, for the widest of the usual
/// proportional fonts.
const CHARACTER: f64 = 0.6;

/// The two drawings of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// For a page on a desk.
    Wide,
    /// For a phone, and for two figures beside each other.
    Narrow,
}

impl Width {
    /// The width of the drawing in its own coordinates.
    pub fn pixels(self) -> f64 {
        match self {
            Width::Wide => 960.0,
            Width::Narrow => 380.0,
        }
    }

    /// The font size.
    pub fn text(self) -> f64 {
        match self {
            Width::Wide => 13.0,
            Width::Narrow => 11.5,
        }
    }

    /// The number of ticks that fit along it.
    pub fn ticks(self) -> usize {
        match self {
            Width::Wide => 9,
            Width::Narrow => 5,
        }
    }
}

/// The place of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It begins at the point.
    Start,
    /// Its middle is at the point.
    Middle,
    /// It ends at the point.
    End,
}

/// A place in a drawing that has a value to show.
pub type Spot = ((f64, f64), String);

/// The parts of a drawing that belong to one lock.
#[derive(Clone, Debug, Default)]
pub struct Layer<'a> {
    /// The lock.
    pub name: &'a str,
    /// Whether it is not a lock but something else that has values.
    pub other: bool,
    /// Grey until the reader points at it.
    pub quiet: bool,
    /// Its number from the top, where each lock has a separate row.
    pub row: Option<usize>,
    /// Its values.
    pub spots: Vec<Spot>,
}

/// A drawing in progress. Coordinates are pixels; shapes with a coordinate that is not finite are
/// left out.
pub struct Canvas {
    out: String,
    text: f64,
}

/// Makes a drawing of that size.
pub fn draw(width: Width, height: f64, paint: impl FnOnce(&mut Canvas)) -> Markup {
    draw_rows(width, height, None, paint)
}

/// The same with rows of that height, some of which may be removed later.
pub fn draw_rows(
    width: Width,
    height: f64,
    step: Option<f64>,
    paint: impl FnOnce(&mut Canvas),
) -> Markup {
    let mut canvas = Canvas { out: String::new(), text: width.text() };
    paint(&mut canvas);
    let (across, down) = (width.pixels(), height.clamp(1.0, 100_000.0).round());
    html! {
        svg viewBox=(format!("0 0 {across} {down}")) font-size=(width.text()) data-step=[step] {
            (PreEscaped(canvas.out))
        }
    }
}

/// A piece of a lock's line with its marker, for a key.
pub fn sample(ink: Ink, stroke: f64) -> Markup {
    let mut canvas = Canvas { out: String::new(), text: Width::Narrow.text() };
    canvas.dashed(&[(0.0, 7.0), (26.0, 7.0)], ink, stroke, ink.dash());
    canvas.markers(&[(13.0, 7.0)], ink.shape(), ink);
    html! {
        svg.sample viewBox="0 0 26 14" width="26" height="14" aria-hidden="true" {
            (PreEscaped(canvas.out))
        }
    }
}

impl Canvas {
    /// Assigns to a lock what `paint` draws.
    pub fn layer(&mut self, layer: &Layer, paint: impl FnOnce(&mut Self)) {
        let inside = self.inside(paint);
        let spots = || layer.spots.iter().filter(|((x, y), _)| x.is_finite() && y.is_finite());
        let places: Vec<String> =
            spots().map(|((x, y), _)| format!("{},{}", Short(*x), Short(*y))).collect();
        // One value in each line.
        let values: Vec<String> = spots().map(|(_, text)| text.replace('\n', " ")).collect();
        let any = !places.is_empty();
        self.add(&html! {
            g data-lock=[(!layer.other).then_some(layer.name)]
                data-name=[layer.other.then_some(layer.name)] class=[layer.quiet.then_some("quiet")] data-row=[layer.row]
                data-at=[any.then(|| places.join(" "))] data-values=[any.then(|| values.join("\n"))]
            { (PreEscaped(inside)) }
        });
    }

    /// Makes what `paint` draws a named part of the drawing.
    pub fn part(&mut self, name: &str, paint: impl FnOnce(&mut Self)) {
        let inside = self.inside(paint);
        self.add(&html! { g class=(name) { (PreEscaped(inside)) } });
    }

    /// What `paint` draws, apart from the rest.
    fn inside(&mut self, paint: impl FnOnce(&mut Self)) -> String {
        let outside = std::mem::take(&mut self.out);
        paint(self);
        std::mem::replace(&mut self.out, outside)
    }

    /// A line through some points.
    pub fn line(&mut self, points: &[(f64, f64)], ink: Ink, width: f64) {
        self.dashed(points, ink, width, "");
    }

    /// A line with gaps: alternating lengths of strokes and gaps.
    pub fn dashed(&mut self, points: &[(f64, f64)], ink: Ink, width: f64, dash: &str) {
        let Some(points) = list(points) else { return };
        let dash = (!dash.is_empty()).then_some(dash);
        self.add(&html! {
            polyline class=(format!("s{}", ink.number())) fill="none" stroke-width=(width)
                stroke-linejoin="round" stroke-dasharray=[dash] points=(points) {}
        });
    }

    /// A filled box between two corners.
    pub fn bar(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, alpha: f64) {
        if ![from.0, from.1, to.0, to.1].iter().all(|number| number.is_finite()) {
            return;
        }
        let alpha = (alpha < 1.0).then_some(alpha);
        self.add(&html! {
            rect class=(format!("f{}", ink.number())) fill-opacity=[alpha]
                x=(Short(from.0.min(to.0))) y=(Short(from.1.min(to.1)))
                width=(Short((to.0 - from.0).abs())) height=(Short((to.1 - from.1).abs())) {}
        });
    }

    /// A filled area.
    pub fn area(&mut self, points: &[(f64, f64)], ink: Ink, alpha: f64) {
        let Some(points) = list(points) else { return };
        let alpha = (alpha < 1.0).then_some(alpha);
        self.add(&html! {
            polygon class=(format!("f{}", ink.number())) fill-opacity=[alpha] points=(points) {}
        });
    }

    /// One of six shapes, by number, at each of the points.
    pub fn markers(&mut self, points: &[(f64, f64)], shape: usize, ink: Ink) {
        let mut path = String::new();
        for (x, y) in points.iter().filter(|(x, y)| x.is_finite() && y.is_finite()) {
            // Writing into a String cannot fail.
            let _ = write!(path, "M{},{}{}", Short(*x), Short(*y), SHAPES[shape % SHAPES.len()].1);
        }
        if path.is_empty() {
            return;
        }
        let (number, paper) = (ink.number(), Ink::Paper.number());
        let hollow = SHAPES[shape % SHAPES.len()].0;
        let class =
            if hollow { format!("f{paper} s{number}") } else { format!("f{number} s{paper}") };
        let width = if hollow { 2 } else { 1 };
        self.add(&html! { path class=(class) stroke-width=(width) d=(path) {} });
    }

    /// An arrow to the right, of ten pixels around its point.
    pub fn arrow(&mut self, (x, y): (f64, f64), ink: Ink) {
        self.line(&[(x - 5.0, y), (x + 5.0, y)], ink, 1.5);
        self.line(&[(x + 1.5, y - 3.5), (x + 5.0, y), (x + 1.5, y + 3.5)], ink, 1.5);
    }

    /// Text at the usual size, centred in height on its point.
    pub fn text(&mut self, text: &str, at: (f64, f64), side: Side, ink: Ink, bold: bool) {
        if !at.0.is_finite() || !at.1.is_finite() {
            return;
        }
        let anchor = match side {
            Side::Start => None,
            Side::Middle => Some("middle"),
            Side::End => Some("end"),
        };
        // A third of the size below the point: viewers disagree on `dominant-baseline`.
        let base = at.1 + self.text * 0.35;
        self.add(&html! {
            text x=(Short(at.0)) y=(Short(base)) class=(format!("f{}", ink.number()))
                text-anchor=[anchor] font-weight=[bold.then_some("600")] { (text) }
        });
    }

    /// The approximate width of a text.
    pub fn width_of(&self, text: &str) -> f64 {
        text_width(text, self.text)
    }

    fn add(&mut self, shape: &Markup) {
        self.out.push_str(&shape.0);
    }
}

/// Whether a marker is hollow, and its outline from its middle on: disc, square, triangle, diamond,
/// ring, triangle upside down.
const SHAPES: [(bool, &str); 6] = [
    (false, "m-4.5,0a4.5,4.5 0 1 0 9,0a4.5,4.5 0 1 0 -9,0z"),
    (false, "m-4,-4h8v8h-8z"),
    (false, "m0,-5.5l5.5,9.5h-11z"),
    (false, "m0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z"),
    (true, "m-3.5,0a3.5,3.5 0 1 0 7,0a3.5,3.5 0 1 0 -7,0z"),
    (false, "m0,5.5l5.5,-9.5h-11z"),
];

/// A coordinate with one decimal at most.
struct Short(f64);

impl std::fmt::Display for Short {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        match tenths % 10 {
            0 => write!(out, "{}", tenths / 10),
            _ => write!(out, "{}", tenths as f64 / 10.0),
        }
    }
}

impl Render for Short {
    fn render_to(&self, buffer: &mut String) {
        let _ = write!(buffer, "{self}");
    }
}

/// Points in the form of SVG; `None` if there are fewer than two, or one is not finite.
fn list(points: &[(f64, f64)]) -> Option<String> {
    let sane = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    (points.len() > 1 && points.iter().all(sane)).then(|| {
        let words: Vec<String> =
            points.iter().map(|(x, y)| format!("{},{}", Short(*x), Short(*y))).collect();
        words.join(" ")
    })
}

/// The approximate width of a text at a font size.
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * CHARACTER
}

/// The text, shortened in its middle to at most that width: names of one family often differ only
/// at their end.
pub fn fitted(text: &str, size: f64, width: f64) -> String {
    let most = (width / (size * CHARACTER) + 0.01).floor().max(3.0) as usize;
    let letters: Vec<char> = text.chars().collect();
    if letters.len() <= most {
        return text.to_owned();
    }
    let tail = (most - 1) / 2;
    let head = most - 1 - tail;
    let mut short: String = letters.iter().take(head).collect();
    short.push('…');
    short.extend(letters.iter().skip(letters.len() - tail));
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short_and_odd_ones_leave_no_shape() {
        let text = |value: f64| Short(value).to_string();
        assert_eq!([text(3.0), text(7.14), text(-0.04), text(2.98)], ["3", "7.1", "0", "3"]);
        let drawn = draw(Width::Narrow, 10.0, |canvas| {
            canvas.line(&[(0.0, f64::NAN), (1.0, 1.0)], Ink::Text, 1.0);
            canvas.bar((0.0, 0.0), (f64::INFINITY, 1.0), Ink::Text, 1.0);
            canvas.markers(&[(f64::NAN, 0.0)], 0, Ink::Text);
            canvas.text("odd", (0.0, f64::NAN), Side::Start, Ink::Text, false);
        });
        assert_eq!(drawn.0, "<svg viewBox=\"0 0 380 10\" font-size=\"11.5\"></svg>");
    }

    #[test]
    fn a_layer_tells_where_its_values_are() {
        let drawn = draw(Width::Narrow, 10.0, |canvas| {
            let spots =
                vec![((1.0, 2.0), "a <b>".to_owned()), ((3.0, 4.5), "two\nlines".to_owned())];
            canvas.layer(&Layer { name: "\"x\"", spots, ..Layer::default() }, |_| {});
        });
        let wanted = "<g data-lock=\"&quot;x&quot;\" data-at=\"1,2 3,4.5\" \
                      data-values=\"a &lt;b&gt;\ntwo lines\"></g>";
        assert!(drawn.0.contains(wanted), "{}", drawn.0);
    }
}
