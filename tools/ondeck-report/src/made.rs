//! Series for unit tests.

use ondeck_lab::results::{Better, Metric, Series};

/// Quartiles and the median.
pub(crate) type Spread = (f64, f64, f64);

fn metric(name: &str, unit: &str, (p25, median, p75): Spread) -> Metric {
    Metric {
        name: name.to_owned(),
        unit: unit.into(),
        better: Better::Higher,
        median,
        p25,
        p75,
        min: p25,
        max: p75,
        n: 3,
        samples: Vec::new(),
    }
}

/// A series of `throughput`.
pub(crate) fn series(lock: &str, threads: usize, throughput: Spread, share: Spread) -> Series {
    Series {
        workload: "throughput".to_owned(),
        lock: lock.to_owned(),
        threads,
        metrics: vec![metric("throughput", "ops/s", throughput), metric("share", "ratio", share)],
        ..Series::default()
    }
}
