//! The tables of the terminal do not change unnoticed.
//!
//! After an intended change rewrite the file with `ONDECK_GOLDEN=write cargo test`, and review the
//! other differences.

use std::fs;
use std::path::Path;

use ondeck_report::table;

use crate::everything::everything;

#[test]
fn the_terminal_shows_every_workload_as_it_did() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden-table.txt");
    let found = table::render(&everything(), false);
    if std::env::var_os("ONDECK_GOLDEN").is_some() {
        fs::write(&path, found).expect("the folder is there");
        return;
    }
    let expected = fs::read_to_string(&path).expect("a golden file");
    for (expected, found) in expected.lines().zip(found.lines()) {
        assert_eq!(expected, found);
    }
    assert_eq!(expected.lines().count(), found.lines().count());
}
