//! The tables of three articles beside this machine's.
//!
//! A comparison has a figure for each lock, theirs and ours, and says for each whether it is as many times worse
//! than the first lock, the one that the article compares with. It says nothing where our quartiles overlap: noise
//! is no verdict. Where a machine has fewer CPUs than the article's had, the table says what it cannot show.
//!
//! The figures are those of `docs/published/`, which has their sources.

use ondeck_lab::results::{Report, Series};
use ondeck_lab::workload::{NOTIFY, param};

use crate::answer::Part;

/// A ratio that two runs of one binary do not have.
const CLEAR: f64 = 1.25;

/// If ours and theirs differ by more, the difference is of another size.
const SIZE: f64 = 3.0;

/// An article.
#[derive(Debug)]
pub struct Article {
    /// The word on the command line.
    pub name: &'static str,
    /// Its author and its title.
    pub source: &'static str,
    /// What it was measured on.
    pub machine: &'static str,
    /// How many CPUs that had, if it is known.
    cpus: Option<usize>,
    /// What a machine with fewer CPUs does not show.
    cannot_show: &'static str,
    /// The locks that are measured: the article's, and what a program would use.
    pub locks: &'static [&'static str],
    /// What is measured of them.
    pub parts: &'static [Part],
    tables: &'static [Table],
}

/// A table of an article: one figure of each of its locks.
#[derive(Debug)]
struct Table {
    what: &'static str,
    workload: &'static str,
    metric: &'static str,
    /// What a value is multiplied by.
    scale: f64,
    /// Of all runs the longest, and not the median.
    longest: bool,
    /// The name in the article, the lock here, the number of threads if it is not the same for all, their figure.
    /// The first is what others are compared with.
    rows: &'static [(&'static str, &'static str, Option<usize>, f64)],
}

const fn row(
    name: &'static str,
    lock: &'static str,
    figure: f64,
) -> (&'static str, &'static str, Option<usize>, f64) {
    (name, lock, None, figure)
}

const fn at(
    name: &'static str,
    lock: &'static str,
    threads: usize,
    figure: f64,
) -> (&'static str, &'static str, Option<usize>, f64) {
    (name, lock, Some(threads), figure)
}

const RUNS: Part = Part { threads: &[(0, 16)], round: 2_000, rounds: None, ..Part::of("wait") };

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
            Part { threads: &[], round: 20, ..Part::of("uncontended") },
            RUNS,
            Part { workload: "idle", ..RUNS },
        ],
        tables: &[
            Table {
                what: "uncontended pair, ns",
                workload: "uncontended",
                metric: "pair",
                scale: 1.0,
                longest: false,
                rows: &[row("mutex", "glibc", 14.0), row("spinlock", "spinlock", 7.0)],
            },
            Table {
                what: "run of 16,384 pairs a thread, ms",
                workload: "wait",
                metric: "run",
                scale: 1.0,
                longest: false,
                rows: &[
                    row("mutex", "glibc", 62.0),
                    row("terrible_spinlock", "terrible_spinlock", 825.0),
                    row("spinlock_amd", "spinlock_amd", 68.0),
                    row("spinlock", "spinlock", 69.0),
                    row("ticket_spinlock", "ticket_spinlock", 93.0),
                ],
            },
            Table {
                what: "longest wait, ms",
                workload: "wait",
                metric: "longest",
                scale: 1.0,
                longest: true,
                rows: &[
                    row("mutex", "glibc", 2.9),
                    row("terrible_spinlock", "terrible_spinlock", 103.5),
                    row("spinlock_amd", "spinlock_amd", 62.3),
                    row("spinlock", "spinlock", 11.4),
                    row("ticket_spinlock", "ticket_spinlock", 1.5),
                ],
            },
            Table {
                what: "longest idle, ms",
                workload: "idle",
                metric: "longest",
                scale: 1.0,
                longest: true,
                rows: &[
                    row("mutex", "glibc", 0.8),
                    row("terrible_spinlock", "terrible_spinlock", 134.8),
                    row("spinlock_amd", "spinlock_amd", 7.0),
                    row("spinlock", "spinlock", 1.4),
                    row("ticket_spinlock", "ticket_spinlock", 13.0),
                ],
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
            threads: &[(0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (0, 20)],
            ..Part::of("chan")
        }],
        tables: &[Table {
            what: "send or receive of a contended channel, ns",
            workload: "chan",
            metric: "op",
            scale: 1.0,
            longest: false,
            // 100 sends and 100 receives are one of Go's operations.
            rows: &[
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
        }],
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
        parts: &[Part { threads: &[(0, 9)], round: 300, ..Part::of("condvar") }],
        tables: &[Table {
            what: "loops of the server of tst-cond18, thousand a second",
            workload: "condvar",
            metric: "server_loops",
            scale: 1e-3,
            longest: false,
            rows: &[
                row("glibc", "glibc", 44.5),
                row("three states", "lockless_three_state", 100.0),
                row("four states", "lockless_four_state", 210.0),
            ],
        }],
    },
];

