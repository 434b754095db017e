//! A machine that is not there: the locks and workloads of this workspace on simulated CPUs, in virtual time.
//!
//! [`engine`] lets simulated threads run; [`Sim`](engine::Sim) is the platform that locks see. [`machine`] says what
//! a machine is: how many CPUs it has, and what their operations cost. [`check`] is a test tool that drives
//! primitives under schedules that ordinary runs hardly ever have.

#![warn(missing_docs)]
#![cfg_attr(not(feature = "lab"), allow(dead_code, reason = "what the laboratory alone uses"))]

pub mod check;
pub mod engine;
#[cfg(feature = "lab")]
pub mod lab;
pub mod machine;
pub mod time;
