//! Fewer rounds, for emulated machines.

/// The value of `ONDECK_TEST_ROUNDS`, if it is set.
pub fn most_rounds() -> u64 {
    let given = std::env::var("ONDECK_TEST_ROUNDS").ok();
    given.map_or(u64::MAX, |text| text.parse().expect("ONDECK_TEST_ROUNDS is a number"))
}
