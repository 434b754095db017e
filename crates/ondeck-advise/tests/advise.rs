//! Advice: each rule where it holds and where it does not, every lock in its place, and an answer's
//! statements about measurements.

#[path = "advise/answers.rs"]
mod answers;
#[path = "advise/rules.rs"]
mod rules;
#[path = "advise/support.rs"]
mod support;
