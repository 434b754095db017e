//! A lock's line over the number of threads.

use ondeck_text::ink::Ink;

use super::palette;

/// One lock's line.
#[derive(Clone, Debug)]
pub struct Line {
    /// The lock.
    pub name: String,
    /// Its colour.
    pub ink: Ink,
    /// One of too many: thin and grey.
    pub quiet: bool,
    /// Where it passes, from left to right.
    pub points: Vec<Point>,
}

/// A median with its quartiles, and both in words.
#[derive(Clone, Debug)]
pub struct Point {
    /// Threads.
    pub x: f64,
    /// The median.
    pub y: f64,
    /// Lower and upper quartile.
    pub quartiles: (f64, f64),
    /// Its words.
    pub words: String,
}

/// How thick the line of a lock is.
pub fn stroke(name: &str, quiet: bool) -> f64 {
    match (quiet, palette::is_own(name)) {
        (true, _) => 1.0,
        (_, true) => 3.0,
        _ => 2.0,
    }
}
