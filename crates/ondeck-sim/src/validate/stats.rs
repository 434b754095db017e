//! How well two columns of numbers agree.

/// Spearman's rank correlation of pairs; equal numbers share their ranks. None for fewer than three pairs, or if
/// one of the columns has one value only.
pub fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < 3 {
        return None;
    }
    let first = ranks(&pairs.iter().map(|pair| pair.0).collect::<Vec<_>>());
    let second = ranks(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
    let mean = (pairs.len() + 1) as f64 / 2.0;
    let product = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).map(|(one, other)| (one - mean) * (other - mean)).sum()
    };
    let spread = (product(&first, &first) * product(&second, &second)).sqrt();
    (spread > 0.0).then(|| product(&first, &second) / spread)
}

/// The rank of each number, from 1; equal ones have the mean of their ranks.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let below = |one: f64| numbers.iter().filter(|other| **other < one).count();
    let equal = |one: f64| numbers.iter().filter(|other| other.total_cmp(&one).is_eq()).count();
    numbers.iter().map(|&one| below(one) as f64 + (equal(one) + 1) as f64 / 2.0).collect()
}

/// The median; none of no numbers.
pub fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_unstable_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() {
        0 => None,
        count if count % 2 == 1 => Some(numbers[middle]),
        _ => Some(f64::midpoint(numbers[middle - 1], numbers[middle])),
    }
}

/// Where one curve crosses another for good: the last place before which it was above and from which on it is
/// below, or the other way round, between two of the `x`. None if one is above the other throughout.
///
/// Each item is `x` and the two values there, by rising `x`.
pub fn crossing(curves: &[(f64, f64, f64)]) -> Option<(f64, f64)> {
    let (_, one, other) = curves.last()?;
    let ends_above = one > other;
    let before = curves.iter().rposition(|(_, one, other)| (one > other) != ends_above)?;
    Some((curves[before].0, curves[before + 1].0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_agree_correlate_fully_whatever_the_distances() {
        let agree = [(1.0, 10.0), (2.0, 11.0), (3.0, 500.0)];
        assert!(spearman(&agree).is_some_and(|it| (it - 1.0).abs() < 1e-9));
        let against = [(1.0, 500.0), (2.0, 11.0), (3.0, 10.0)];
        assert!(spearman(&against).is_some_and(|it| (it + 1.0).abs() < 1e-9));
        // Two of five that changed places: 1 - 6 * 2 / (5 * 24).
        let near = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 4.0), (5.0, 5.0)];
        assert!(spearman(&near).is_some_and(|it| (it - 0.9).abs() < 1e-9));
        assert_eq!(spearman(&agree[..2]), None);
        assert_eq!(spearman(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn curves_cross_where_the_last_change_is() {
        let curves = [(1.0, 3.0, 4.0), (2.0, 5.0, 4.0), (3.0, 3.5, 4.0), (4.0, 9.0, 4.0)];
        assert_eq!(crossing(&curves), Some((3.0, 4.0)));
        assert_eq!(crossing(&curves[..1]), None);
        assert_eq!(crossing(&[(1.0, 5.0, 4.0), (2.0, 6.0, 4.0)]), None);
    }
}
