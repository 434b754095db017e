//! The parking table of crate [`ondeck`] with the interface of parking_lot_core 0.9 and 0.10,
//! for `[patch.crates-io]`.
//!
//! The project's `docs/drop-in.md` lists the differences from the original. Both packages have this
//! file as their root.
//!
//! | feature | adds |
//! |---|---|
//! | `deadlock_detection` | `deadlock::check_deadlock` |
//! | `nightly` | nothing |

#[path = "resources.rs"]
pub mod deadlock;
mod fair;
mod parking;
mod spin;
#[path = "../time.rs"]
mod time;

#[cfg(feature = "deadlock_detection")]
#[path = "../deadlock.rs"]
mod stacks;

pub use parking::{
    DEFAULT_PARK_TOKEN, DEFAULT_UNPARK_TOKEN, FilterOp, ParkResult, ParkToken, RequeueOp,
    UnparkResult, UnparkToken, park, unpark_all, unpark_filter, unpark_one, unpark_requeue,
};
pub use spin::SpinWait;
