//! The values that an axis has to fit: the values of the locks between which a reader chooses.
//!
//! A lock that collapses is hundreds or millions of times worse. An axis that fits it shows all
//! other locks as one line. So an axis fits, at each point of a figure, the values that are at most
//! 10 times worse than the second-best one. The reference is not the best one, because a lock far
//! ahead of all others must not push them out. Of two locks it is the better one. If more than half
//! of the values would be beyond the axis, it is the middle one: then most locks are no exception.
//! A value beyond the axis leaves through its end, with an arrow and the number. Lines over the
//! number of threads and distributions have a logarithmic axis instead, which fits all. number of
//! threads and distributions have a logarithmic axis instead, which fits all.

use ondeck_lab::results::Better;

/// The factor by which a value may be worse than the second-best value for an axis to fit it.
const FACTOR: f64 = 10.0;

/// The worst value that an axis has to fit, of the values at one point. `None` if it has to fit
/// all: where neither direction is better, and where the reference is zero, which has no multiple.
pub fn worst(values: impl Iterator<Item = f64>, better: Better) -> Option<f64> {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite() && *value >= 0.0).collect();
    values.sort_by(f64::total_cmp);
    if better == Better::Higher {
        values.reverse();
    }
    let behind = |place: usize| {
        let reference = values.get(place).copied().filter(|value| *value > 0.0)?;
        match better {
            Better::Higher => Some(reference / FACTOR),
            Better::Lower => Some(reference * FACTOR),
            Better::Neither => None,
        }
    };
    let second = behind(usize::from(values.len() > 2));
    let beyond = values.iter().filter(|value| !fits(**value, second, better)).count();
    if 2 * beyond > values.len() { behind((values.len() - 1) / 2) } else { second }
}

/// Whether an axis that has to fit the [`worst`] value also has to fit this one.
pub fn fits(value: f64, worst: Option<f64>, better: Better) -> bool {
    match (worst, better) {
        (Some(worst), Better::Higher) => value >= worst,
        (Some(worst), Better::Lower) => value <= worst,
        _ => true,
    }
}

/// The note below a figure with `beyond` of `all` locks that have values beyond its axis.
pub fn note(beyond: usize, all: usize) -> String {
    if beyond == 0 {
        return String::new();
    }
    let have = if beyond == 1 { "has" } else { "have" };
    format!(
        "The axis fits values up to {FACTOR} times behind the second-best lock's, or the middle one's if \
         most would be beyond. Of {all} locks {beyond} {have} values beyond it: an arrow at the edge, and \
         the number."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(values: &[f64], better: Better) -> Vec<f64> {
        let worst = worst(values.iter().copied(), better);
        values.iter().copied().filter(|value| fits(*value, worst, better)).collect()
    }

    #[test]
    fn values_ten_times_behind_the_second_best_are_left_out() {
        use Better::{Higher, Lower, Neither};
        for (values, better, fitting) in [
            (&[90.0, 100.0, 0.01, 30.0, 9.5][..], Higher, &[90.0, 100.0, 30.0, 9.5][..]),
            (&[20.0, 10.0, 190.0, 3e6], Lower, &[20.0, 10.0, 190.0]),
            // A lock far ahead does not push the others out.
            (&[5000.0, 100.0, 90.0, 11.0], Higher, &[5000.0, 100.0, 90.0, 11.0]),
            (&[0.01, 5.0, 6.0], Lower, &[0.01, 5.0, 6.0]),
            // If most values would be out, the middle one is the reference. Half is not most.
            (&[1.0, 2.0, 500.0, 700.0, 1e6], Lower, &[1.0, 2.0, 500.0, 700.0]),
            (&[1.0, 2.0, 500.0, 700.0], Lower, &[1.0, 2.0]),
            // Of two the better one is the reference.
            (&[100.0, 9.0], Higher, &[100.0]),
            (&[1.0, 11.0], Lower, &[1.0]),
            (&[7.0; 5], Higher, &[7.0; 5]),
            (&[], Lower, &[]),
            // Zero is the worst rate and bounds no times.
            (&[0.0, 5.0, 4.0], Higher, &[5.0, 4.0]),
            (&[0.0, 0.0, 4.0], Lower, &[0.0, 0.0, 4.0]),
            (&[1.0, 1e9, 1e-9], Neither, &[1.0, 1e9, 1e-9]),
        ] {
            assert_eq!(kept(values, better), fitting, "{better:?}");
        }
    }
}
