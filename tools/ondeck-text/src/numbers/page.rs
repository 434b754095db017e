//! Numbers of pages and traces: three significant digits, a thin space between thousands.

use super::{three_digits, time_unit};

/// Stands for a missing number.
pub const NONE: &str = "–";

/// Three significant digits, without an exponent in the range that measurements have.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return NONE.to_owned();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{value:.1e}");
    }
    grouped(&three_digits(value, 5))
}

/// The short form for an axis: no zeros after the decimal point.
pub fn plain(value: f64) -> String {
    let text = number(value);
    if text.contains('.') && !text.contains('e') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A whole number.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A ratio between 0 and 1: two decimals.
pub fn ratio(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}") } else { NONE.to_owned() }
}

/// Nanoseconds in a suitable unit.
pub fn time(nanoseconds: f64) -> String {
    let (scale, unit) = time_unit(nanoseconds);
    let value = nanoseconds / scale;
    if value.is_finite() { format!("{} {unit}", number(value)) } else { NONE.to_owned() }
}

/// [`time`] for the ticks of an axis.
pub fn time_tick(nanoseconds: f64) -> String {
    let (scale, unit) = time_unit(nanoseconds);
    format!("{} {unit}", plain(nanoseconds / scale))
}

/// Operations a second, for the ticks of an axis.
pub fn rate_tick(value: f64) -> String {
    match value.abs() {
        size if size < 999.5 => format!("{} /s", plain(value)),
        size if size < 999.5e3 => format!("{} k/s", plain(value / 1e3)),
        _ => format!("{} M/s", plain(value / 1e6)),
    }
}

/// Seconds in everyday form.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        NONE.to_owned()
    } else if seconds < 120.0 {
        format!("{} s", plain(seconds))
    } else if seconds < 7200.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

/// Bytes in binary units.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = value as f64;
    let mut unit = 0;
    while scaled >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{} {}", plain(scaled), UNITS[unit])
}

/// Puts a narrow no-break space between thousands, from 10 000 on.
fn grouped(text: &str) -> String {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.find('.').map_or((rest, ""), |dot| rest.split_at(dot));
    if whole.len() < 5 {
        return text.to_owned();
    }
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_are_enough() {
        assert_eq!(number(6.284), "6.28");
        assert_eq!(number(66_123_456.0), "66\u{202f}123\u{202f}456");
        assert_eq!(number(0.0123), "0.0123");
        assert_eq!(number(0.5), "0.500");
        assert_eq!(number(f64::NAN), NONE);
        assert_eq!(number(f64::INFINITY), NONE);
        assert_eq!(number(-12_345.0), "-12\u{202f}345");
    }

    #[test]
    fn times_choose_their_unit() {
        assert_eq!(time(12.0), "12.0 ns");
        assert_eq!(time(999.9), "1.00 µs");
        assert_eq!(time(17e6), "17.0 ms");
        assert_eq!(time_tick(1e9), "1 s");
        let rates = [rate_tick(500.0), rate_tick(2e4), rate_tick(1e6), rate_tick(2.5e8)];
        assert_eq!(rates, ["500 /s", "20 k/s", "1 M/s", "250 M/s"]);
    }
}
