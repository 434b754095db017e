//! The baseline: a program that simulates nothing, and copies the number of the nearest published machine.
//!
//! The nearest machine has published the same lock and workload in the same table, with as many threads or with at most
//! twice or half as many. A machine of the same vendor and class is nearest, then one of the same class, then one of
//! the same vendor, then any other. Among equals, the nearest is the one whose number of CPUs differs by the least
//! ratio. No machine is copied from itself. In a table of one machine, the other columns stand for machines.

use super::case::Table;

/// A published machine, as a reader knows it without a simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The machine's name in the table, or a column's where the table has one machine.
    pub name: &'static str,
    /// The CPUs that the program had.
    pub cpus: u32,
}

/// A published number that can be copied.
#[derive(Clone, Debug)]
pub struct Published {
    /// The machine.
    pub origin: Origin,
    /// The workload, by a name that all machines of the table share.
    pub workload: String,
    /// The lock of the zoo.
    pub ours: &'static str,
    pub threads: u32,
    /// In the table's unit.
    pub value: f64,
}

/// The machines by vendor and class.
const MACHINES: &[(&str, &str, &str)] = &[
    ("2x AMD EPYC 7502", "AMD", "server"),
    ("2x Intel Xeon E5-2690 v3", "Intel", "server"),
    ("A64", "AMD", "server"),
    ("AMD Ryzen 7 1800X", "AMD", "client"),
    ("AMD Threadripper 1950X", "AMD", "client"),
    ("I48", "Intel", "server"),
    ("Intel Xeon Platinum 8580", "Intel", "server"),
    ("Intel i5-6200U", "Intel", "client"),
    ("Intel i7-10750H", "Intel", "client"),
    ("Intel i7-4770T", "Intel", "client"),
    ("Intel i7-7820HQ", "Intel", "client"),
    ("Intel i9-10980XE", "Intel", "client"),
    ("aarch64 18c", "Apple", "client"),
    ("amd-epyc-2", "AMD", "server"),
    ("i7-13700H", "Intel", "client"),
    ("intel-xeon-2", "Intel", "server"),
    ("x86 12c", "Intel", "client"),
    ("x86 40c", "Intel", "server"),
    ("x86 44c", "Intel", "server"),
    ("x86 64c", "AMD", "server"),
];

impl Origin {
    /// The distance to another machine; the least is the nearest.
    fn distance(self, other: Self) -> (u8, f64) {
        let kind = |name| MACHINES.iter().find(|machine| machine.0 == name);
        let kinds = kind(self.name).zip(kind(other.name));
        // Columns of one machine are not in the list.
        let (same_vendor, same_class) =
            kinds.map_or((true, true), |(one, other)| (one.1 == other.1, one.2 == other.2));
        let unlike = match (same_vendor, same_class) {
            (true, true) => 0,
            (false, true) => 1,
            (true, false) => 2,
            (false, false) => 3,
        };
        (unlike, ratio(self.cpus, other.cpus))
    }
}

/// The larger number divided by the smaller one.
fn ratio(one: u32, other: u32) -> f64 {
    f64::from(one.max(other)) / f64::from(one.min(other).max(1))
}

/// The baseline's number for each case of the table, if there is a machine to copy.
pub fn copies(table: &Table) -> Vec<Option<f64>> {
    let all: Vec<&Published> =
        table.cases.iter().map(|case| &case.published).chain(&table.others).collect();
    table.cases.iter().map(|case| copy(&case.published, &all)).collect()
}

fn copy(wanted: &Published, all: &[&Published]) -> Option<f64> {
    let same_row = |row: &&&Published| {
        row.origin.name != wanted.origin.name
            && row.workload == wanted.workload
            && row.ours == wanted.ours
            && ratio(row.threads, wanted.threads) <= 2.0
    };
    let distance = |row: &Published| {
        let (unlike, cpus) = wanted.origin.distance(row.origin);
        (unlike, cpus, ratio(row.threads, wanted.threads))
    };
    let nearer = |one: &&&Published, other: &&&Published| {
        let (one, other) = (distance(one), distance(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.total_cmp(&other.2))
    };
    all.iter().filter(same_row).min_by(nearer).map(|row| row.value)
}
