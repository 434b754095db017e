//! `capture`: how often in a row one thread acquires the lock while others wait, and how many
//! acquisitions of others pass a waiting thread.
//!
//! Acquisitions are counted, not timed, so that the numbers depend on the lock and little on the
//! speed of the machine. A thread that reacquires a lock before a waiter notices helps throughput:
//! the data is still in its cache. The waiter pays.

use hdrhistogram::Histogram;

use super::prelude::*;

pub(super) struct Capture;

/// The acquisitions so far, written by the owner.
struct Book {
    acquisitions: u64,
    owner: usize,
    /// Acquisitions of the owner in a row.
    streak: u64,
}

impl Called for Capture {
    const INFO: WorkloadInfo = WorkloadInfo {
        name: "capture",
        title: "Capture",
        about: "Acquisitions in a row, and those that pass over a waiter",
        shares_data: true,
        quantities: &[
            STREAK_MEAN,
            STREAK_P50,
            STREAK_P99,
            STREAK_MAX,
            PASSED_P50,
            PASSED_P99,
            PASSED_MAX,
        ],
        judged: Judged::RankedBy(PASSED_P99),
        table: Table::Quantities {
            heading: "acquisitions in a row, those passing over a waiter; {}",
            columns: &[
                Column("M/s", THROUGHPUT, Shown::Millions),
                Column("mean row", STREAK_MEAN, Shown::Count),
                Column("p50", STREAK_P50, Shown::Count),
                Column("p99", STREAK_P99, Shown::Count),
                Column("max", STREAK_MAX, Shown::Count),
                Column("passed p50", PASSED_P50, Shown::Count),
                Column("p99", PASSED_P99, Shown::Count),
                Column("max", PASSED_MAX, Shown::Count),
            ],
            note: "",
        },
        ..WorkloadInfo::USUAL
    };

    type Own = ();

    fn situations(asked: &Asked) -> (Schedule, Vec<Situation>) {
        let rounds = Rounds::of(asked, Shares::InFull, [(50, 1), (60, 3), (1_000, 11)]);
        let work = asked.work.unwrap_or(ALONE);
        let counts = counts(asked, &[8], &[2, 8], &[2, 4, 8, 16, 32, 64]);
        (rounds, counts.into_iter().map(|threads| Situation::working(threads, work)).collect())
    }

    fn round<M: Machine>(given: &Round, (): &(), lock: AnyMutex<M>) -> Sampled {
        let book = Book { acquisitions: 0, owner: usize::MAX, streak: 0 };
        let (section, outside) = (given.section, given.outside);
        let books = Guarded::<M, Book>::new(lock, book);
        let (shared, outcome) = given.timed::<M, _, _>(books, move |member, books| {
            let mut context = books.context();
            let mut tally = Tally::new();
            let me = member.index;
            member.start()?;
            let pair = || {
                books.with(&mut context, |book| {
                    book.acquisitions += 1;
                    let mut ended = None;
                    if book.owner != me {
                        book.owner = me;
                        ended = Some(std::mem::take(&mut book.streak));
                    }
                    book.streak += 1;
                    M::perform(section);
                    (book.acquisitions, ended)
                })
            };
            member.repeat(pair, |(turn, ended)| {
                tally.note(turn, ended);
                M::perform(outside);
            });
            Some(tally)
        })?;
        let (acquisitions, last) =
            shared.with(&mut shared.context(), |book| (book.acquisitions, book.streak));
        audit::balance("acquisitions", acquisitions, outcome.total_pairs())?;
        Ok(sample(&outcome, last))
    }
}

/// The observations of one thread.
struct Tally {
    /// Streaks of others that ended with an acquisition of this thread.
    streaks: Histogram<u64>,
    /// Acquisitions of others between two of this thread; before the first, since the start.
    passed: Histogram<u64>,
    last_turn: u64,
}

impl Tally {
    fn new() -> Self {
        Self { streaks: histogram(), passed: histogram(), last_turn: 0 }
    }

    #[inline]
    fn note(&mut self, turn: u64, ended: Option<u64>) {
        if let Some(streak) = ended {
            self.note_change(turn, streak);
        }
        self.last_turn = turn;
    }

    #[inline(never)]
    fn note_change(&mut self, turn: u64, streak: u64) {
        // The very first acquisition ends no streak and passed no waiter.
        if streak > 0 {
            self.streaks.saturating_record(streak);
            self.passed.saturating_record(turn - self.last_turn - 1);
        }
    }
}

fn sample(outcome: &Outcome<Tally>, last_streak: u64) -> Sample {
    let (mut streaks, mut passed) = (histogram(), histogram());
    for tally in &outcome.results {
        // All have the same bounds, so nothing can be out of range.
        let _ = streaks.add(&tally.streaks);
        let _ = passed.add(&tally.passed);
    }
    if last_streak > 0 {
        streaks.saturating_record(last_streak);
    }
    let mut sample = Sample::of_outcome(outcome);
    let mean = outcome.total_pairs() as f64 / streaks.len().max(1) as f64;
    let percentiles = [
        (STREAK_P50, streaks.value_at_quantile(0.5)),
        (STREAK_P99, streaks.value_at_quantile(0.99)),
        (STREAK_MAX, streaks.max()),
        (PASSED_P50, passed.value_at_quantile(0.5)),
        (PASSED_P99, passed.value_at_quantile(0.99)),
        (PASSED_MAX, passed.max()),
    ];
    let values = percentiles.map(|(quantity, value)| (quantity, value as f64));
    sample.values.splice(0..0, values);
    sample.values.insert(0, (STREAK_MEAN, mean));
    sample
}
