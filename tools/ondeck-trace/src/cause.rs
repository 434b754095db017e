//! Why the lock was idle, or a thread waited: a pure function of the timeline.
//!
//! The time is cut wherever a state changes; each piece has one cause, by the first rule that fits.
//! The verdict is the cause with the most time. Nothing is guessed: where the kernel does not
//! report, the cause is `Unknown`, or `OwnerStalled` where the owner's own stamps show that it
//! stood still.

pub use ondeck_lab::results::episode::Cause;

use super::timeline::{Nanos, Ran, Slice, Span, State, Timeline, Turn};

/// A piece of an idle or a wait that has one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its beginning.
    pub from: Nanos,
    /// Its end.
    pub to: Nanos,
    /// Its cause.
    pub cause: Cause,
}

/// A section without work that is shorter was not interrupted: a timer tick takes less.
const STALL: Nanos = 20_000;

/// Why the lock was free from `last`'s unlock until `next` acquired it.
pub fn of_idle(timeline: &Timeline, last: &Turn, next: &Turn) -> Vec<Piece> {
    let (from, to) = (last.pair.released, next.pair.acquired);
    let all = 0..timeline.threads.len();
    let mut cuts = timeline.changes(all.clone(), from, to);
    cuts.push(last.pair.freed);
    for thread in all {
        // The pair in progress at the end, if it is a wait, and the previous one.
        let pairs = &timeline.threads[thread].pairs;
        let upto = pairs.partition_point(|pair| pair.wanted <= to);
        cuts.extend(pairs[..upto].iter().rev().take(2).map(|pair| pair.wanted));
    }
    pieces(from, to, cuts, |at| idle_at(timeline, last, next, at))
}

fn idle_at(timeline: &Timeline, last: &Turn, next: &Turn, at: Nanos) -> Cause {
    if at < last.pair.freed
        && let Some(cause) = unlock_at(timeline, last, at)
    {
        return cause;
    }
    let others = || (0..timeline.threads.len()).filter(|&other| other != next.thread);
    let runs =
        |thread: usize| timeline.state(thread, at).is_some_and(|span| span.state == State::Running);
    if at < next.pair.wanted && !others().any(|other| timeline.wants(other, at)) {
        return Cause::Unwanted;
    }
    let Some(span) = timeline.state(next.thread, at) else { return Cause::Unknown };
    match span.state {
        State::Running => Cause::Acquiring,
        State::Queued if others().any(|other| timeline.wants(other, at) && runs(other)) => {
            Cause::KeptForQueued
        }
        State::Queued => queued(timeline, span, at),
        State::Asleep => Cause::WakeUp,
    }
}

/// The cause that lies with the thread whose unlock is in progress; `None` if the lock is already
/// free, and only the other threads count.
fn unlock_at(timeline: &Timeline, last: &Turn, at: Nanos) -> Option<Cause> {
    match timeline.state(last.thread, at) {
        Some(span) => match span.state {
            State::Running => Some(Cause::Releasing),
            State::Queued => Some(Cause::OwnerPreempted),
            State::Asleep => None,
        },
        None if last.pair.freed - last.pair.released >= STALL => Some(Cause::OwnerStalled),
        None => None,
    }
}

/// The cause while a thread is ready and has no CPU.
fn queued(timeline: &Timeline, span: Span, at: Nanos) -> Cause {
    let own = span.cpu.and_then(|own| timeline.cpus.iter().find(|cpu| cpu.number == own));
    // Its CPU is idle: the thread is on its way there.
    if matches!(own.and_then(|cpu| cpu.at(at)), Some(Slice { ran: Ran::Nothing, .. })) {
        return Cause::WakeUp;
    }
    if timeline.idle_cpus(at).next().is_some() {
        Cause::QueuedCpuIdle
    } else {
        Cause::QueuedCpuBusy
    }
}

