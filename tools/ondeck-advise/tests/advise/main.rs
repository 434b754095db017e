//! Advice: each rule where it holds and where it does not, every lock in its place, and an answer's
//! statements about measurements.

mod answers;
mod rules;
mod support;
