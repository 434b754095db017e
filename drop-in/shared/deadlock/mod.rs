//! The locks' reports to deadlock detection: to crate `ondeck-deadlock`, or no-ops without the feature.

#[cfg(feature = "deadlock_detection")]
mod detect;
#[cfg(not(feature = "deadlock_detection"))]
mod nothing;

#[cfg(feature = "deadlock_detection")]
pub use detect::{DeadlockedThread, check_deadlock};
#[cfg(feature = "deadlock_detection")]
#[allow(unused_imports, reason = "not all of it by each package")]
pub(crate) use detect::{Wait, acquire, acquired, changes, releases, try_acquire, waits};
#[cfg(not(feature = "deadlock_detection"))]
#[allow(unused_imports, reason = "not all of it by each package")]
pub(crate) use nothing::{
    Ends, Held, Wait, Want, acquire, acquired, changes, releases, try_acquire, waits,
};
#[cfg(feature = "deadlock_detection")]
pub(crate) use ondeck_deadlock::{Ends, Held, Want};
