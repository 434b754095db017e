//! Reports written in every format, read back, compared, and mangled.

mod comparing;
mod everything;
mod formats;
mod html;
mod mangled;
mod reading;
mod simulated;
mod statistics;
mod support;
