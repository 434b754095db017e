//! A drawing surface: plotters' SVG backend, with the few shapes that the figures need.

use maud::{Markup, PreEscaped, html};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::theme::Ink;

/// The width of a character relative to the font size, about, for the widest of
/// the usual proportional fonts.
const CHARACTER: f64 = 0.6;

/// Which of the two drawings of a figure this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// For a page on a desk.
    Wide,
    /// For a phone, and for two figures beside each other.
    Narrow,
}

impl Width {
    /// Pixels of the drawing's own coordinates.
    pub fn pixels(self) -> f64 {
        match self {
            Width::Wide => 880.0,
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

    /// How many ticks fit along it.
    pub fn ticks(self) -> usize {
        match self {
            Width::Wide => 9,
            Width::Narrow => 5,
        }
    }
}

/// Where a text is, relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It begins at the point.
    Start,
    /// Its middle is at the point.
    Middle,
    /// It ends at the point.
    End,
}

/// A drawing in progress. Coordinates are pixels; shapes with a coordinate that is not finite are
/// left out.
pub struct Canvas<'a> {
    root: DrawingArea<SVGBackend<'a>, Shift>,
    text: f64,
    failed: Option<String>,
}

/// Makes a drawing of that size.
pub fn draw(width: Width, height: f64, paint: impl FnOnce(&mut Canvas)) -> Markup {
    let mut svg = String::new();
    let size = (width.pixels() as u32, height.clamp(1.0, 100_000.0) as u32);
    let failed = {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        let mut canvas = Canvas { root, text: width.text(), failed: None };
        paint(&mut canvas);
        let presented = canvas.root.present();
        canvas.note(presented.map_err(|error| error.to_string()));
        canvas.failed
    };
    match failed {
        // plotters escapes the texts in it.
        None => PreEscaped(svg),
        Some(reason) => html! { p.empty { "This figure could not be drawn: " (reason) } },
    }
}

impl Canvas<'_> {
    /// A line through some points.
    pub fn line(&mut self, points: &[(f64, f64)], ink: Ink, width: u32) {
        let points = whole(points);
        if points.len() > 1 {
            let style = ink.colour().stroke_width(width);
            let result = self.root.draw(&PathElement::new(points, style));
            self.note(result.map_err(|error| error.to_string()));
        }
    }

    /// A filled box between two corners.
    pub fn bar(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, alpha: f64) {
        if let [from, to] = whole(&[from, to])[..] {
            let corners =
                [(from.0.min(to.0), from.1.min(to.1)), (from.0.max(to.0), from.1.max(to.1))];
            let element = Rectangle::new(corners, ink.colour().mix(alpha).filled());
            let result = self.root.draw(&element);
            self.note(result.map_err(|error| error.to_string()));
        }
    }

    /// A filled area.
    pub fn area(&mut self, points: &[(f64, f64)], ink: Ink, alpha: f64) {
        let points = whole(points);
        if points.len() > 2 {
            let result = self.root.draw(&Polygon::new(points, ink.colour().mix(alpha)));
            self.note(result.map_err(|error| error.to_string()));
        }
    }

    /// A circle, filled or not.
    pub fn circle(&mut self, at: (f64, f64), radius: u32, ink: Ink, filled: bool) {
        if let [at] = whole(&[at])[..] {
            let style = if filled { ink.colour().filled() } else { ink.colour().stroke_width(2) };
            let result = self.root.draw(&Circle::new(at, radius, style));
            self.note(result.map_err(|error| error.to_string()));
        }
    }

    /// One of six shapes, by number.
    pub fn marker(&mut self, (x, y): (f64, f64), shape: usize, ink: Ink) {
        match shape % 6 {
            0 => self.circle((x, y), 4, ink, true),
            1 => self.bar((x - 4.0, y - 4.0), (x + 4.0, y + 4.0), ink, 1.0),
            2 => self.area(&[(x, y - 5.0), (x + 5.0, y + 4.0), (x - 5.0, y + 4.0)], ink, 1.0),
            3 => {
                let corners = [(x, y - 5.0), (x + 5.0, y), (x, y + 5.0), (x - 5.0, y)];
                self.area(&corners, ink, 1.0);
            }
            4 => self.circle((x, y), 4, ink, false),
            _ => self.area(&[(x, y + 5.0), (x + 5.0, y - 4.0), (x - 5.0, y - 4.0)], ink, 1.0),
        }
    }

    /// Text at the usual size, centred in height on its point.
    pub fn text(&mut self, text: &str, at: (f64, f64), side: Side, ink: Ink, bold: bool) {
        let [at] = whole(&[at])[..] else { return };
        let horizontal = match side {
            Side::Start => HPos::Left,
            Side::Middle => HPos::Center,
            Side::End => HPos::Right,
        };
        let weight = if bold { FontStyle::Bold } else { FontStyle::Normal };
        // plotters divides the size by this factor.
        let font = FontDesc::new(FontFamily::SansSerif, self.text * 1.24, weight);
        let colour = ink.colour();
        let style = TextStyle::from(font).color(&colour).pos(Pos::new(horizontal, VPos::Center));
        let result = self.root.draw(&Text::new(text.to_owned(), at, style));
        self.note(result.map_err(|error| error.to_string()));
    }

    /// About how wide a text is.
    pub fn width_of(&self, text: &str) -> f64 {
        text_width(text, self.text)
    }

    fn note(&mut self, result: Result<(), String>) {
        if let Err(error) = result {
            self.failed.get_or_insert(error);
        }
    }
}

/// About how wide a text is at a font size.
pub fn text_width(text: &str, size: f64) -> f64 {
    text.chars().count() as f64 * size * CHARACTER
}

/// The text, shortened in its middle so that it takes at most that width: names of one family
/// often differ at their end only.
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

/// Points on whole pixels; none at all if one is not finite.
fn whole(points: &[(f64, f64)]) -> Vec<(i32, i32)> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return Vec::new();
    }
    points.iter().map(|(x, y)| (x.round() as i32, y.round() as i32)).collect()
}
