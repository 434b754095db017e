//! The laboratory: workloads, measuring and statistics for mutual-exclusion locks.
//!
//! A [`plan::Request`] becomes [`plan::Stage`]s. [`run::run`] carries them out, lock against lock,
//! round by round, and returns a [`results::Report`]. [`stamp`] does the same for traces: it
//! records every pair of a run. Every loop that measures is compiled in this crate. Other crates
//! process the results: `ondeck-report` makes tables and pages, `ondeck-trace` explains,
//! `ondeck-advise` gives advice. This library never prints.
//!
//! ```text
//! plan       Request ─► Stages   a workload, its threads and parameters, the locks that compete
//!    │                           environment: where threads run, under which policy
//!    ▼
//! run        turns               each lock has a round in each turn, in shuffled order
//!    │
//!    ▼
//! workload   a round             what each thread does; to time pairs, compiled for each lock
//!    │
//!    ▼
//! team       threads             gate ─► window ─► stop; the coordinator watches for a stall
//!    │
//!    ▼
//! sample ─► summary ─► results   values of a round, medians and quartiles, the document
//! ```

pub mod alone;
pub mod any;
pub mod clock;
pub mod costs;
pub mod cpus;
pub mod disturbance;
pub mod environment;
pub mod machine;
pub mod other_work;
pub mod plan;
pub mod pure_work;
pub mod results;
pub mod run;
pub mod sample;
pub mod schedstat;
pub mod select;
pub mod stamp;
pub mod summary;
mod system;
pub mod team;
pub mod usage;
pub mod warnings;
mod worded;
pub mod work;
pub mod workload;

/// The current time, RFC 3339 in UTC to the second, for the head of a report.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}
