//! The litmus tests of the literature, with the verdicts that their authors give: a wrong checker does not have them.

#[path = "known/machines.rs"]
mod machines;
#[path = "known/notation.rs"]
mod notation;
#[path = "known/source.rs"]
mod source;
