//! What every system promises to the locks. Nothing here is of one system, and no time is asserted:
//! that a deadline has passed is read from the clock that the deadline was on.

mod fences;
mod futex;
mod machine;
