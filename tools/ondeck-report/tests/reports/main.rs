//! Reports written in every format, read back, compared, and mangled.

mod comparing;
mod everything;
mod formats;
#[path = "../../../ondeck-lab/tests/support/golden.rs"]
mod golden;
mod html;
mod mangled;
mod reading;
mod recorded;
mod simulated;
mod statistics;
mod support;
