//! The measurements by lock and metric, in one situation.

use std::collections::BTreeMap;

use ondeck_lab::results::{Better, Metric, Report};
use ondeck_lab::workload::{NO_LOCK, UNCONTENDED, param};

use super::rules::METRICS;

/// One metric of one lock.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its unit.
    pub unit: String,
    /// Which direction is better.
    pub better: Better,
    /// The median over rounds.
    pub median: f64,
    /// The greatest of the rounds.
    pub max: f64,
    /// The rounds.
    pub samples: Vec<f64>,
}

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
pub struct Figures(BTreeMap<String, BTreeMap<&'static str, Figure>>);

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
                    if let (Some(name), Some(figure)) = (name, figure(metric)) {
                        its.entry(name).or_insert(figure);
                    }
                }
            }
        }
        figures
    }

    /// A metric of a lock, if it was measured.
    pub fn get(&self, lock: &str, metric: &str) -> Option<&Figure> {
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

fn figure(metric: &Metric) -> Option<Figure> {
    (!metric.samples.is_empty()).then(|| Figure {
        unit: metric.unit.clone(),
        better: metric.better,
        median: ondeck_lab::summary::Spread::of(&metric.samples).median,
        max: metric.samples.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        samples: metric.samples.clone(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Figures by lock, metric, unit and samples.
    pub(crate) fn figures(of: &[(&str, &'static str, &str, &[f64])]) -> Figures {
        let mut figures = Figures::default();
        for (lock, name, unit, samples) in of {
            let metric = Metric {
                name: (*name).to_owned(),
                unit: (*unit).into(),
                better: if *name == ondeck_lab::sample::THROUGHPUT.name {
                    Better::Higher
                } else {
                    Better::Lower
                },
                median: 0.0,
                p25: 0.0,
                p75: 0.0,
                min: 0.0,
                max: 0.0,
                n: samples.len(),
                samples: samples.to_vec(),
            };
            let figure = figure(&metric).expect("samples");
            figures.0.entry((*lock).to_owned()).or_default().insert(name, figure);
        }
        figures
    }

    #[test]
    fn the_empty_lock_is_never_the_thriftiest() {
        let figures = figures(&[
            ("none", "cpu_per_op", "ns", &[1.0]),
            ("std", "cpu_per_op", "ns", &[5.0, 7.0]),
        ]);
        assert_eq!(figures.least("cpu_per_op"), Some(6.0));
    }
}
