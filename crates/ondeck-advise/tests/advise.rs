//! Advice: each rule where it holds and where it does not, every lock in its place, and what an
//! answer says of what was measured.

#[path = "advise/answers.rs"]
mod answers;
#[path = "../../ondeck-report/tests/support/everything.rs"]
mod everything;
#[path = "advise/formats.rs"]
mod formats;
#[path = "../../ondeck-lab/tests/support/golden.rs"]
mod golden;
#[path = "../../ondeck-report/tests/support/recorded.rs"]
mod recorded;
#[path = "advise/rules.rs"]
mod rules;
#[path = "advise/support.rs"]
mod support;
