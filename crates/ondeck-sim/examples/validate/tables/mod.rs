//! The published tables, a file each: rows, machines, and the locks of the zoo.

pub mod folly;
mod go;
mod lab;
mod litl;
mod parking_lot;
mod skarupke;
pub mod sync_bench;
mod sync_sweeps;

use super::case::Table;

/// The tables' names, in the order in which they are simulated.
pub const NAMES: [&str; 9] = [
    "go",
    "sync-bench",
    "sync-sweeps",
    "folly",
    "skarupke",
    "skarupke-longest",
    "parking-lot",
    "litl",
    "lab",
];

pub fn named(name: &str) -> Option<Table> {
    Some(match name {
        "go" => go::table(),
        "sync-bench" => sync_bench::table(),
        "sync-sweeps" => sync_sweeps::table(),
        "folly" => folly::table(),
        "skarupke" => skarupke::runs(),
        "skarupke-longest" => skarupke::longest(),
        "parking-lot" => parking_lot::table(),
        "litl" => litl::table(),
        "lab" => lab::table(),
        _ => return None,
    })
}
