//! Which values an axis has to fit: those of the locks between which a reader chooses.
//!
//! A lock that collapses is hundreds or millions of times worse. An axis that fits it shows all
//! other locks as one line. So an axis fits, at each point of a figure, the values that are at most
//! 10 times worse than the second-best one. It is the second-best and not the best one, because a
//! lock far ahead of all others must not push them out. Of two locks it is the better one. If more
//! than half of the values would be beyond the axis, it is the middle one: then most locks are no
//! exception. What the axis does not fit leaves through its end, with an arrow and the number:
//! [`beyond`](super::beyond).

use ondeck_lab::results::Better;

use super::line::{Line, Point};

/// How many times worse than the second-best value a value may be for an axis to fit it.
pub const FACTOR: f64 = 10.0;
/// The same of the longest times of distributions, whose axis has decades of short times anyway.
pub const TAIL: f64 = 100.0;

/// The worst value that an axis has to fit, of the values at one point: `factor` times worse. None
/// if it has to fit all: where neither direction is better, and where the value that others are
/// compared with is zero, of which there is no multiple.
pub fn worst(values: impl Iterator<Item = f64>, better: Better, factor: f64) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite() && *value >= 0.0).collect();
    values.sort_by(f64::total_cmp);
    if better == Better::Higher {
        values.reverse();
    }
    let behind = |place: usize| {
        let reference = values.get(place).copied().filter(|value| *value > 0.0)?;
        match better {
            Better::Higher => Some(reference / factor),
            Better::Lower => Some(reference * factor),
            Better::Neither => None,
        }
    };
    let second = behind(usize::from(values.len() > 2));
    let beyond = values.iter().filter(|value| !fits(**value, second, better)).count();
    if 2 * beyond > values.len() { behind((values.len() - 1) / 2) } else { second }
}

/// Whether an axis has to fit a value, of the [`worst`] one that it has to fit.
pub fn fits(value: f64, worst: Option<f64>, better: Better) -> bool {
    match (worst, better) {
        (Some(worst), Better::Higher) => value >= worst,
        (Some(worst), Better::Lower) => value <= worst,
        _ => true,
    }
}

/// Of all points the values that an axis has to fit. `of` is the point's median or one of its
/// quartiles.
pub fn fitting(lines: &[Line], better: Better, of: impl Fn(&Point) -> f64) -> Vec<f64> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let beside = |x: f64| points().filter(move |point| point.x.total_cmp(&x).is_eq());
    let worst_beside = |x: f64| worst(beside(x).map(|one| one.y), better, FACTOR);
    points().filter(|point| fits(of(point), worst_beside(point.x), better)).map(&of).collect()
}

/// What stands under a figure with `leaving` of `all` locks that have values beyond its axis, which
/// fits values `factor` times worse. `point` says at what the locks are compared, and may be
/// empty.
pub fn note(leaving: usize, all: usize, factor: f64, point: &str) -> String {
    if leaving == 0 {
        return String::new();
    }
    let have = if leaving == 1 { "has" } else { "have" };
    format!(
        "The axis fits values up to {factor} times behind the second-best lock's{point}, or the middle one's if \
         most would be beyond. Of {all} locks {leaving} {have} values beyond it: an arrow at the edge, and \
         the number."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(values: &[f64], better: Better) -> Vec<f64> {
        let worst = worst(values.iter().copied(), better, FACTOR);
        values.iter().copied().filter(|value| fits(*value, worst, better)).collect()
    }

    #[test]
    fn a_collapsed_lock_is_left_out_and_changes_nothing_for_the_others() {
        let rates = [90.0, 100.0, 30.0, 9.5];
        assert_eq!(kept(&rates, Better::Higher), rates);
        assert_eq!(kept(&[90.0, 100.0, 0.01, 30.0, 9.5], Better::Higher), rates);
        let times = [20.0, 10.0, 190.0];
        assert_eq!(kept(&times, Better::Lower), times);
        assert_eq!(kept(&[20.0, 10.0, 190.0, 3e6], Better::Lower), times);
    }

    #[test]
    fn a_lock_far_ahead_does_not_push_the_others_out() {
        let rates = [5000.0, 100.0, 90.0, 11.0];
        assert_eq!(kept(&rates, Better::Higher), rates);
        let times = [0.01, 5.0, 6.0];
        assert_eq!(kept(&times, Better::Lower), times);
    }

    #[test]
    fn if_most_would_be_out_the_middle_one_counts() {
        let times = [1.0, 2.0, 500.0, 700.0, 800.0];
        assert_eq!(kept(&times, Better::Lower), times);
        assert_eq!(kept(&[1.0, 2.0, 500.0, 700.0, 1e6], Better::Lower), [1.0, 2.0, 500.0, 700.0]);
        // Half is not most.
        assert_eq!(kept(&[1.0, 2.0, 500.0, 700.0], Better::Lower), [1.0, 2.0]);
    }

    #[test]
    fn of_two_locks_the_better_one_counts() {
        assert_eq!(kept(&[100.0, 9.0], Better::Higher), [100.0]);
        assert_eq!(kept(&[100.0, 11.0], Better::Higher), [100.0, 11.0]);
        assert_eq!(kept(&[1.0, 11.0], Better::Lower), [1.0]);
    }

    #[test]
    fn one_lock_and_equal_locks_all_fit() {
        for better in [Better::Higher, Better::Lower, Better::Neither] {
            assert_eq!(kept(&[7.0], better), [7.0]);
            assert_eq!(kept(&[7.0; 5], better), [7.0; 5]);
            assert_eq!(kept(&[], better), [0.0; 0]);
        }
    }

    #[test]
    fn zero_is_the_worst_rate_and_bounds_no_times() {
        assert_eq!(kept(&[0.0, 5.0, 4.0], Better::Higher), [5.0, 4.0]);
        assert_eq!(kept(&[0.0, 0.0, 4.0], Better::Higher), [0.0, 0.0, 4.0]);
        assert_eq!(kept(&[0.0, 0.0, 4.0], Better::Lower), [0.0, 0.0, 4.0]);
        assert_eq!(kept(&[0.0; 3], Better::Lower), [0.0; 3]);
        assert_eq!(kept(&[1.0, 1e9, 1e-9], Better::Neither), [1.0, 1e9, 1e-9]);
    }
}
