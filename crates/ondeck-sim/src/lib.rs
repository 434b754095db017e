//! Simulated CPUs in virtual time, which run the locks and workloads of this workspace.
//!
//! [`engine`] runs simulated threads; [`Sim`](engine::Sim) is the platform that locks see. [`machine`] describes a
//! machine: the number of its CPUs, and the costs of their operations. [`check`] is a test tool that drives
//! primitives under schedules that ordinary runs hardly ever have.

#![warn(missing_docs)]
#![cfg_attr(not(feature = "lab"), allow(dead_code, reason = "what the laboratory alone uses"))]

pub mod check;
pub mod engine;
#[cfg(feature = "lab")]
pub mod lab;
pub mod machine;
pub mod time;
