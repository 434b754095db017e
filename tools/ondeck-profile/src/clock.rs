//! The times of a recording.

use std::time::Duration;

use ondeck_record::layout::{File, bounds_of};

use crate::file::get;
use crate::model::Times;

/// Ticks and nanoseconds of a recording.
pub(crate) struct Clock {
    nanos_a_tick: f64,
    start: u64,
    /// Ticks from the beginning to the last known moment.
    pub(crate) last: u64,
}

impl Clock {
    pub(crate) fn of(file: &File) -> Self {
        let header = &file.header;
        let start = get(&header.start_ticks);
        let later = get(&header.later_ticks);
        let mut nanos_a_tick = 1e9 / get(&header.rate).max(1) as f64;
        if later > start {
            // Much further apart than the recorder had been running.
            let nanos = get(&header.later_monotonic).saturating_sub(get(&header.start_monotonic));
            let measured = nanos as f64 / (later - start) as f64;
            if nanos > 1_000_000 && (0.5..2.0).contains(&(measured / nanos_a_tick)) {
                nanos_a_tick = measured;
            }
        }
        let used = (get(&header.locks_used) as usize).min(file.locks.len());
        let seen = file.locks[..used].iter().map(|lock| get(&lock.since)).max().unwrap_or(0);
        Self { nanos_a_tick, start, last: later.max(seen).saturating_sub(start) }
    }

    pub(crate) fn nanos(&self, ticks: u64) -> f64 {
        ticks as f64 * self.nanos_a_tick
    }

    /// Returns the time from the beginning of the recording to that moment.
    pub(crate) fn since_start(&self, ticks: u64) -> Duration {
        Duration::from_nanos(self.nanos(ticks.saturating_sub(self.start)) as u64)
    }

    pub(crate) fn times(&self, count: u64, ticks: u64, longest: u64, buckets: &[u64]) -> Times {
        Times {
            count,
            nanos: self.nanos(ticks),
            longest: self.nanos(longest),
            buckets: buckets
                .iter()
                .enumerate()
                .filter_map(|(index, count)| {
                    let (from, to) = bounds_of(index);
                    let count = *count;
                    (count != 0).then(|| (self.nanos(from), self.nanos(to), count))
                })
                .collect(),
        }
    }
}
