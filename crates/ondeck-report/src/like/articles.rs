//! The articles: their measurements, their machines, and their figures, copied from `docs/published/`.

use ondeck_lab::results::Better;

use crate::answer::Part;

/// An article.
#[derive(Debug)]
pub struct Article {
    /// The word on the command line.
    pub name: &'static str,
    /// Its author and its title.
    pub source: &'static str,
    /// The machine of its measurements.
    pub machine: &'static str,
    /// The number of CPUs of that machine, if it is known.
    pub(super) cpus: Option<usize>,
    /// The limits of a machine with fewer CPUs.
    pub(super) cannot_show: &'static str,
    /// The measured locks: the article's, and the usual ones of programs.
    pub locks: &'static [&'static str],
    /// The measurements of these locks.
    pub parts: &'static [Part],
    /// Its tables.
    pub(super) tables: &'static [Table],
}

/// A table of an article: one figure of each of its locks.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) what: &'static str,
    pub(super) workload: &'static str,
    pub(super) metric: &'static str,
    /// The factor of a value.
    pub(super) scale: f64,
    pub(super) better: Better,
    /// Whether the figure is the longest of all runs, and not the median.
    pub(super) longest: bool,
    /// The first row is the base of the comparison.
    pub(super) rows: &'static [Row],
}

/// A figure of an article.
#[derive(Debug)]
pub(super) struct Row {
    /// The lock's name in the article.
    pub(super) name: &'static str,
    /// Its name here.
    pub(super) lock: &'static str,
    /// The number of threads, if it is not the same for all rows.
    pub(super) threads: Option<usize>,
    pub(super) figure: f64,
}

const fn row(name: &'static str, lock: &'static str, figure: f64) -> Row {
    Row { name, lock, threads: None, figure }
}

const fn at(name: &'static str, lock: &'static str, threads: usize, figure: f64) -> Row {
    Row { name, lock, threads: Some(threads), figure }
}

/// Skarupke's five locks.
const fn five([mutex, terrible, amd, spinlock, ticket]: [f64; 5]) -> [Row; 5] {
    [
        row("mutex", "glibc", mutex),
        row("terrible_spinlock", "terrible_spinlock", terrible),
        row("spinlock_amd", "spinlock_amd", amd),
        row("spinlock", "spinlock", spinlock),
        row("ticket_spinlock", "ticket_spinlock", ticket),
    ]
}

/// A table of medians, of which lower ones are better.
const fn table(
    what: &'static str,
    (workload, metric): (&'static str, &'static str),
    rows: &'static [Row],
) -> Table {
    let better = Better::Lower;
    Table { what, workload, metric, scale: 1.0, better, longest: false, rows }
}

const RUNS: Part =
    Part { workload: "wait", threads: &[(0, 16)], round: 2_000, rounds: None, ..Part::USUAL };

