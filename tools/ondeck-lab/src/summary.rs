//! Turns samples into the numbers of a report: medians with their spread, percentiles, histograms.

use hdrhistogram::Histogram;
use statrs::statistics::{Data, OrderStatistics};

use crate::plan::Stage;
use crate::results::{Distribution, Metric, Series};
use crate::sample::{LONGEST, Quantity, Sample};
use crate::workload::Subject;

/// Median and quartiles of some samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The middle.
    pub median: f64,
    /// A quarter of the samples is below.
    pub p25: f64,
    /// A quarter of the samples is above.
    pub p75: f64,
}

impl Spread {
    /// Of the finite samples; zeros if there are none. Between samples it interpolates as R's
    /// quantile type 8, which Hyndman and Fan recommend.
    pub fn of(samples: &[f64]) -> Self {
        let finite: Vec<f64> =
            samples.iter().copied().filter(|sample| sample.is_finite()).collect();
        if finite.is_empty() {
            return Self { median: 0.0, p25: 0.0, p75: 0.0 };
        }
        let mut data = Data::new(finite);
        Self { median: data.median(), p25: data.lower_quartile(), p75: data.upper_quartile() }
    }
}

/// The percentiles that a distribution reports.
const PERCENTILES: [f64; 8] = [1.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99];

pub(crate) fn series(
    stage: &Stage,
    subject: &Subject,
    samples: &[Sample],
    times: Option<&Histogram<u64>>,
    partial: bool,
) -> Series {
    Series {
        workload: stage.workload.name.to_owned(),
        lock: subject.info.name.to_owned(),
        threads: stage.threads,
        params: stage.params.clone(),
        partial,
        round_milliseconds: stage.counted.is_none().then_some(stage.turn.as_secs_f64() * 1e3),
        cut_runs: samples.iter().filter(|sample| sample.cut).count(),
        metrics: metrics(samples),
        distribution: times.map(|times| distribution(stage.workload.name, times, samples)),
    }
}

/// A metric for each quantity of the samples.
pub fn metrics(samples: &[Sample]) -> Vec<Metric> {
    // A round without a divisor for a quantity lacks that quantity.
    let richest = samples.iter().max_by_key(|sample| sample.values.len());
    let of = |quantity| {
        Metric::of(quantity, samples.iter().filter_map(|sample| sample.value(quantity)).collect())
    };
    richest.iter().flat_map(|sample| &sample.values).map(|&(quantity, _)| of(quantity)).collect()
}

impl Metric {
    /// The metric of some samples of a quantity.
    pub fn of(quantity: Quantity, samples: Vec<f64>) -> Self {
        let mut metric = Self {
            name: quantity.name.to_owned(),
            unit: quantity.unit.to_string(),
            better: quantity.better,
            median: 0.0,
            p25: 0.0,
            p75: 0.0,
            min: 0.0,
            max: 0.0,
            n: 0,
            samples,
        };
        metric.summarize();
        metric
    }

    /// Computes everything from the samples, if there are any.
    pub fn summarize(&mut self) {
        if self.samples.is_empty() {
            return;
        }
        let spread = Spread::of(&self.samples);
        (self.p25, self.median, self.p75) = (spread.p25, spread.median, spread.p75);
        self.min = self.samples.iter().copied().fold(f64::INFINITY, f64::min);
        self.max = self.samples.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.n = self.samples.len();
    }
}

fn distribution(what: &str, times: &Histogram<u64>, samples: &[Sample]) -> Distribution {
    // The histogram rounds up to its three digits; the longest of all is known exactly.
    let longest = samples.iter().filter_map(|sample| sample.value(LONGEST)).fold(0.0, f64::max);
    let mut buckets: Vec<(u64, u64)> = Vec::new();
    for step in times.iter_recorded() {
        let bound = bucket_bound(step.value_iterated_to());
        let count = step.count_since_last_iteration();
        match buckets.last_mut() {
            Some((last, sum)) if *last == bound => *sum += count,
            _ => buckets.push((bound, count)),
        }
    }
    Distribution {
        what: what.to_owned(),
        count: times.len(),
        min_ns: times.min(),
        max_ns: (longest * 1e6).round() as u64,
        percentiles: PERCENTILES.iter().map(|&p| (p, times.value_at_percentile(p))).collect(),
        buckets,
    }
}

/// The upper bound of the reported bucket that holds `nanos`. Three significant bits, four buckets
/// to every doubling: as fine as a plot over nine decades can show.
fn bucket_bound(nanos: u64) -> u64 {
    let width = 1_u64 << nanos.checked_ilog2().unwrap_or(0).saturating_sub(2);
    (nanos / width + 1) * width - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_matches_r() {
        // R: quantile(c(1, 2, 3, 4, 100), c(.25, .5, .75), type = 8)
        let spread = Spread::of(&[100.0, 1.0, 4.0, 2.0, 3.0]);
        assert!((spread.median - 3.0).abs() < 1e-9);
        assert!((spread.p25 - 1.666_666_666_7).abs() < 1e-6, "{spread:?}");
        assert!((spread.p75 - 36.0).abs() < 1e-6, "{spread:?}");
    }

    #[test]
    fn nothing_spreads_to_zero_and_what_is_not_a_number_is_left_out() {
        assert_eq!(Spread::of(&[]), Spread { median: 0.0, p25: 0.0, p75: 0.0 });
        assert!((Spread::of(&[f64::NAN, 5.0]).median - 5.0).abs() < 1e-9);
    }

    #[test]
    fn buckets_are_at_most_a_quarter_wide_and_lose_nothing() {
        for nanos in (0..10_000).chain([1 << 40, u64::from(u32::MAX)]) {
            let bound = bucket_bound(nanos);
            assert!(bound >= nanos && bound <= nanos + nanos / 4 + 1, "{nanos} → {bound}");
        }
        let mut times = crate::sample::histogram();
        for nanos in [1_u64, 5, 100, 101, 1_000_000] {
            times.saturating_record(nanos);
        }
        let longest = Sample { values: vec![(LONGEST, 1.0)], ..Sample::default() };
        let distribution = distribution("wait", &times, &[longest]);
        assert_eq!(distribution.max_ns, 1_000_000);
        assert_eq!(distribution.buckets.iter().map(|(_, count)| count).sum::<u64>(), 5);
        assert!(distribution.buckets.is_sorted());
    }
}
