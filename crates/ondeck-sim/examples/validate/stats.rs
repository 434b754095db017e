//! Measures of the agreement between two columns of numbers.

/// Spearman's rank correlation of pairs; equal numbers share their ranks. `None` for fewer than three pairs, or
/// if a column has only one value.
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

/// The rank of each number, from 1; equal numbers have the mean of their ranks.
fn ranks(numbers: &[f64]) -> Vec<f64> {
    let below = |one: f64| numbers.iter().filter(|other| **other < one).count();
    let equal = |one: f64| numbers.iter().filter(|other| other.total_cmp(&one).is_eq()).count();
    numbers.iter().map(|&one| below(one) as f64 + (equal(one) + 1) as f64 / 2.0).collect()
}

/// The median; `None` if there are no numbers.
pub fn median(mut numbers: Vec<f64>) -> Option<f64> {
    numbers.sort_unstable_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() {
        0 => None,
        count if count % 2 == 1 => Some(numbers[middle]),
        _ => Some(f64::midpoint(numbers[middle - 1], numbers[middle])),
    }
}

/// The least number that is not exceeded by this part of them; `None` if there are no numbers.
pub fn within(mut numbers: Vec<f64>, part: f64) -> Option<f64> {
    numbers.sort_unstable_by(f64::total_cmp);
    let place = (numbers.len() as f64 * part).ceil() as usize;
    numbers.get(place.saturating_sub(1)).copied()
}
