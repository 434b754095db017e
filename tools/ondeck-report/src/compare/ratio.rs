//! The ratio of one sample to another, with a confidence interval.
//!
//! The ratio is Hodges and Lehmann's estimate on logarithms: the median of the ratios of every
//! sample of one side to every sample of the other. Its interval lies between two of those ratios,
//! chosen by the distribution of Mann and Whitney's U. So it needs no random numbers, is exact
//! where the test is, and excludes 1 when the test finds a difference (E. L. Lehmann,
//! "Nonparametrics", 1975; R's `wilcox.test(conf.int = TRUE)` does the same). The alternative was a
//! bootstrap of medians. It covers as well, but in 1,500 draws of ten samples a side, 3 % apart
//! with a spread of 3 %, its intervals were a tenth wider and disagreed with the test in one of
//! eight.

use statrs::distribution::{ContinuousCDF, Normal};

use super::rank::{self, MOST_EXACT};

/// A ratio and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The estimate.
    pub estimate: f64,
    /// The interval; `None` if there are too few samples for one.
    pub interval: Option<(f64, f64)>,
}

/// The ratio of `other` to `base`, with an interval that misses the true ratio in at most `alpha`
/// of all cases. `None` if a sample is missing, or below zero.
///
/// The ratio of anything else to zero is infinite, and the ratio of zero to zero is 1.
pub fn of(base: &[f64], other: &[f64], alpha: f64) -> Option<Ratio> {
    let (base, other) = (logarithms(base)?, logarithms(other)?);
    let pairs = base.len() * other.len();
    let difference = |order| kth_difference(&base, &other, order);
    let estimate = f64::midpoint(difference(pairs.div_ceil(2)), difference(pairs / 2 + 1));
    let interval = bound(base.len(), other.len(), alpha)
        .map(|order| (exponential(difference(order)), exponential(difference(pairs + 1 - order))));
    Some(Ratio { estimate: exponential(estimate), interval })
}

/// Stands for the logarithm of zero: so far below all others, which are above -745, that any
/// difference to them exceeds a difference between them.
const LOG_OF_ZERO: f64 = -10_000.0;

/// No two numbers above zero are further apart.
const FURTHEST: f64 = 2_000.0;

/// Ascending.
fn logarithms(samples: &[f64]) -> Option<Vec<f64>> {
    if samples.is_empty() || samples.iter().any(|&sample| sample < 0.0) {
        return None;
    }
    let logarithm = |&sample: &f64| if sample == 0.0 { LOG_OF_ZERO } else { sample.ln() };
    let mut logarithms: Vec<f64> = samples.iter().map(logarithm).collect();
    logarithms.sort_unstable_by(f64::total_cmp);
    Some(logarithms)
}

fn exponential(difference: f64) -> f64 {
    match difference {
        more if more > FURTHEST => f64::INFINITY,
        less if less < -FURTHEST => 0.0,
        _ => difference.exp(),
    }
}

/// The index, from either end, of the difference that bounds the interval.
fn bound(one: usize, other: usize, alpha: f64) -> Option<usize> {
    if one + other <= MOST_EXACT {
        let size = one.min(other);
        let ranks: Vec<usize> = (1..=one + other).collect();
        let ways = rank::ways(&ranks, size);
        let total: f64 = ways.iter().sum();
        let mut below = 0.0;
        // U is 0 at the least sum of ranks.
        let tail = ways[size * (size + 1) / 2..].iter().take_while(|&&ways| {
            below += ways;
            2.0 * below / total < alpha
        });
        Some(tail.count()).filter(|&order| order > 0)
    } else {
        let (one, other) = (one as f64, other as f64);
        let deviation = (one * other * (one + other + 1.0) / 12.0).sqrt();
        let order =
            one * other / 2.0 - 0.5 - Normal::standard().inverse_cdf(1.0 - alpha / 2.0) * deviation;
        (order > 0.0).then_some(order.ceil() as usize)
    }
}

