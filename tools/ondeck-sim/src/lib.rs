//! Simulated CPUs in virtual time, which run the locks and workloads of this workspace.
//!
//! [`engine`] runs simulated threads; [`Sim`](engine::Sim) is the platform that locks see.
//! [`machine`] describes a machine: the number of its CPUs, and the costs of their operations.

#![warn(missing_docs)]

pub mod engine;
pub mod lab;
pub mod machine;
pub mod time;