/// All articles.
pub const ARTICLES: &[Article] = &[
    Article {
        name: "skarupke",
        source: "Malte Skarupke, Measuring Mutexes, Spinlocks and how Bad the Linux Scheduler Really is (2020)",
        machine: "AMD Ryzen 7 1700, 16 threads on 16 CPUs, Linux with CFS",
        cpus: Some(16),
        cannot_show: "how locks do while each thread has a CPU of its own: his terrible_spinlock is slow by the traffic \
                      of cache lines among 16 CPUs, and pure spinners look good",
        locks: &[
            "glibc",
            "terrible_spinlock",
            "spinlock_amd",
            "spinlock",
            "ticket_spinlock",
            "std",
            "parking_lot",
            "ondeck",
        ],
        parts: &[
            Part { workload: "uncontended", threads: &[], round: 20, ..Part::USUAL },
            RUNS,
            Part { workload: "idle", ..RUNS },
        ],
        tables: &[
            table(
                "uncontended pair, ns",
                ("uncontended", "pair"),
                &[row("mutex", "glibc", 14.0), row("spinlock", "spinlock", 7.0)],
            ),
            table(
                "run of 16,384 pairs a thread, ms",
                ("wait", "run"),
                &five([62.0, 825.0, 68.0, 69.0, 93.0]),
            ),
            Table {
                longest: true,
                ..table(
                    "longest wait, ms",
                    ("wait", "longest"),
                    &five([2.9, 103.5, 62.3, 11.4, 1.5]),
                )
            },
            Table {
                longest: true,
                ..table(
                    "longest idle, ms",
                    ("idle", "longest"),
                    &five([0.8, 134.8, 7.0, 1.4, 13.0]),
                )
            },
        ],
    },
    Article {
        name: "go",
        source: "Rhys Hiltner and others, runtime: improve scaling of lock2 (Go issue 68578, 2024)",
        machine: "Intel i7-13700H, 20 CPUs",
        cpus: Some(20),
        cannot_show: "the climb of the three-state lock: it is made by threads that are on a CPU at the same time and \
                      write one cache line",
        locks: &["go_three_state", "go_spinbit", "std", "parking_lot", "ondeck"],
        parts: &[Part {
            workload: "chan",
            threads: &[(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 20)],
            ..Part::USUAL
        }],
        tables: &[table(
            // One of Go's operations consists of 100 sends and 100 receives.
            "send or receive of a contended channel, ns",
            ("chan", "op"),
            &[
                at("three-state, 1 thread", "go_three_state", 1, 15.735),
                at("three-state, 2 threads", "go_three_state", 2, 22.555),
                at("three-state, 4 threads", "go_three_state", 4, 32.87),
                at("three-state, 8 threads", "go_three_state", 8, 69.95),
                at("three-state, 16 threads", "go_three_state", 16, 197.8),
                at("three-state, 20 threads", "go_three_state", 20, 221.3),
                at("spinbit, 1 thread", "go_spinbit", 1, 18.515),
                at("spinbit, 2 threads", "go_spinbit", 2, 26.4),
                at("spinbit, 4 threads", "go_spinbit", 4, 66.78),
                at("spinbit, 8 threads", "go_spinbit", 8, 70.3),
                at("spinbit, 16 threads", "go_spinbit", 16, 69.45),
                at("spinbit, 20 threads", "go_spinbit", 20, 68.7),
            ],
        )],
    },
    Article {
        name: "lockless",
        source: "Lockless Inc., Mutexes and Condition Variables using Futexes",
        machine: "not named, about 2010; glibc of that time",
        cpus: None,
        cannot_show: "glibc's condition variable of that time, which had a lock of its own; it was written again for 2.25",
        locks: &[
            "glibc",
            "lockless_three_state",
            "lockless_four_state",
            "std",
            "parking_lot",
            "ondeck",
        ],
        parts: &[Part { workload: "condvar", threads: &[(0, 9)], round: 300, ..Part::USUAL }],
        tables: &[Table {
            scale: 1e-3,
            better: Better::Higher,
            ..table(
                "loops of the server of tst-cond18, thousand a second",
                ("condvar", "server_loops"),
                &[
                    row("glibc", "glibc", 44.5),
                    row("three states", "lockless_three_state", 100.0),
                    row("four states", "lockless_four_state", 210.0),
                ],
            )
        }],
    },
];

/// The article of that name.
pub fn named(name: &str) -> Option<&'static Article> {
    ARTICLES.iter().find(|article| article.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures are copied from the tables of `docs/published/`, and must match them.
    #[test]
    fn the_figures_are_the_published_ones() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/published/");
        let read = |name: &str| std::fs::read_to_string(format!("{folder}{name}.csv")).expect(name);
        let near = |one: f64, other: f64| (one - other).abs() < 0.001 * other;
        let (runs, chan, jobs) =
            (read("skarupke-ryzen7-1700"), read("go-chancontended"), read("lockless-tst-cond18"));
        let mut checked = 0;
        for table in ARTICLES.iter().flat_map(|article| article.tables) {
            for &Row { name, lock, threads, figure } in table.rows {
                let line = |text: &str, start: &str| {
                    let line = text.lines().find(|line| line.starts_with(start)).expect(start);
                    line.split(',').filter_map(|cell| cell.parse::<f64>().ok()).collect::<Vec<_>>()
                };
                let published = match (table.workload, table.longest) {
                    // The article states them in prose.
                    ("uncontended", _) => continue,
                    ("chan", _) => {
                        let lock = lock.replace("go_three_state", "three-state").replace("go_", "");
                        let threads = threads.expect("of a curve");
                        line(&chan, &format!("i7-13700H,{lock},{threads},"))[1] * 1e3 / 200.0
                    }
                    ("condvar", _) => {
                        let start = match name {
                            "glibc" => "glibc-default",
                            "three states" => "three-state",
                            _ => "four-state-byte futex + seq condvar,",
                        };
                        line(&jobs, start)[0] / 20e3
                    }
                    (workload, longest) => {
                        let lock = lock.replace("glibc", "std_mutex");
                        line(&runs, &format!("{workload},linux-cfs,{lock},"))[usize::from(longest)]
                    }
                };
                assert!(near(figure, published), "{name}: {figure} and {published}");
                checked += 1;
            }
        }
        assert_eq!(checked, 30);
    }
}
