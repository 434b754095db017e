//! A trace made of a report, so that what is written of traces can be tested without making one.

use ondeck_lab::results::Report;
use ondeck_lab::results::trace::{Document, LockTrace, SCHEMA, Settings, Tally};
use ondeck_lab::schedstat::Account;

/// A trace made of the timelines that a report has.
pub fn traced(report: &Report) -> Document {
    let locks = report.idle_timelines.iter().map(|one| LockTrace {
        lock: one.lock.clone(),
        runs: one.runs,
        nanos: 123_456_789,
        pairs: 98_765,
        account: Account::default(),
        idles: Tally {
            count: 7,
            nanos: 1_234_567,
            short_count: 3,
            short_nanos: 999,
            ..Tally::default()
        },
        longest_idles: vec![one.episode.clone()],
        clips: vec![one.clip.clone()],
        ..LockTrace::default()
    });
    Document {
        schema: SCHEMA,
        kind: "ondeck trace".to_owned(),
        started: report.started.clone(),
        partial: true,
        build: report.build.clone(),
        machine: report.machine.clone(),
        settings: Settings { threads: 16, pairs: 100, least_nanos: 10_000, ..Settings::default() },
        sight: report.idle_timelines[0].sight,
        refused: Vec::new(),
        warnings: Vec::new(),
        stamp_nanos: 41.3,
        failures: Vec::new(),
        locks: locks.collect(),
    }
}
