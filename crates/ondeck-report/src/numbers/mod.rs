//! Numbers as text: the one place where a value gets its unit and its digits.
//!
//! Where a unit or a prefix changes is the same everywhere. How many digits follow depends on the room:
//! [`terminal`] for tables, [`compared`] for a figure beside its spread, [`page`] for text and pages.

pub mod compared;
pub mod page;
pub mod terminal;

/// The unit that leaves a time of `nanos` at most three digits before the point, and its length in
/// nanoseconds. What rounds to 1000 belongs to the next unit.
pub fn time_unit(nanos: f64) -> (f64, &'static str) {
    match nanos.abs() {
        below if below < 999.5 => (1.0, "ns"),
        below if below < 999.5e3 => (1e3, "µs"),
        below if below < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// The same for what has no unit: a prefix, and its factor.
pub fn prefix(value: f64) -> (f64, &'static str) {
    match value.abs() {
        below if below < 999.5 => (1.0, ""),
        below if below < 999.5e3 => (1e3, "k"),
        below if below < 999.5e6 => (1e6, "M"),
        below if below < 999.5e9 => (1e9, "G"),
        _ => (1e12, "T"),
    }
}
