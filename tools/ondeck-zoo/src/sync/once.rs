//! Onces: one thread initializes, and the others wait for it.

use ondeck::platform::{Host, Native, Platform};

use super::PEER;
use crate::{LockInfo, Origin, Waiting};

/// Runs an initialization once.
pub trait RawOnce<P: Platform>: Sized + Send + Sync + 'static {
    /// The facts of this once.
    const INFO: LockInfo;

    /// A once that has not run.
    fn new() -> Self;

    /// Runs `init` if no call has run before; returns when the first call's `init` has ended. This
    /// thread then sees what that did.
    fn call(&self, init: impl FnOnce());
}

/// An operation on every type of once; see [`Visitor`](crate::Visitor).
pub trait OnceVisitor<P: Platform> {
    /// Called once for each.
    fn visit<O: RawOnce<P>>(&mut self);
}

/// This project's once.
impl<P: Host> RawOnce<P> for ondeck::Once<P> {
    const INFO: LockInfo = LockInfo {
        name: "ondeck_once",
        origin: Origin::Own,
        waiting: Waiting::SpinsThenSleeps,
        touches_after_release: false,
        source: "this project, ondeck::Once",
        teaches: "A call that comes later is one load, and the threads that wait for the first are in a table",
        ..PEER
    };

    fn new() -> Self {
        Self::on_platform()
    }

    #[inline]
    fn call(&self, init: impl FnOnce()) {
        self.call_once(init);
    }
}

/// `std::sync::Once`.
#[derive(Debug)]
pub struct StdOnce(std::sync::Once);

impl RawOnce<Native> for StdOnce {
    const INFO: LockInfo = LockInfo {
        name: "std_once",
        source: "Rust's standard library, std::sync::Once",
        teaches: "A call that comes later is one load and one comparison",
        ..PEER
    };

    fn new() -> Self {
        Self(std::sync::Once::new())
    }

    #[inline]
    fn call(&self, init: impl FnOnce()) {
        self.0.call_once(init);
    }
}

/// `parking_lot::Once`.
#[derive(Debug)]
pub struct ParkingLotOnce(parking_lot::Once);

impl RawOnce<Native> for ParkingLotOnce {
    const INFO: LockInfo = LockInfo {
        name: "parking_lot_once",
        waiting: Waiting::SpinsThenSleeps,
        source: "The crate parking_lot 0.13, Once, by Amanieu d'Antras",
        teaches: "One byte, with the threads that wait for the first call in a table",
        ..PEER
    };

    fn new() -> Self {
        Self(parking_lot::Once::new())
    }

    #[inline]
    fn call(&self, init: impl FnOnce()) {
        self.0.call_once(init);
    }
}
