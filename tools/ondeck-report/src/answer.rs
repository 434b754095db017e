//! The answer to the question of most readers: is another lock than std's better for them, and
//! where?
//!
//! A row is a kind of situation, a column a lock. A value is the speed of the lock there relative
//! to std: the geometric mean over the situations of that kind. Locks whose quartiles overlap with
//! the best one's are not distinguished from it.

use std::collections::BTreeMap;

use ondeck_lab::results::{Better, Metric, Report, Series};
use ondeck_lab::sample::SHARE;
use ondeck_lab::workload::{NO_LOCK, NOTIFY, param};

use crate::data;

/// The base of the comparison, if it was measured.
const REFERENCE: &str = "std";

/// The suffix of the names of reader-writer locks; without it they are the names of mutexes of the
/// same library.
const RWLOCK: &str = "_rwlock";

/// One round has no spread.
const FEWEST_ROUNDS: usize = 2;

/// A kind of situation in which a lock is used.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// The name of its row.
    pub name: &'static str,
    /// The measurement for it.
    pub about: &'static str,
    /// The workloads that are measured for it.
    pub parts: &'static [Part],
}

/// A workload in some of its situations.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The workload.
    pub workload: &'static str,
    /// Work inside and outside of the section in nanoseconds, if the workload has it.
    pub work: Option<(u64, u64)>,
    /// The capacity of the queue, if the workload has one.
    pub capacity: Option<usize>,
    /// Numbers of threads: `(times, more)` is `times` the number of CPUs, plus `more`.
    pub threads: &'static [(usize, usize)],
    /// How long a round is, in milliseconds.
    pub round: u64,
    /// How many rounds there are; none where runs end by count.
    pub rounds: Option<usize>,
}

impl Part {
    /// Two threads for each CPU. Quartiles of fewer rounds would mean little.
    pub(crate) const USUAL: Self = Self {
        workload: "",
        work: None,
        capacity: None,
        threads: &[(2, 0)],
        round: 100,
        rounds: Some(7),
    };

    /// Whether a series belongs to one of its situations. The number of threads may differ, if
    /// threads contend.
    fn covers(&self, series: &Series) -> bool {
        let of = |name: &str| series.params.get(name).map(String::as_str);
        let is = |name: &str, number: Option<u64>| {
            number.is_none_or(|number| of(name) == Some(&number.to_string()))
        };
        series.workload == self.workload
            && is(param::SECTION, self.work.map(|(section, _)| section))
            && is(param::OUTSIDE, self.work.map(|(_, outside)| outside))
            && is(param::CAPACITY, self.capacity.map(|capacity| capacity as u64))
            && of(param::PROCESS) != Some(param::ONE_THREAD)
            && [NOTIFY, param::DATA].iter().all(|name| of(name).is_none())
            && (series.threads > 1 || self.threads.is_empty())
    }
}

const SHORT: (u64, u64) = (100, 500);
const LONG: (u64, u64) = (1_000, 5_000);

