//! Every item that parking_lot_core 0.9 exports, used once.

#[path = "../../shared/tests/core_items.rs"]
mod items;

#[test]
fn an_unpark_says_when_to_be_fair() {
    assert!(!parking_lot_core::UnparkResult::default().be_fair);
}
