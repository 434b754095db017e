//! Adds distributions of single times.

use std::collections::BTreeMap;

use ondeck_lab::results::Distribution;

/// The sum of both. Counts, bounds and extremes are exact. Percentiles are interpolated within a
/// bucket, so their error is at most a quarter, where a single run's have three digits.
pub(super) fn merged(one: &Distribution, other: &Distribution) -> Distribution {
    let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
    for &(bound, count) in one.buckets.iter().chain(&other.buckets) {
        let sum = buckets.entry(bound).or_default();
        *sum = sum.saturating_add(count);
    }
    let buckets: Vec<(u64, u64)> = buckets.into_iter().collect();
    let min_ns = one.min_ns.min(other.min_ns);
    let max_ns = one.max_ns.max(other.max_ns);
    Distribution {
        what: one.what.clone(),
        count: one.count.saturating_add(other.count),
        min_ns,
        max_ns,
        percentiles: one
            .percentiles
            .iter()
            .map(|&(percent, _)| {
                let nanos = percentile(&buckets, percent) as u64;
                (percent, nanos.min(max_ns).max(min_ns))
            })
            .collect(),
        buckets,
    }
}

/// The time that `percent` of all do not exceed.
fn percentile(buckets: &[(u64, u64)], percent: f64) -> f64 {
    let total: f64 = buckets.iter().map(|&(_, count)| count as f64).sum();
    let wanted = total * percent / 100.0;
    let mut behind = 0.0;
    let mut below = 0;
    for &(bound, count) in buckets {
        let count = count as f64;
        if behind + count >= wanted && count > 0.0 {
            // A bucket spans a quarter of its doubling; the previous one may be far away.
            let width = 1_u64 << bound.checked_ilog2().unwrap_or(0).saturating_sub(2);
            let from = bound.saturating_sub(width).max(below) as f64;
            return from + (bound as f64 - from) * (wanted - behind) / count;
        }
        behind += count;
        below = bound;
    }
    below as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distribution(buckets: &[(u64, u64)]) -> Distribution {
        Distribution {
            what: "wait".to_owned(),
            count: buckets.iter().map(|&(_, count)| count).sum(),
            min_ns: 3,
            max_ns: buckets.last().map_or(0, |&(bound, _)| bound),
            percentiles: vec![(50.0, 0), (99.0, 0)],
            buckets: buckets.to_vec(),
        }
    }

    #[test]
    fn nothing_is_lost_and_percentiles_lie_in_their_buckets() {
        let one = distribution(&[(3, 10), (1_023, 40)]);
        let other = distribution(&[(1_023, 40), (1_279, 9), (65_535, 1)]);
        let both = merged(&one, &other);
        assert_eq!(both.buckets, [(3, 10), (1_023, 80), (1_279, 9), (65_535, 1)]);
        assert_eq!((both.count, both.min_ns, both.max_ns), (100, 3, 65_535));
        let [(_, middle), (_, late)] = both.percentiles[..] else { panic!("{both:?}") };
        assert!((895..=1_023).contains(&middle), "{middle}");
        assert!((1_023..=1_279).contains(&late), "{late}");
    }

    #[test]
    fn numbers_that_no_run_yields_do_no_harm() {
        let absurd = distribution(&[(u64::MAX, u64::MAX / 2), (0, 7)]);
        let absurd = Distribution { percentiles: vec![(f64::MAX, 1), (-1.0, 2)], ..absurd };
        let both = merged(&absurd, &absurd);
        assert_eq!(both.buckets.len(), 2);
        let empty = distribution(&[]);
        assert_eq!(merged(&empty, &empty).count, 0);
    }
}
