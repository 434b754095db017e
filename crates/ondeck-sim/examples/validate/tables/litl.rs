//! LiTL: real programs under exchanged mutexes. Their sections are not known, so a generic shape stands for each
//! program, and only the order of the locks counts.

use crate::case::{Bench, Case, Cpus, Table};
use crate::copied::{Origin, Published};
use crate::published::{Row, rows};
use crate::shapes::window::Window;
use crate::subject::Shape;

/// Nanoseconds of a run.
const LENGTH: f64 = 4_000_000.0;

pub(super) fn table() -> Table {
    let published = rows(include_str!("../../../../../docs/published/litl-i48-a64.csv"));
    let cases = published.iter().filter_map(|row| {
        let (section, outside, lines) = shape(row.get("program"))?;
        let bench = match row.get("machine") {
            "I48" => "xeon-e7-4830v3x4",
            _ => "opteron-6272x4",
        };
        let threads = row.number("threads") as u32;
        // Nodes are used one after the other.
        let bench = Bench::with(bench, Cpus::FirstClusters(row.number("nodes") as usize));
        let window = Window {
            threads: threads as usize,
            section,
            outside,
            beside: false,
            lines,
            length: LENGTH,
        };
        Some(Case {
            series: format!("{}, {}", row.get("machine"), row.get("program")),
            lock: row.get("lock"),
            published: Published {
                origin: Origin { name: row.get("machine"), cpus: threads },
                workload: row.get("program").into(),
                ours: ours(row.get("lock"))?,
                threads,
                value: 1e9 / row.number("median"),
            },
            bench,
            shape: Shape::Window(window),
            fitted: is_fitted(row),
            repeats: "",
        })
    });
    Table {
        name: "litl",
        source: "Hugo Guiroux, Renaud Lachaize, Vivien Quéma, \"Multicore Locks: The Case Is Not Closed Yet\" (2016)",
        unit: None,
        note: "The programs' sections are not published, so that only the order of the locks is compared. Fitted to MCS \
               and CLH on one node and on most: how much longer a program is outside than inside, and upscaledb's section. \
               s_raytrace and radiosity have 100 ns and two lines inside, and 12 and 5 µs outside; upscaledb has 4 µs and \
               four lines inside, and 40 µs outside. pca is left out.",
        cases: cases.collect(),
        others: Vec::new(),
    }
}

/// Section, outside and lines of a program.
///
/// Where the lock is the limit, an operation takes as long as a section and a handoff. Elsewhere the threads together
/// need an operation's whole length, divided by their number. The ratio of both comes from rows of MCS and CLH.
fn shape(program: &str) -> Option<(f64, f64, usize)> {
    match program {
        "s_raytrace_ll" => Some((100.0, 12_000.0, 2)),
        "radiosity_ll" => Some((100.0, 5_000.0, 2)),
        "upscaledb" => Some((4_000.0, 40_000.0, 4)),
        _ => None,
    }
}

/// Whether the row determined a program's shape: MCS and CLH on the fewest and on the most nodes.
fn is_fitted(row: &Row) -> bool {
    let most = if row.get("machine") == "I48" { "4" } else { "8" };
    ["mcs_spin", "clh_spin"].contains(&row.get("lock")) && ["1", most].contains(&row.get("nodes"))
}

fn ours(lock: &str) -> Option<&'static str> {
    Some(match lock {
        "pthread" => "glibc_normal",
        "pthreadadapt" => "glibc_adaptive_port",
        "spinlock" => "terrible_spinlock",
        "ttas" => "spinlock",
        "ticket" => "ticket_spinlock",
        "mcs_spin" => "mcs",
        "mcs_stp" => "mcs_park",
        "mcs-timepub" => "mcs_tp",
        "clh_spin" => "clh",
        "backoff" => "ttas_backoff",
        "malth_stp" => "malthusian",
        "c-bo-mcs_spin" => "cohort",
        "hmcs" => "hmcs",
        _ => return None,
    })
}