/// The rows, in their order.
pub const QUESTIONS: &[Question] = &[
    Question {
        name: "uncontended",
        about: "a lock and its unlock, no other thread wants it",
        parts: &[Part { workload: "uncontended", threads: &[], round: 20, ..Part::USUAL }],
    },
    Question {
        name: "short sections",
        about: "100 ns inside, 500 ns outside; 1 and 4 threads for each CPU",
        parts: &[Part {
            workload: "throughput",
            work: Some(SHORT),
            threads: &[(1, 0), (4, 0)],
            // Of the least that `share_needs` asks for.
            round: 130,
            ..Part::USUAL
        }],
    },
    Question {
        name: "long sections",
        about: "1 µs inside, 5 µs outside; the same threads",
        parts: &[Part {
            workload: "throughput",
            work: Some(LONG),
            threads: &[(1, 0), (4, 0)],
            ..Part::USUAL
        }],
    },
    Question {
        name: "many threads",
        about: "100 ns inside, 500 ns outside; 8 and 32 threads for each CPU",
        parts: &[Part {
            workload: "oversubscribed",
            work: Some(SHORT),
            threads: &[(8, 0), (32, 0)],
            ..Part::USUAL
        }],
    },
    Question {
        name: "hand-offs",
        about: "queues with room for 1 and 8 items, and a server with 2 workers for each CPU",
        parts: &[
            Part { workload: "producer_consumer", capacity: Some(1), ..Part::USUAL },
            Part { workload: "producer_consumer", capacity: Some(8), ..Part::USUAL },
            Part { workload: "condvar", threads: &[(2, 1)], ..Part::USUAL },
        ],
    },
    Question {
        name: "real programs",
        about: "a cache, two hash maps, a work queue, an allocator",
        parts: &[Part { workload: "real", round: 60, ..Part::USUAL }],
    },
    Question {
        name: "readers, writers",
        about: "the reader-writer locks of the same libraries, few to all operations write",
        parts: &[Part { workload: "rwmix", threads: &[(1, 0)], round: 20, ..Part::USUAL }],
    },
];

/// The speed of a lock relative to the reference, in a kind of situation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// From the medians.
    pub median: f64,
    /// From the worse quartiles.
    pub low: f64,
    /// From the better quartiles.
    pub high: f64,
}

impl Times {
    fn overlaps(&self, other: &Self) -> bool {
        self.low <= other.high && other.low <= self.high
    }
}

/// A row of the answer.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which kind of situation.
    pub question: &'static Question,
    /// For each lock of the answer; `None` if it was not measured in all situations of the
    /// reference.
    pub times: Vec<Option<Times>>,
    /// The indices of the best lock and of the locks not distinguished from it, best first. Empty
    /// if fewer than two locks could be compared.
    pub leaders: Vec<usize>,
}

/// A comparison of several locks in the kinds of situations of a report.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The base of the comparison.
    pub reference: String,
    /// The columns.
    pub locks: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
    /// The share of the least served thread in short sections, for each lock, and the number of
    /// threads.
    pub share: Option<(usize, Vec<Option<f64>>)>,
}

impl Answer {
    /// The answer of a report; `None` if it has fewer than two locks, or none of the situations.
    /// Among many locks, those of papers are left out.
    pub fn of(report: &Report) -> Option<Self> {
        /// The most columns that a terminal has room for.
        const MOST: usize = 7;
        let counts = |one: &&Series| one.lock != NO_LOCK && !one.partial && one.cut_runs == 0;
        let series: Vec<&Series> = report.series.iter().filter(counts).collect();
        let asked = |one: &Series| {
            QUESTIONS.iter().any(|question| question.parts.iter().any(|part| part.covers(one)))
        };
        let mut locks: Vec<&str> = Vec::new();
        for one in series.iter().filter(|one| asked(one) && family(&one.lock) == one.lock) {
            if !locks.contains(&&*one.lock) {
                locks.push(&one.lock);
            }
        }
        if locks.len() > MOST {
            locks.retain(|lock| !data::is_historical(report, lock));
        }
        if locks.len() < 2 {
            return None;
        }
        // The reference first, this project's own last.
        locks.sort_by_key(|lock| (*lock != REFERENCE, lock.starts_with("ondeck")));
        // Includes a question whose series were cut short: its row says that there are too few
        // rounds.
        let is_asked = |question: &&Question| {
            report.series.iter().any(|one| question.parts.iter().any(|part| part.covers(one)))
        };
        let rows: Vec<Row> = QUESTIONS
            .iter()
            .filter(is_asked)
            .map(|question| row(question, &series, &locks))
            .collect();
        let share = share(&series, &locks);
        let locks: Vec<String> = locks.into_iter().map(str::to_owned).collect();
        let says_something = rows.iter().any(|row| !row.leaders.is_empty());
        says_something.then(|| Self { reference: locks[0].clone(), locks, rows, share })
    }
}