/// The article of that name.
pub fn named(name: &str) -> Option<&'static Article> {
    ARTICLES.iter().find(|article| article.name == name)
}

/// An article's tables beside a report's.
#[derive(Debug)]
pub struct Beside {
    /// The article.
    pub article: &'static Article,
    /// What the machine cannot show, if there is any such thing.
    pub limits: Option<String>,
    /// The tables.
    pub tables: Vec<Compared>,
}

/// A table beside ours.
#[derive(Debug)]
pub struct Compared {
    /// What it is of, with the unit.
    pub what: &'static str,
    /// The locks of the article, and then the locks measured here only.
    pub rows: Vec<Line>,
}

/// A lock's figures.
#[derive(Debug)]
pub struct Line {
    /// As the article calls it, or as it is called here.
    pub name: String,
    /// The article's figure.
    pub theirs: Option<f64>,
    /// This machine's.
    pub ours: Option<f64>,
    /// What the second says of the first; empty where there is nothing to compare.
    pub verdict: &'static str,
}

/// A figure of ours, and the quartiles that decide whether it can be distinguished from another.
#[derive(Clone, Copy)]
struct Ours {
    figure: f64,
    median: f64,
    low: f64,
    high: f64,
}

/// The article's tables beside those of a report; none where the report has none of its locks.
pub fn beside(article: &'static Article, report: &Report) -> Option<Beside> {
    let tables: Vec<Compared> =
        article.tables.iter().filter_map(|table| table.beside(article, &report.series)).collect();
    let cpus = report.machine.usable_cpus;
    let limits = match article.cpus {
        Some(theirs) if cpus < theirs => Some(format!(
            "with {cpus} CPUs, where the article had {theirs}: {}",
            article.cannot_show
        )),
        Some(_) => None,
        None => Some(article.cannot_show.to_owned()),
    };
    (!tables.is_empty()).then_some(Beside { article, limits, tables })
}

/// Of a figure that the report should have: its rounds were cut short.
const TOO_FEW: &str = "too few rounds to say";

impl Table {
    fn beside(&self, article: &Article, series: &[Series]) -> Option<Compared> {
        let (_, base, threads, theirs) = *self.rows.first()?;
        // The report has this table, even if its rounds were cut short.
        self.series(series, base, threads)?;
        let base = self.ours(series, base, threads);
        let mut rows: Vec<Line> = self
            .rows
            .iter()
            .enumerate()
            .map(|(place, &(name, lock, threads, figure))| {
                let ours = self.ours(series, lock, threads);
                let verdict = match (ours, base) {
                    (_, Some(_)) if place == 0 => "compared with",
                    (None, _) if self.series(series, lock, threads).is_none() => {
                        "not measured here"
                    }
                    (Some(ours), Some(base)) => verdict(figure / theirs, ours, base),
                    _ => TOO_FEW,
                };
                let ours = ours.map(|ours| ours.figure);
                Line { name: name.to_owned(), theirs: Some(figure), ours, verdict }
            })
            .collect();
        let others =
            article.locks.iter().filter(|lock| self.rows.iter().all(|row| row.1 != **lock));
        let most = self.rows.iter().filter_map(|row| row.2).max();
        for lock in others {
            if self.series(series, lock, most).is_some() {
                let name =
                    most.map_or((*lock).to_owned(), |most| format!("{lock}, {most} threads"));
                let ours = self.ours(series, lock, most).map(|ours| ours.figure);
                let verdict = if ours.is_some() { "" } else { TOO_FEW };
                rows.push(Line { name, theirs: None, ours, verdict });
            }
        }
        Some(Compared { what: self.what, rows })
    }

    fn series<'a>(
        &self,
        series: &'a [Series],
        lock: &str,
        threads: Option<usize>,
    ) -> Option<&'a Series> {
        let fits = |one: &&Series| {
            one.workload == self.workload
                && one.lock == lock
                && threads.is_none_or(|threads| one.threads == threads)
                && !one.params.contains_key(NOTIFY)
                && one.params.get(param::PROCESS).is_none_or(|kind| kind == param::SEVERAL_THREADS)
        };
        series.iter().find(fits)
    }

    fn ours(&self, series: &[Series], lock: &str, threads: Option<usize>) -> Option<Ours> {
        let metric = self.series(series, lock, threads)?.metric(self.metric)?;
        let longest = metric.samples.iter().copied().fold(metric.max, f64::max);
        let [figure, median, low, high] = [
            if self.longest { longest } else { metric.median },
            metric.median,
            metric.p25,
            metric.p75,
        ]
        .map(|value| value * self.scale);
        (metric.n > 1).then_some(Ours { figure, median, low, high })
    }
}

