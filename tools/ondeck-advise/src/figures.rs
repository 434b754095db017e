//! The measurements by lock and metric, in one situation.

use std::collections::BTreeMap;

use ondeck_lab::results::{Metric, Report};
use ondeck_lab::workload::{NO_LOCK, UNCONTENDED, param};

use super::rules::METRICS;

/// Identifies the series of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The workload.
    pub workload: &'static str,
    /// How many threads.
    pub threads: usize,
    /// The parameters that distinguish it from others.
    pub params: BTreeMap<String, String>,
}

/// The figures of a situation.
#[derive(Clone, Debug, Default)]
pub struct Figures(BTreeMap<String, BTreeMap<&'static str, Metric>>);

impl Place {
    /// A timed workload with work inside and outside of the section.
    pub fn working(workload: &'static str, threads: usize, work: (u64, u64)) -> Self {
        let params = [(param::SECTION, work.0), (param::OUTSIDE, work.1)];
        let params = params.map(|(name, nanos)| (name.to_owned(), nanos.to_string()));
        Self { workload, threads, params: params.into() }
    }

    /// A process that has one thread.
    pub fn alone() -> Self {
        let params = [(param::PROCESS.to_owned(), param::ONE_THREAD.to_owned())].into();
        Self { workload: UNCONTENDED, threads: 1, params }
    }
}

impl Figures {
    /// Extracts the figures of a report at these places. If two places have a metric, the first one
    /// counts.
    ///
    /// Incomplete series are left out: they do not cover the same rounds as the others.
    pub fn of(report: &Report, places: &[Place]) -> Self {
        let mut figures = Self::default();
        for place in places {
            let series = report.series.iter().filter(|series| {
                series.workload == place.workload
                    && series.threads == place.threads
                    && series.params == place.params
                    && !series.partial
                    && series.cut_runs == 0
            });
            for series in series {
                let its = figures.0.entry(series.lock.clone()).or_default();
                for metric in &series.metrics {
                    let name = METRICS.iter().find(|name| **name == metric.name);
                    if let Some(name) = name.filter(|_| !metric.samples.is_empty()) {
                        // A report's own medians are ignored.
                        let mut metric = metric.clone();
                        metric.summarize();
                        its.entry(name).or_insert(metric);
                    }
                }
            }
        }
        figures
    }

    /// A metric of a lock, if it was measured.
    pub fn get(&self, lock: &str, metric: &str) -> Option<&Metric> {
        self.0.get(lock)?.get(metric)
    }

    /// The least median of a metric among all locks except the harness's.
    pub fn least(&self, metric: &str) -> Option<f64> {
        let locks = self.0.iter().filter(|(lock, _)| *lock != NO_LOCK);
        let medians = locks.filter_map(|(_, its)| its.get(metric)).map(|figure| figure.median);
        medians.reduce(f64::min)
    }

    /// Whether there are no measurements.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use ondeck_lab::sample::{CPU_PER_OP, Quantity};

    use super::*;

    pub(crate) fn figures(of: &[(&str, Quantity, &[f64])]) -> Figures {
        let mut figures = Figures::default();
        for (lock, quantity, samples) in of {
            let metric = Metric::of(*quantity, samples.to_vec());
            figures.0.entry((*lock).to_owned()).or_default().insert(quantity.name, metric);
        }
        figures
    }

    #[test]
    fn the_empty_lock_is_never_the_thriftiest() {
        let figures = figures(&[("none", CPU_PER_OP, &[1.0]), ("std", CPU_PER_OP, &[5.0, 7.0])]);
        assert_eq!(figures.least(CPU_PER_OP.name), Some(6.0));
    }
}
