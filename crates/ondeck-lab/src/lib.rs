//! The laboratory: workloads, measuring, statistics and reports for mutual-exclusion locks.
//!
//! A [`plan::Request`] becomes [`plan::Stage`]s; [`run::run`] carries them out, lock against lock,
//! round by round; the outcome is a [`results::Report`], which [`report`] turns into tables, JSON,
//! CSV and HTML. Commands live elsewhere: this library never prints.

pub mod advise;
pub mod alone;
pub mod clock;
pub mod compare;
pub mod costs;
pub mod disturbance;
pub mod environment;
mod freeze;
pub mod machine;
pub mod merge;
mod numbers;
pub mod plan;
pub mod report;
pub mod results;
pub mod run;
pub mod same;
pub mod sample;
pub mod select;
pub mod shard;
pub mod summary;
pub mod team;
pub mod trace;
pub mod usage;
pub mod verdict;
pub mod warnings;
pub mod work;
pub mod workload;

/// The time now, RFC 3339 in UTC to the second: for the head of a report.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
