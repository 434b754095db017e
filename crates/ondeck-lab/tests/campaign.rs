//! Reports after they are written: read back, compared, merged, and taken apart by others.

#[path = "campaign/comparing.rs"]
mod comparing;
#[path = "campaign/lines.rs"]
mod lines;
#[path = "campaign/mangled.rs"]
mod mangled;
#[path = "campaign/merging.rs"]
mod merging;
#[path = "campaign/reading.rs"]
mod reading;
#[path = "campaign/statistics.rs"]
mod statistics;
#[path = "campaign/support.rs"]
mod support;
