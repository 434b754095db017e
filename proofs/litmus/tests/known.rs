//! The litmus tests of the literature, with their authors' verdicts, which a wrong checker would not reproduce.

#[path = "known/machines.rs"]
mod machines;
#[path = "known/notation.rs"]
mod notation;
#[path = "known/source.rs"]
mod source;
