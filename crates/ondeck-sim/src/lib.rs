//! Simulated CPUs in virtual time, which run the locks and workloads of this workspace.
//!
//! [`engine`] runs simulated threads; [`Sim`](engine::Sim) is the platform that locks see. [`machine`] describes a
//! machine: the number of its CPUs, and the costs of their operations. [`schedule`] draws small machines and disturbances
//! of their threads, for the traces that specifications follow.

#![warn(missing_docs)]
#![cfg_attr(not(feature = "lab"), allow(dead_code, reason = "what the laboratory alone uses"))]

pub mod engine;
#[cfg(feature = "lab")]
pub mod lab;
pub mod machine;
pub mod schedule;
pub mod time;
