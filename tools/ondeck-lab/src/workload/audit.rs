//! Sums that have to agree. Where a workload's threads share data, they count it twice, under the
//! lock and thread by thread. If the two differ, the lock let two threads in at once.

use crate::team::TeamError;

/// Compares the count under the lock with the threads' own count.
///
/// # Errors
///
/// [`TeamError::Broken`] if they differ.
pub(super) fn balance(what: &'static str, guarded: u64, counted: u64) -> Result<(), TeamError> {
    if guarded == counted { Ok(()) } else { Err(TeamError::Broken { what, guarded, counted }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn books_that_differ_are_a_broken_lock() {
        assert_eq!(balance("items", 7, 7), Ok(()));
        let error = balance("items", 7, 8).expect_err("one item too many").to_string();
        assert!(error.contains("items") && error.contains('7') && error.contains('8'), "{error}");
    }
}