/// Why a thread waited from its call of lock until it acquired. `turns` are all of the run.
pub fn of_wait(timeline: &Timeline, turns: &[Turn], mine: &Turn) -> Vec<Piece> {
    let (from, to) = (mine.pair.wanted, mine.pair.acquired);
    let first = turns.partition_point(|turn| turn.pair.acquired <= from).saturating_sub(1);
    let count = turns[first..].iter().take_while(|turn| turn.pair.acquired < to).count();
    let others = &turns[first..first + count];
    // The state of each thread that had the lock in between matters, and changes at these moments.
    let mut involved: Vec<usize> = others.iter().map(|turn| turn.thread).collect();
    involved.push(mine.thread);
    involved.sort_unstable();
    involved.dedup();
    let mut cuts = timeline.changes(involved.into_iter(), from, to);
    cuts.extend(
        others.iter().flat_map(|turn| [turn.pair.acquired, turn.pair.released, turn.pair.freed]),
    );
    pieces(from, to, cuts, |at| wait_at(timeline, others, mine, at))
}

fn wait_at(timeline: &Timeline, others: &[Turn], mine: &Turn, at: Nanos) -> Cause {
    let upto = others.partition_point(|turn| turn.pair.acquired <= at);
    let last = others[..upto].last();
    let owner = last.filter(|turn| at < turn.pair.released);
    if let Some(owner) = owner {
        match timeline.state(owner.thread, at).map(|span| span.state) {
            Some(State::Queued) => return Cause::OwnerPreempted,
            Some(State::Asleep) => return Cause::OwnerAsleep,
            None if owner.pair.released - owner.pair.acquired >= STALL => {
                return Cause::OwnerStalled;
            }
            Some(State::Running) | None => {}
        }
    } else if let Some(last) = last
        && at < last.pair.freed
        && let Some(cause @ (Cause::OwnerPreempted | Cause::OwnerStalled)) =
            unlock_at(timeline, last, at)
    {
        return cause;
    }
    let Some(span) = timeline.state(mine.thread, at) else { return Cause::Unknown };
    match (span.state, owner.is_some()) {
        (State::Queued, _) => queued(timeline, span, at),
        (State::Asleep, held) => {
            // Free, but another thread is awake and about to acquire it.
            let next = others.get(upto);
            let taken = next.and_then(|next| timeline.state(next.thread, at));
            let awake = |span: Span| matches!(span.state, State::Running | State::Queued);
            if held || taken.is_some_and(awake) { Cause::AsleepInLine } else { Cause::WakeUp }
        }
        (State::Running, true) => Cause::Contended,
        (State::Running, false) => Cause::Acquiring,
    }
}

/// Cuts a time into pieces, determines the cause of each, and joins neighbours with the same cause.
fn pieces(from: Nanos, to: Nanos, mut cuts: Vec<Nanos>, at: impl Fn(Nanos) -> Cause) -> Vec<Piece> {
    cuts.retain(|&cut| from < cut && cut < to);
    cuts.push(to);
    cuts.sort_unstable();
    cuts.dedup();
    let mut pieces: Vec<Piece> = Vec::new();
    let mut begin = from;
    for cut in cuts.into_iter().filter(|&cut| cut > from) {
        let cause = at(begin);
        match pieces.last_mut() {
            Some(piece) if piece.cause == cause => piece.to = cut,
            _ => pieces.push(Piece { from: begin, to: cut, cause }),
        }
        begin = cut;
    }
    pieces
}

/// The time of each cause, most first.
pub fn shares(pieces: &[Piece]) -> Vec<(Cause, Nanos)> {
    let mut shares: Vec<(Cause, Nanos)> = Cause::ALL
        .into_iter()
        .map(|cause| {
            let own = pieces.iter().filter(|piece| piece.cause == cause);
            (cause, own.map(|piece| piece.to - piece.from).sum())
        })
        .filter(|&(_, nanos)| nanos > 0)
        .collect();
    shares.sort_by_key(|&(_, nanos)| std::cmp::Reverse(nanos));
    shares
}

#[cfg(test)]
#[path = "cause_tests.rs"]
mod tests;