/// Whether ours stands to the first lock's as theirs does.
fn verdict(theirs: f64, ours: Ours, base: Ours) -> &'static str {
    let apart = ours.low > base.high || base.low > ours.high;
    let ratio = ours.median / base.median;
    let clear = |ratio: f64| !(1.0 / CLEAR..=CLEAR).contains(&ratio);
    match (clear(theirs), apart && clear(ratio)) {
        // Zeros have no ratio.
        _ if !ratio.is_finite() || ratio <= 0.0 => "too small to say",
        (true, false) if apart => "no such difference here",
        (_, false) if !apart => "not told apart here",
        (false, _) => {
            if clear(ratio) {
                "a difference here only"
            } else {
                "the same"
            }
        }
        (true, _) if (theirs > 1.0) != (ratio > 1.0) => "the other way round here",
        (true, _) if theirs / SIZE <= ratio && ratio <= theirs * SIZE => "the same",
        (true, _) if (ratio > theirs) == (theirs > 1.0) => "the same, larger",
        (true, _) => "the same, smaller",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(low: f64, median: f64, high: f64) -> Ours {
        Ours { figure: high, median, low, high }
    }

    #[test]
    fn a_verdict_compares_the_ratios() {
        let base = ours(0.9, 1.0, 1.1);
        assert_eq!(verdict(4.0, ours(4.5, 5.0, 5.5), base), "the same");
        assert_eq!(verdict(4.0, ours(45.0, 50.0, 55.0), base), "the same, larger");
        assert_eq!(verdict(40.0, ours(4.5, 5.0, 5.5), base), "the same, smaller");
        assert_eq!(verdict(0.1, ours(0.008, 0.01, 0.02), base), "the same, larger");
        assert_eq!(verdict(4.0, ours(0.1, 0.2, 0.3), base), "the other way round here");
        assert_eq!(verdict(1.0, ours(4.5, 5.0, 5.5), base), "a difference here only");
        assert_eq!(verdict(4.0, ours(1.12, 1.15, 1.2), base), "no such difference here");
    }

    #[test]
    fn noise_gives_no_verdict() {
        assert_eq!(verdict(4.0, ours(0.5, 5.0, 9.0), ours(0.4, 1.0, 2.0)), "not told apart here");
        assert_eq!(verdict(0.13, ours(0.0, 0.0, 0.0), ours(0.0, 0.0, 0.0)), "too small to say");
    }

    #[test]
    fn a_table_whose_rounds_were_cut_is_shown() {
        let text = include_bytes!("../tests/data/sample-report.json");
        let report = crate::read::text("sample", text).expect("a report");
        let table = &ARTICLES[0].tables[0];
        let mut one = report.series[0].clone();
        one.workload = table.workload.to_owned();
        one.params.clear();
        let lines = table.rows.iter().map(|row| Series {
            lock: row.1.to_owned(),
            threads: row.2.unwrap_or(1),
            metrics: vec![],
            ..one.clone()
        });
        let compared = table.beside(&ARTICLES[0], &lines.collect::<Vec<_>>()).expect("it is there");
        assert!(compared.rows.iter().all(|row| row.ours.is_none() && row.verdict == TOO_FEW));
        assert!(table.beside(&ARTICLES[0], &[]).is_none());
    }

    /// The figures are copied from the tables of `docs/published/`, and stay so.
    #[test]
    fn the_figures_are_the_published_ones() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/published/");
        let read = |name: &str| std::fs::read_to_string(format!("{folder}{name}.csv")).expect(name);
        let near = |one: f64, other: f64| (one - other).abs() < 0.001 * other;
        let (runs, chan, jobs) =
            (read("skarupke-ryzen7-1700"), read("go-chancontended"), read("lockless-tst-cond18"));
        let mut checked = 0;
        for table in ARTICLES.iter().flat_map(|article| article.tables) {
            for &(name, lock, threads, figure) in table.rows {
                let line = |text: &str, start: &str| {
                    let line = text.lines().find(|line| line.starts_with(start)).expect(start);
                    line.split(',').filter_map(|cell| cell.parse::<f64>().ok()).collect::<Vec<_>>()
                };
                let published = match (table.workload, table.longest) {
                    // The article says them in prose.
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
