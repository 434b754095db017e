//! Whether two samples differ: the Mann-Whitney U test, two-sided.
//!
//! It assumes nothing about the distribution of times, which are skewed. Up to [`MOST_EXACT`]
//! samples in all, p is exact, including ties: every way to deal the pooled ranks to the two sides
//! is counted. Above that it is the normal approximation, corrected for ties and for continuity.
//!
//! Why own code: `statrs::stats_tests::mannwhitneyu` 0.19 returns p = 1 by its exact method for 1,
//! 2, 3 against 4, 5, 6, where p is 0.1 (it takes the wrong tail unless the first sample is the
//! larger one), and visits every combination, 155 million for 15 of 30. Its approximation, which it
//! uses for tied samples of any size, calls 1, 1, 1 and 2, 2, 2 different at 0.05. `hypors` only
//! approximates. This file uses the normal distribution of statrs.

use std::cmp::Ordering;

use statrs::distribution::{ContinuousCDF, Normal};

/// The most samples on both sides together that are counted exactly. More than C(50, 25) = 1.3e14
/// ways would soon exceed 2^53, below which doubles count exactly.
pub const MOST_EXACT: usize = 50;

/// The probability that two samples of one distribution differ at least as much as these. 1 if one
/// side is empty. Samples are finite.
pub fn p_value(one: &[f64], other: &[f64]) -> f64 {
    if one.is_empty() || other.is_empty() {
        return 1.0;
    }
    let ranks = Ranks::of(one, other);
    if one.len() + other.len() <= MOST_EXACT { ranks.exact() } else { ranks.approximate() }
}

/// The number of ways in which each sum of ranks results when `size` of the `ranks` are drawn.
///
/// `size` and the ranks are such that the ways stay below 2^53.
pub(super) fn ways(ranks: &[usize], size: usize) -> Vec<f64> {
    let mut sorted = ranks.to_vec();
    sorted.sort_unstable_by(|one, other| other.cmp(one));
    let greatest: usize = sorted.iter().take(size).sum();
    // A row for each number of ranks drawn, a column for each sum.
    let mut ways = vec![vec![0.0; greatest + 1]; size + 1];
    ways[0][0] = 1.0;
    for (seen, &rank) in ranks.iter().enumerate() {
        // Backwards, so that no rank is drawn twice.
        for drawn in (1..=size.min(seen + 1)).rev() {
            let (fewer, more) = ways.split_at_mut(drawn);
            for (to, from) in more[0].iter_mut().skip(rank).zip(&fewer[drawn - 1]) {
                *to += from;
            }
        }
    }
    ways.swap_remove(size)
}

/// Both samples as ranks among all.
struct Ranks {
    /// For all samples, ascending, twice the rank, so that a rank shared by a tie is whole.
    doubled: Vec<usize>,
    /// The sizes of the groups of equal samples.
    ties: Vec<usize>,
    /// The sum of the first side's doubled ranks.
    sum: usize,
    first: usize,
    second: usize,
}

impl Ranks {
    fn of(one: &[f64], other: &[f64]) -> Self {
        let mut all: Vec<(f64, bool)> = one.iter().map(|&sample| (sample, true)).collect();
        all.extend(other.iter().map(|&sample| (sample, false)));
        all.sort_unstable_by(|(one, _), (other, _)| one.total_cmp(other));
        let mut ranks = Self {
            doubled: Vec::with_capacity(all.len()),
            ties: Vec::new(),
            sum: 0,
            first: one.len(),
            second: other.len(),
        };
        // Zero has two signs, which are a tie.
        let equal = |one: &f64, other: &f64| one.partial_cmp(other).is_some_and(Ordering::is_eq);
        for tied in all.chunk_by(|(one, _), (other, _)| equal(one, other)) {
            let before = ranks.doubled.len();
            let doubled = 2 * before + tied.len() + 1;
            ranks.sum += doubled * tied.iter().filter(|(_, first)| *first).count();
            ranks.doubled.extend(std::iter::repeat_n(doubled, tied.len()));
            ranks.ties.push(tied.len());
        }
        ranks
    }

    fn exact(&self) -> f64 {
        // The smaller side has fewer ways; the larger one has the remaining ranks.
        let all: usize = self.doubled.iter().sum();
        let (size, sum) = if self.first <= self.second {
            (self.first, self.sum)
        } else {
            (self.second, all - self.sum)
        };
        let ways = ways(&self.doubled, size);
        let total: f64 = ways.iter().sum();
        let below: f64 = ways[..=sum].iter().sum();
        let above: f64 = ways[sum..].iter().sum();
        (2.0 * below.min(above) / total).min(1.0)
    }

    fn approximate(&self) -> f64 {
        let (first, second) = (self.first as f64, self.second as f64);
        let all = first + second;
        let tied: f64 = self.ties.iter().map(|&tied| (tied as f64).powi(3) - tied as f64).sum();
        let variance = first * second / 12.0 * (all + 1.0 - tied / (all * (all - 1.0)));
        if variance <= 0.0 {
            return 1.0;
        }
        let middle = first * (all + 1.0) / 2.0;
        let off = (self.sum as f64 / 2.0 - middle).abs() - 0.5;
        (2.0 * Normal::standard().sf(off / variance.sqrt())).min(1.0)
    }
}

/// The least possible p of samples with these sizes.
pub fn least_p(one: usize, other: usize) -> f64 {
    let ways = (1..=one).fold(1.0, |ways, drawn| ways * (other + drawn) as f64 / drawn as f64);
    (2.0 / ways).min(1.0)
}

/// The least number of samples on each side that can differ at `alpha`.
pub fn fewest_samples(alpha: f64) -> usize {
    /// 2 divided by C(2000, 1000) is less than any double above zero.
    const MOST: usize = 1_000;
    (1..MOST).find(|&samples| least_p(samples, samples) < alpha).unwrap_or(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clean_split_has_the_least_p() {
        for samples in 1..12 {
            let low: Vec<f64> = (0..samples).map(f64::from).collect();
            let high: Vec<f64> = low.iter().map(|sample| sample + 100.0).collect();
            let least = least_p(low.len(), high.len());
            assert!((p_value(&low, &high) - least).abs() < 1e-12);
            assert!((p_value(&high, &low) - least).abs() < 1e-12);
        }
    }

    #[test]
    fn four_rounds_are_the_fewest_at_five_percent() {
        assert_eq!(fewest_samples(0.05), 4);
        assert_eq!(fewest_samples(0.01), 5);
    }

    #[test]
    fn nothing_and_equal_samples_do_not_differ() {
        assert!((p_value(&[], &[1.0]) - 1.0).abs() < 1e-12);
        for size in [3, 30, 300] {
            assert!((p_value(&vec![5.0; size], &vec![5.0; size]) - 1.0).abs() < 1e-12);
            assert!((p_value(&[0.0], &vec![-0.0; size]) - 1.0).abs() < 1e-12);
        }
    }
}
