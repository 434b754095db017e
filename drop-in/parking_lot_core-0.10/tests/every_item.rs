//! Every item that parking_lot_core 0.10 exports, used once.

use parking_lot_core::{ParkResult, SpinWait};

#[path = "../../shared/tests/core_items.rs"]
mod items;

#[test]
fn constants_are_made_of_these() {
    const SPIN: SpinWait = {
        let mut spin = SpinWait::new();
        spin.reset();
        spin
    };
    const UNPARKED: bool = ParkResult::TimedOut.is_unparked();
    let mut spin = SPIN;
    assert!(spin.spin());
    const { assert!(!UNPARKED) };
}
