//! The vertical axis of lines over the number of threads, of the values that it has to fit.

use ondeck_lab::results::{Better, Unit};

use super::axis::Axis;
use super::line::Line;
use super::reach;
use crate::data::Shown;
use crate::numbers::page as number;
use crate::numbers::prefix;

/// An axis, and how a value beyond it is written.
pub struct Scale {
    /// The axis.
    pub axis: Axis,
    /// Writes a value of the plot in few characters.
    pub short: Box<dyn Fn(f64) -> String>,
}

/// The axis of a metric with that unit.
pub fn of_lines(lines: &[Line], unit: Option<Unit>, better: Better, shown: &Shown) -> Scale {
    let values = reach::fitting(lines, better, |point| point.y);
    let mut tops = reach::fitting(lines, better, |point| point.quartiles.1);
    tops.extend(&values);
    let factor = shown.factor;
    let short: Box<dyn Fn(f64) -> String> = match unit {
        // Back from what tables show: a value beyond the axis chooses its own unit.
        Some(Unit::PerSecond) => Box::new(move |value| count_in_short(value / factor)),
        Some(Unit::Nanoseconds) => Box::new(move |value| number::time_tick(value / factor)),
        Some(Unit::Milliseconds) => Box::new(|value| number::time_tick(value * 1e6)),
        Some(Unit::PerOperation | Unit::Ratio | Unit::Operations | Unit::Threads | Unit::Bytes)
        | None => Box::new(count_in_short),
    };
    let logarithmic = unit.and_then(decades).filter(|_| wide_spread(&values));
    let all = || lines.iter().flat_map(|line| &line.points);
    let axis = if shown.ratio && all().all(|point| point.y <= 1.0) {
        Axis::between(0.0, 1.0, "ratio")
    } else if let Some((what, ticks)) = logarithmic {
        // Back from what tables show: the ticks choose a unit each.
        let unscaled = values.iter().map(|value| value / factor);
        Axis::decades(unscaled, what, ticks).scaled(factor)
    } else if unit == Some(Unit::Nanoseconds) {
        Axis::from_zero(tops.into_iter(), "time for one operation").written(number::time_tick)
    } else {
        Axis::from_zero(tops.into_iter(), shown.unit.clone())
    };
    Scale { axis, short }
}

/// How the ticks of an axis are written.
type Ticks = fn(f64) -> String;

/// What a logarithmic axis of this unit is called, and how its ticks are written; none for units whose
/// values stay within a decade or two.
fn decades(unit: Unit) -> Option<(&'static str, Ticks)> {
    match unit {
        Unit::PerSecond => Some(("operations in a second, logarithmic", number::rate_tick)),
        Unit::Nanoseconds => Some(("time for one operation, logarithmic", number::time_tick)),
        Unit::Milliseconds
        | Unit::PerOperation
        | Unit::Ratio
        | Unit::Operations
        | Unit::Threads
        | Unit::Bytes => None,
    }
}

/// A number without its unit, which the axis names.
fn count_in_short(value: f64) -> String {
    let (size, prefix) = prefix(value);
    format!("{} {prefix}", number::plain(value / size)).trim_end().to_owned()
}

/// Whether values differ so much that a linear axis would hide the small ones.
fn wide_spread(values: &[f64]) -> bool {
    let (least, most) = values
        .iter()
        .filter(|value| value.is_finite() && **value > 0.0)
        .fold((f64::INFINITY, 0.0f64), |(least, most), value| {
            (least.min(*value), most.max(*value))
        });
    most > 20.0 * least
}

#[cfg(test)]
mod tests {
    use super::super::axis::Edge;
    use super::super::line::Point;
    use super::super::theme::Ink;
    use super::*;
    use ondeck_lab::results::Vocabulary;

    /// A line over 1, 2, 4 ... threads.
    fn line(name: &str, values: &[f64]) -> Line {
        let point = |(index, value): (usize, &f64)| Point {
            x: f64::from(1 << index),
            y: *value,
            quartiles: (value * 0.9, value * 1.1),
            words: String::new(),
        };
        let points = values.iter().enumerate().map(point).collect();
        Line { name: name.to_owned(), ink: Ink::Series(0), quiet: false, points }
    }

    fn scale(lines: &[Line], unit: &str, better: Better) -> Scale {
        let shown = Shown { factor: 1.0, unit: unit.to_owned(), ratio: unit == "ratio" };
        of_lines(lines, Unit::of(unit), better, &shown)
    }

    #[test]
    fn one_collapsed_lock_does_not_change_the_axis_of_the_others() {
        for (unit, better, collapsed) in [
            ("ops/s", Better::Higher, 40.0),
            ("ns", Better::Lower, 7e9),
            ("ms", Better::Lower, 7e9),
            ("ratio", Better::Lower, 7e9),
        ] {
            for (a, b) in [([3e6, 2e6, 2e6], [2e6, 3e6, 9e5]), ([3e8, 2e6, 2e6], [2e8, 1e6, 9e5])] {
                let mut lines = vec![line("a", &a), line("b", &b), line("c", &a)];
                let before = scale(&lines, unit, better);
                lines.push(line("collapsed", &[a[0], collapsed, collapsed]));
                let after = scale(&lines, unit, better);
                assert_eq!(before.axis.ticks(7), after.axis.ticks(7), "{unit}");
                assert_eq!(before.axis.leaves(collapsed), after.axis.leaves(collapsed));
                assert_eq!(after.axis.leaves(a[1]), None);
            }
        }
    }

    #[test]
    fn a_value_out_of_range_leaves_through_the_bad_end() {
        let lines = [line("a", &[3e8, 2e6]), line("b", &[3e8, 3e6]), line("c", &[2e8, 40.0])];
        let rates = scale(&lines, "ops/s", Better::Higher);
        assert!(rates.axis.title.ends_with("logarithmic"));
        assert_eq!(rates.axis.leaves(40.0), Some(Edge::Low));
        assert_eq!(rates.axis.leaves(0.0), Some(Edge::Low));
        assert_eq!((rates.short)(41_234.0), "41.2 k");
        assert_eq!((rates.short)(0.0), "0");
        let lines = [line("a", &[30.0, 200.0]), line("b", &[30.0, 300.0]), line("c", &[40.0, 9e6])];
        let times = scale(&lines, "ns", Better::Lower);
        assert!(!times.axis.title.ends_with("logarithmic"));
        assert_eq!(times.axis.leaves(9e6), Some(Edge::High));
        assert_eq!((times.short)(9e6), "9 ms");
    }

    #[test]
    fn equal_values_one_lock_and_zeros_have_an_axis_that_fits_them() {
        for lines in [
            vec![line("a", &[5.0, 5.0]), line("b", &[5.0, 5.0])],
            vec![line("a", &[5.0, 1.0])],
            vec![line("a", &[0.0, 0.0]), line("b", &[0.0, 0.0])],
            vec![],
        ] {
            for (unit, better) in [("ops/s", Better::Higher), ("ns", Better::Lower)] {
                let axis = scale(&lines, unit, better).axis;
                assert!(!axis.ticks(5).is_empty());
                for point in lines.iter().flat_map(|line| &line.points) {
                    assert_eq!(axis.leaves(point.y), None, "{unit} {}", point.y);
                }
            }
        }
    }
}
