//! Numbers of comparisons and advice: three significant digits with the unit or a prefix.

use ondeck_lab::results::Unit;
use ondeck_text::numbers::{prefix, three_digits, time_unit};

/// With the prefix that leaves at most three digits before the point; times have their own units.
pub fn in_unit(value: f64, unit: &str) -> String {
    let (value, (scale, unit)) = match Unit::of(unit).and_then(Unit::nanoseconds) {
        Some(length) => (value * length, time_unit(value * length)),
        None => (value, prefix(value)),
    };
    format!("{}{unit}", number(value / scale))
}

/// Three significant digits.
fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        0.000_5..1e6 => three_digits(value, 2),
        _ => format!("{value:.0e}"),
    }
}

/// A ratio: three digits after the decimal point near 1, where they matter.
pub fn factor(value: f64) -> String {
    if value.is_infinite() {
        return "∞".to_owned();
    }
    if (0.000_5..9.999_5).contains(&value) { format!("{value:.3}") } else { number(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        for (value, unit, shown) in [
            (13.21, "ns", "13.2ns"),
            (999.6, "ns", "1.00µs"),
            (3.1, "ms", "3.10ms"),
            (0.000_02, "ms", "20.0ns"),
            (66_123_456.0, "ops/s", "66.1M"),
            (0.0, "1/op", "0"),
            (0.551, "ratio", "0.55"),
            (0.000_02, "1/op", "2e-5"),
        ] {
            assert_eq!(in_unit(value, unit), shown);
        }
        assert_eq!(factor(0.951_2), "0.951");
        assert_eq!(factor(12.345), "12.3");
    }
}
