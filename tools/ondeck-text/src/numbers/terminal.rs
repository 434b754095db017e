//! Numbers of terminal tables: the shortest distinguishable form, with the unit without a blank.

use super::{three_digits, time_unit};

/// Three significant digits, without an exponent.
pub fn significant(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        below if below < 0.001 => "<0.001".to_owned(),
        _ => three_digits(value, 3),
    }
}

/// Descending milliseconds, at least one, in the unit of the greatest: `44 40 9.9 0.32ms`.
pub fn in_one_unit(millis: &[f64]) -> String {
    let (scale, unit) = time_unit(millis.first().copied().unwrap_or(0.0) * 1e6);
    let numbers: Vec<_> = millis
        .iter()
        .map(|millis| match millis * 1e6 / scale {
            value if value < 0.95 => format!("{value:.2}"),
            value if value < 9.95 => format!("{value:.1}"),
            value => format!("{value:.0}"),
        })
        .collect();
    format!("{}{unit}", numbers.join(" "))
}

/// A time in nanoseconds with the unit that leaves it at most three digits before the point.
pub fn time(nanos: f64) -> String {
    let (scale, unit) = time_unit(nanos);
    let value = nanos / scale;
    let digits = match value.abs() {
        below if below < 9.95 && unit != "ns" => 1,
        _ => 0,
    };
    format!("{value:.digits$}{unit}")
}

/// A count in at most four characters.
pub fn count(value: f64) -> String {
    match value {
        below if below < 9_999.5 => format!("{value:.0}"),
        below if below < 999.5e3 => format!("{:.0}k", value / 1e3),
        below if below < 9.95e6 => format!("{:.1}M", value / 1e6),
        _ => format!("{:.0}M", value / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (nanos, shown) in [
            (0.0, "0ns"),
            (7.4, "7ns"),
            (999.4, "999ns"),
            (999.6, "1.0µs"),
            (18_800.0, "19µs"),
            (2_900_000.0, "2.9ms"),
            (134_800_000.0, "135ms"),
            (2.5e9, "2.5s"),
        ] {
            assert_eq!(time(nanos), shown);
        }
    }

    #[test]
    fn times_of_one_list_share_a_unit() {
        assert_eq!(in_one_unit(&[44.4, 40.0, 9.9, 0.32]), "44 40 9.9 0.32ms");
        assert_eq!(in_one_unit(&[0.093, 0.088, 0.0001]), "93 88 0.10µs");
    }

    #[test]
    fn numbers_keep_three_digits() {
        for (value, shown) in
            [(0.0, "0"), (0.05, "0.050"), (7.38, "7.38"), (53.12, "53.1"), (449.4, "449")]
        {
            assert_eq!(significant(value), shown);
        }
    }

    #[test]
    fn counts_are_short() {
        for (value, shown) in
            [(0.0, "0"), (9_999.0, "9999"), (10_000.0, "10k"), (1.24e6, "1.2M"), (55e6, "55M")]
        {
            assert_eq!(count(value), shown);
        }
    }
}
