//! The published tables, a file each: which rows, on which machine, by which lock of the zoo.

mod folly;
mod go;
mod lab;
mod parking_lot;
mod skarupke;
mod sync_bench;
mod sync_sweeps;

use super::case::Table;

/// The tables' names, in the order in which they are simulated.
pub const NAMES: [&str; 7] =
    ["go", "sync-bench", "sync-sweeps", "folly", "skarupke", "parking-lot", "lab"];

/// The table of that name.
pub fn named(name: &str) -> Option<Table> {
    Some(match name {
        "go" => go::table(),
        "sync-bench" => sync_bench::table(),
        "sync-sweeps" => sync_sweeps::table(),
        "folly" => folly::table(),
        "skarupke" => skarupke::table(),
        "parking-lot" => parking_lot::table(),
        "lab" => lab::table(),
        _ => return None,
    })
}