fn family(lock: &str) -> &str {
    lock.strip_suffix(RWLOCK).unwrap_or(lock)
}

fn row(question: &'static Question, series: &[&Series], locks: &[&str]) -> Row {
    type Key<'a> = (&'a str, String, usize);
    let mut situations: BTreeMap<Key<'_>, Vec<(&str, &Metric)>> = BTreeMap::new();
    for one in series.iter().filter(|one| question.parts.iter().any(|part| part.covers(one))) {
        let judged =
            data::main_metric(one).filter(|metric| metric.p25 > 0.0 && metric.n >= FEWEST_ROUNDS);
        if let Some(metric) = judged {
            let key = (&*one.workload, one.params_word(), one.threads);
            situations.entry(key).or_default().push((family(&one.lock), metric));
        }
    }
    let of = |situation: &[(&str, &Metric)], lock: &str| -> Option<Times> {
        let find = |name: &str| situation.iter().find(|(lock, _)| *lock == name);
        let (_, own) = find(lock)?;
        let reference = find(locks[0])?.1.median;
        let times = |value: f64| match own.better {
            Better::Higher => value / reference,
            Better::Lower | Better::Neither => reference / value,
        };
        let (one, other) = (times(own.p25), times(own.p75));
        Some(Times { median: times(own.median), low: one.min(other), high: one.max(other) })
    };
    let times: Vec<Option<Times>> = locks
        .iter()
        .map(|lock| mean(situations.values().map(|situation| of(situation, lock))))
        .collect();
    let mut order: Vec<usize> = (0..locks.len()).filter(|place| times[*place].is_some()).collect();
    if order.len() < 2 {
        return Row { question, times: vec![None; locks.len()], leaders: vec![] };
    }
    let median = |place: &usize| times[*place].map_or(0.0, |times| times.median);
    order.sort_by(|one, other| median(other).total_cmp(&median(one)));
    let best = times[order[0]];
    let leads =
        |place: &usize| times[*place].zip(best).is_some_and(|(times, best)| times.overlaps(&best));
    let leaders = order.into_iter().filter(leads).collect();
    Row { question, times, leaders }
}

/// The geometric means; `None` if one of the values is missing, or there are none.
fn mean(times: impl Iterator<Item = Option<Times>>) -> Option<Times> {
    let (mut sums, mut count) = ([0.0; 3], 0.0);
    for times in times {
        let Times { median, low, high } = times?;
        for (sum, value) in sums.iter_mut().zip([median, low, high]) {
            *sum += value.ln();
        }
        count += 1.0;
    }
    let [median, low, high] = sums.map(|sum| f64::exp(sum / count));
    (count > 0.0).then_some(Times { median, low, high })
}

/// The share of the least served thread, in short sections with the most threads.
fn share(series: &[&Series], locks: &[&str]) -> Option<(usize, Vec<Option<f64>>)> {
    let short = QUESTIONS.iter().find(|question| question.name == "short sections")?;
    let covered = || series.iter().filter(|one| short.parts.iter().any(|part| part.covers(one)));
    let most = covered().map(|one| one.threads).max()?;
    let of = |lock: &&str| {
        let one = covered().find(|one| one.lock == *lock && one.threads == most)?;
        Some(one.metric(SHARE.name)?.median)
    };
    let shares: Vec<Option<f64>> = locks.iter().map(of).collect();
    shares.iter().any(Option::is_some).then_some((most, shares))
}

/// The ratio, in at most four characters.
pub fn written(times: f64) -> String {
    match times {
        below if below < 0.01 => "<.01".to_owned(),
        below if below < 9.95 => format!("{times:.2}"),
        below if below < 999.5 => format!("{times:.0}"),
        _ => ">999".to_owned(),
    }
}

