//! Numbers as text: the one place where a value gets its unit and its digits.
//!
//! Units, prefixes and the three significant digits follow the same rules everywhere. The formats
//! differ in values that are too small or too large for that, and in the separator between digits
//! and unit: [`terminal`] for tables, [`page`] for text and pages.

pub mod page;
pub mod terminal;

/// Three significant digits without an exponent, with at most the given number after the decimal
/// point.
pub fn three_digits(value: f64, most_decimals: usize) -> String {
    // 9.996 will read 10.0, and must count as two digits before the point.
    let before = (value.abs() * 1.0005).log10().floor();
    let decimals = (2.0 - before).clamp(0.0, most_decimals as f64) as usize;
    format!("{value:.decimals$}")
}

/// The unit that leaves a time of `nanos` at most three digits before the point, and its length in
/// nanoseconds. A value that rounds to 1000 belongs to the next unit.
pub fn time_unit(nanos: f64) -> (f64, &'static str) {
    match nanos.abs() {
        below if below < 999.5 => (1.0, "ns"),
        below if below < 999.5e3 => (1e3, "µs"),
        below if below < 999.5e6 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

/// The same without a unit: a prefix, and its factor.
pub fn prefix(value: f64) -> (f64, &'static str) {
    match value.abs() {
        below if below < 999.5 => (1.0, ""),
        below if below < 999.5e3 => (1e3, "k"),
        below if below < 999.5e6 => (1e6, "M"),
        below if below < 999.5e9 => (1e9, "G"),
        _ => (1e12, "T"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_counted_after_rounding() {
        for (value, shown) in [
            (0.05, "0.050"),
            (0.999_6, "1.00"),
            (7.38, "7.38"),
            (9.996, "10.0"),
            (-53.12, "-53.1"),
            (99.96, "100"),
            (449.4, "449"),
            (1e7, "10000000"),
            (0.0, "0.000"),
        ] {
            assert_eq!(three_digits(value, 3), shown);
        }
        assert_eq!(three_digits(0.551, 2), "0.55");
    }
}