/// The difference of order `order`, from 1, among all differences of a sample of `other` and a
/// sample of `base`, both ascending. By bisection, because there may be too many pairs to store.
fn kth_difference(base: &[f64], other: &[f64], order: usize) -> f64 {
    /// Differences of logarithms: a ratio to 14 digits.
    const CLOSE: f64 = 1e-14;
    let at_most = |limit: f64| -> usize {
        // As samples of `base` grow, so does the part of `other` that is within the difference.
        let mut reached = 0;
        base.iter()
            .map(|sample| {
                reached +=
                    other[reached..].iter().take_while(|&&one| one - sample <= limit).count();
                reached
            })
            .sum()
    };
    let mut low = other[0] - base[base.len() - 1];
    let mut high = other[other.len() - 1] - base[0];
    if at_most(low) >= order {
        return low;
    }
    while high - low > CLOSE * high.abs().max(low.abs()).max(1.0) {
        let middle = f64::midpoint(low, high);
        if at_most(middle) >= order {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_those_of_the_written_out_differences() {
        let mut rng = fastrand::Rng::with_seed(3);
        for (one, other) in [(1, 1), (1, 7), (5, 4), (30, 31)] {
            let mut draw = |size| {
                let mut samples: Vec<f64> =
                    (0..size).map(|_| f64::from(rng.u32(0..20)) / 7.0).collect();
                samples.sort_unstable_by(f64::total_cmp);
                samples
            };
            let (one, other): (Vec<f64>, Vec<f64>) = (draw(one), draw(other));
            let mut all: Vec<f64> =
                one.iter().flat_map(|one| other.iter().map(move |other| other - one)).collect();
            all.sort_unstable_by(f64::total_cmp);
            for (index, difference) in all.iter().enumerate() {
                let found = kth_difference(&one, &other, index + 1);
                assert!((found - difference).abs() < 1e-12, "{index}: {found} {difference}");
            }
        }
    }

    #[test]
    fn below_zero_and_nothing_have_no_ratio() {
        assert_eq!(of(&[1.0], &[-1.0], 0.05), None);
        assert_eq!(of(&[], &[1.0], 0.05), None);
    }

    #[test]
    fn zeros_are_less_than_anything_and_as_much_as_zeros() {
        let of = |base: &[f64], other: &[f64]| of(base, other, 0.05).expect("none is below zero");
        let (zeros, ones) = ([0.0; 6], [1.0; 6]);
        let always = |ratio| Ratio { estimate: ratio, interval: Some((ratio, ratio)) };
        assert_eq!(of(&zeros, &ones), always(f64::INFINITY));
        assert_eq!(of(&ones, &zeros), always(0.0));
        assert_eq!(of(&zeros, &zeros), always(1.0));
        // One round without any operation does not hide the others.
        let ratio = of(&[0.0, 1.0, 1.0, 1.0, 1.0, 1.0], &[2.0; 6]);
        assert!((ratio.estimate - 2.0).abs() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn three_rounds_have_a_ratio_and_no_interval() {
        let ratio = of(&[1.0, 2.0, 4.0], &[2.0, 4.0, 8.0], 0.05).expect("above zero");
        assert!((ratio.estimate - 2.0).abs() < 1e-9 && ratio.interval.is_none(), "{ratio:?}");
    }

    #[test]
    fn the_interval_leaves_out_one_when_the_test_finds_a_difference() {
        let mut rng = fastrand::Rng::with_seed(4);
        let mut differing = 0;
        for round in 0..600 {
            let sizes = [(4, 4), (10, 10), (8, 15), (40, 30)][round % 4];
            let shift = [0.0, 0.3, 0.6][round % 3];
            let one: Vec<f64> = (0..sizes.0).map(|_| 1.0 + rng.f64()).collect();
            let other: Vec<f64> = (0..sizes.1).map(|_| 1.0 + shift + rng.f64()).collect();
            let differs = rank::p_value(&one, &other) < 0.05;
            let interval = of(&one, &other, 0.05).and_then(|ratio| ratio.interval);
            let (low, high) = interval.expect("enough samples");
            assert_eq!(differs, low > 1.0 || high < 1.0, "{one:?} {other:?}");
            differing += usize::from(differs);
        }
        assert!((100..500).contains(&differing), "{differing} of 600 say little");
    }
}
