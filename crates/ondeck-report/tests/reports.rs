//! Reports written in every format, read back, compared, merged, and mangled.

#[path = "reports/comparing.rs"]
mod comparing;
#[path = "support/everything.rs"]
mod everything;
#[path = "reports/formats.rs"]
mod formats;
#[path = "../../ondeck-lab/tests/support/golden.rs"]
mod golden;
#[path = "reports/html/mod.rs"]
mod html;
#[path = "reports/mangled.rs"]
mod mangled;
#[path = "reports/merging.rs"]
mod merging;
#[path = "reports/reading.rs"]
mod reading;
#[path = "support/recorded.rs"]
mod recorded;
#[path = "reports/simulated.rs"]
mod simulated;
#[path = "reports/statistics.rs"]
mod statistics;
#[path = "reports/support.rs"]
mod support;