impl Row {
    /// The best lock and the locks not distinguished from it, in words.
    pub fn leaders_in_words(&self, locks: &[String]) -> String {
        let names: Vec<&str> = self.leaders.iter().map(|place| &*locks[*place]).collect();
        match &*names {
            [] => "too few rounds to say".to_owned(),
            all if all.len() == self.times.iter().flatten().count() => "none told apart".to_owned(),
            [_, _, _, ..] => format!("{} = {} others", names[0], names.len() - 1),
            _ => names.join(" = "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made::{self, Spread};
    use ondeck_lab::sample::share_needs;
    use ondeck_lab::workload;
    use std::time::Duration;

    fn series(lock: &str, threads: usize, throughput: Spread) -> Series {
        let params = [(param::SECTION, "100"), (param::OUTSIDE, "500")];
        Series {
            params: params.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            ..made::series(lock, threads, throughput, (0.5, 0.5, 0.5))
        }
    }

    fn of(series: Vec<Series>) -> Option<Answer> {
        let text = include_bytes!("../tests/data/sample-report.json");
        let report = crate::read::text("sample", text).expect("a report");
        Answer::of(&Report { series, ..report })
    }

    #[test]
    fn a_row_has_the_means_and_who_leads() {
        let answer = of(vec![
            series("ondeck", 2, (3.6, 4.0, 4.4)),
            series("ondeck", 8, (0.9, 1.0, 1.1)),
            series("std", 2, (0.9, 1.0, 1.1)),
            series("std", 8, (0.9, 1.0, 1.1)),
            series("parking_lot", 2, (3.8, 4.0, 4.2)),
            series("parking_lot", 8, (0.8, 0.9, 1.0)),
            // Without contention, and with too few situations.
            series("std", 1, (9.0, 9.0, 9.0)),
            series("spin", 2, (3.8, 4.0, 4.2)),
        ])
        .expect("two locks");
        assert_eq!(answer.locks, ["std", "parking_lot", "spin", "ondeck"]);
        let [row] = &*answer.rows else { panic!("one kind of situation") };
        let times: Vec<_> =
            row.times.iter().map(|one| one.map(|one| written(one.median))).collect();
        let word = |times: &str| Some(times.to_owned());
        assert_eq!(times, [word("1.00"), word("1.90"), None, word("2.00")]);
        assert_eq!(row.leaders_in_words(&answer.locks), "ondeck = parking_lot");
        assert_eq!(answer.share, Some((8, vec![Some(0.5), Some(0.5), None, Some(0.5)])));
    }

    #[test]
    fn rounds_of_short_sections_are_long_enough_for_a_share() {
        let short = QUESTIONS.iter().find(|question| question.name == "short sections");
        for part in short.expect("a row").parts {
            for &(times, more) in part.threads {
                let needed = share_needs(2 * times + more, 2);
                assert!(Duration::from_millis(part.round) >= needed, "{times}: {needed:?}");
            }
        }
    }

    #[test]
    fn a_row_whose_series_were_cut_says_so() {
        let short = ["std", "ondeck"].map(|lock| series(lock, 2, (1.0, 1.0, 1.0)));
        let mut cut = short.clone().map(|one| Series { cut_runs: 1, ..one });
        for one in &mut cut {
            one.workload = "uncontended".to_owned();
            one.threads = 1;
        }
        let answer = of([short, cut].concat()).expect("two locks");
        let words: Vec<_> = answer
            .rows
            .iter()
            .map(|row| (row.question.name, row.leaders_in_words(&answer.locks)))
            .collect();
        let expected =
            [("uncontended", "too few rounds to say"), ("short sections", "none told apart")];
        assert_eq!(words, expected.map(|(name, word)| (name, word.to_owned())));
    }

    #[test]
    fn one_lock_is_no_answer() {
        assert!(of(vec![series("std", 2, (1.0, 1.0, 1.0))]).is_none());
    }

    #[test]
    fn the_questions_name_workloads() {
        for part in QUESTIONS.iter().flat_map(|question| question.parts) {
            assert!(workload::named(part.workload).is_some(), "{}", part.workload);
        }
    }
}
