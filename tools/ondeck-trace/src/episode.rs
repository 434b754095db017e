//! The idles and waits of a run: finds, explains and counts them, and keeps the longest.

use ondeck_lab::results::trace::{Class, Doing, Episode, Part, Tally};

use super::cause::{self, Cause, Piece};
use super::timeline::{Nanos, State, Timeline, Turn};
use super::verdict;

/// Idles and waits shorter than this are counted and not explained: the scheduler does nothing in
/// such a short time, and under contention there are a million of them.
pub const LEAST: Nanos = 10_000;

/// Two waits are alike if this part of the shorter one overlaps the longer one.
const ALIKE: f64 = 0.5;

/// A run's contribution to the tallies, and its longest episodes.
pub(super) struct Found {
    pub(super) idles: Tally,
    pub(super) waits: Tally,
    pub(super) longest_idles: Vec<Episode>,
    pub(super) longest_waits: Vec<Episode>,
}

/// Evaluates one run, and keeps the given numbers of longest idles and waits. If no waits are kept,
/// they are skipped: with many threads they take longer to evaluate than the run.
pub(super) fn find(timeline: &Timeline, run: usize, keep: (usize, usize), least: Nanos) -> Found {
    let turns = timeline.turns();
    let mut idles = Collector { least, ..Collector::default() };
    for (last, next) in turns.iter().zip(turns.iter().skip(1)) {
        let (from, to) = (last.pair.released, next.pair.acquired);
        idles.add(from, to, next, Some(last.thread), || cause::of_idle(timeline, last, next));
    }
    let mut waits = Collector { least, ..Collector::default() };
    for mine in turns.iter().filter(|_| keep.1 > 0) {
        let (from, to) = (mine.pair.wanted, mine.pair.acquired);
        let place = turns.partition_point(|turn| turn.pair.acquired < to);
        let before = place.checked_sub(1).map(|place| turns[place].thread);
        waits.add(from, to, mine, before, || cause::of_wait(timeline, &turns, mine));
    }
    Found {
        longest_idles: idles.longest(timeline, &turns, run, keep.0, true),
        longest_waits: waits.longest(timeline, &turns, run, keep.1, false),
        idles: idles.tally,
        waits: waits.tally,
    }
}

/// An idle or wait that is long enough to be explained.
struct Long {
    from: Nanos,
    to: Nanos,
    turn: Turn,
    before: Option<usize>,
    pieces: Vec<Piece>,
}

#[derive(Default)]
struct Collector {
    least: Nanos,
    tally: Tally,
    long: Vec<Long>,
}

impl Collector {
    fn add(
        &mut self,
        from: Nanos,
        to: Nanos,
        turn: &Turn,
        before: Option<usize>,
        explain: impl FnOnce() -> Vec<Piece>,
    ) {
        // Clocks of two CPUs may differ by some nanoseconds.
        let nanos = to.saturating_sub(from);
        self.tally.count += 1;
        self.tally.nanos += nanos;
        if nanos < self.least {
            self.tally.short_count += 1;
            self.tally.short_nanos += nanos;
            return;
        }
        let pieces = explain();
        let shares = cause::shares(&pieces);
        for (place, &(cause, nanos)) in shares.iter().enumerate() {
            note(&mut self.tally.classes, Class { cause, count: u64::from(place == 0), nanos });
        }
        self.long.push(Long { from, to, turn: *turn, before, pieces });
    }

    fn longest(
        &mut self,
        timeline: &Timeline,
        turns: &[Turn],
        run: usize,
        keep: usize,
        idle: bool,
    ) -> Vec<Episode> {
        self.long.sort_by_key(|long| (std::cmp::Reverse(long.to - long.from), long.from));
        let mut kept: Vec<(&Long, u64)> = Vec::new();
        for long in &self.long {
            if let Some((_, alike)) = kept.iter_mut().find(|(other, _)| overlap(other, long)) {
                *alike += 1;
            } else if kept.len() < keep {
                kept.push((long, 0));
            }
        }
        let episode =
            |(long, alike): (&Long, u64)| describe(timeline, turns, run, long, alike, idle);
        kept.into_iter().map(episode).collect()
    }
}

fn overlap(one: &Long, other: &Long) -> bool {
    let common = one.to.min(other.to).saturating_sub(one.from.max(other.from));
    let shorter = (one.to - one.from).min(other.to - other.from);
    common as f64 >= ALIKE * shorter as f64
}

/// Adds to the class of the same cause.
fn note(classes: &mut Vec<Class>, more: Class) {
    match classes.iter_mut().find(|class| class.cause == more.cause) {
        Some(class) => {
            class.count += more.count;
            class.nanos += more.nanos;
        }
        None => classes.push(more),
    }
}

/// Adds `more`, keeping the order of causes.
pub(super) fn add(tally: &mut Tally, more: &Tally) {
    tally.count += more.count;
    tally.nanos += more.nanos;
    tally.short_count += more.short_count;
    tally.short_nanos += more.short_nanos;
    for &class in &more.classes {
        note(&mut tally.classes, class);
    }
    let place = |class: &Class| Cause::ALL.iter().position(|cause| *cause == class.cause);
    tally.classes.sort_by_key(place);
}

fn describe(
    timeline: &Timeline,
    turns: &[Turn],
    run: usize,
    long: &Long,
    alike: u64,
    idle: bool,
) -> Episode {
    let shares = cause::shares(&long.pieces);
    let cause = shares.first().map_or(Cause::Unknown, |&(cause, _)| cause);
    let first = turns.partition_point(|turn| turn.pair.acquired < long.from);
    let meanwhile = turns[first..].iter().take_while(|turn| turn.pair.acquired < long.to);
    let passed: Vec<usize> = meanwhile.map(|turn| turn.thread).collect();
    let threads = (0..timeline.threads.len())
        .map(|thread| Doing {
            acquired: passed.iter().filter(|&&other| other == thread).count() as u64,
            ..doing(timeline, thread, long.from, long.to)
        })
        .collect();
    Episode {
        run,
        from: long.from,
        to: long.to,
        thread: long.turn.thread,
        before: long.before,
        passed: passed.len() as u64,
        alike,
        cause,
        verdict: verdict::of(timeline, turns, &long.turn, &long.pieces, cause, idle),
        parts: shares.into_iter().map(|(cause, nanos)| Part { cause, nanos }).collect(),
        threads,
    }
}

/// The activity of a thread during a time.
fn doing(timeline: &Timeline, thread: usize, from: Nanos, to: Nanos) -> Doing {
    let mut doing = Doing::default();
    let seen = to.min(timeline.seen_until);
    let spans = &timeline.threads[thread].spans;
    let first = spans.partition_point(|span| span.to <= from);
    let mut known = 0;
    for span in spans[first..].iter().take_while(|span| span.from < seen) {
        let nanos = span.to.min(seen).saturating_sub(span.from.max(from));
        known += nanos;
        match span.state {
            State::Running => {
                doing.running += nanos;
                doing.cpus.extend(span.cpu);
            }
            State::Queued => doing.queued += nanos,
            State::Asleep => doing.asleep += nanos,
        }
    }
    doing.unknown = (to - from).saturating_sub(known);
    doing.cpus.sort_unstable();
    doing.cpus.dedup();
    doing
}
