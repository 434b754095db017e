//! The verdict in one line that names threads and CPUs.

use ondeck_text::numbers::page::time;

use super::cause::{Cause, Piece};
use super::timeline::{Nanos, Ran, State, Timeline, Turn};

/// The line for an idle that ended with `turn`, or for its wait.
pub(super) fn of(
    timeline: &Timeline,
    turns: &[Turn],
    turn: &Turn,
    pieces: &[Piece],
    cause: Cause,
    idle: bool,
) -> String {
    let of_cause = || pieces.iter().filter(|piece| piece.cause == cause);
    let Some(longest) = of_cause().max_by_key(|piece| piece.to - piece.from) else {
        return "unknown".to_owned();
    };
    let at = longest.from;
    let spent: Nanos = of_cause().map(|piece| piece.to - piece.from).sum();
    let spent = time(spent as f64);
    let me = turn.thread;
    let upto = turns.partition_point(|other| other.pair.acquired <= at);
    let owner = upto.checked_sub(1).map(|place| turns[place]);
    match cause {
        Cause::OwnerPreempted => owner.map_or(String::new(), |owner| {
            let place = if at < owner.pair.released { "section" } else { "unlock" };
            let had = had_its_cpu(timeline, owner.thread, longest);
            format!("owner thread {} preempted in the {place} for {spent}{had}", owner.thread)
        }),
        Cause::OwnerAsleep => owner.map_or(String::new(), |owner| {
            format!("owner thread {} slept in its section for {spent}", owner.thread)
        }),
        Cause::OwnerStalled => owner.map_or(String::new(), |owner| {
            let place = if at < owner.pair.released { "section" } else { "unlock" };
            format!(
                "owner thread {} stood still in the {place} for {spent}, by its stamps",
                owner.thread
            )
        }),
        Cause::KeptForQueued => {
            let spun: Vec<String> = (0..timeline.threads.len())
                .filter(|&other| other != me && timeline.wants(other, at))
                .map(|other| other.to_string())
                .collect();
            format!(
                "free, but kept for thread {me}, which was without a CPU for {spent}{}; thread{} {} \
                 wanted it",
                had_its_cpu(timeline, me, longest),
                if spun.len() == 1 { "" } else { "s" },
                spun.join(", "),
            )
        }
        Cause::QueuedCpuIdle => {
            let idle: Vec<String> = timeline.idle_cpus(at).map(|cpu| cpu.to_string()).collect();
            format!(
                "thread {me} was ready and without a CPU for {spent}{} while CPU {} was idle",
                had_its_cpu(timeline, me, longest),
                idle.join(", "),
            )
        }
        Cause::QueuedCpuBusy => format!(
            "thread {me} was ready and without a CPU for {spent}{}",
            had_its_cpu(timeline, me, longest)
        ),
        Cause::WakeUp => {
            format!("no thread was awake for {spent}, until thread {me} ran")
        }
        Cause::AsleepInLine => {
            format!("thread {me} slept for {spent} while others had the lock")
        }
        Cause::Contended => {
            format!("thread {me} ran for {spent} while others had the lock")
        }
        Cause::Acquiring => {
            format!("thread {me} ran for {spent} and had not got the free lock yet")
        }
        Cause::Releasing => format!("the unlock itself took {spent}"),
        Cause::Unwanted => {
            format!("no thread wanted the lock for {spent}{}", elsewhere(timeline, at))
        }
        Cause::Unknown if idle => {
            "unknown: the kernel does not tell what its threads did".to_owned()
        }
        Cause::Unknown => format!("unknown: the kernel does not tell what thread {me} did"),
    }
}

/// The occupant, for most of that piece, of the CPU that a thread waited for, if it is known.
fn had_its_cpu(timeline: &Timeline, thread: usize, piece: &Piece) -> String {
    let Some(number) = timeline.state(thread, piece.from).and_then(|span| span.cpu) else {
        return String::new();
    };
    let cpu = timeline.cpus.iter().find(|cpu| cpu.number == number);
    let mut times: Vec<(&Ran, Nanos)> = Vec::new();
    for slice in cpu.iter().flat_map(|cpu| &cpu.slices) {
        let nanos = slice.to.min(piece.to).saturating_sub(slice.from.max(piece.from));
        match times.iter_mut().find(|(ran, _)| *ran == &slice.ran) {
            Some((_, sum)) => *sum += nanos,
            None => times.push((&slice.ran, nanos)),
        }
    }
    let most = times.into_iter().filter(|(_, nanos)| *nanos > 0).max_by_key(|(_, nanos)| *nanos);
    match most {
        Some((Ran::Thread(other), nanos)) => {
            format!(" (CPU {number} had thread {other} for {})", time(nanos as f64))
        }
        Some((Ran::Other(name), nanos)) => {
            format!(" (CPU {number} had `{name}` for {})", time(nanos as f64))
        }
        Some((Ran::Nothing, _)) | None => format!(" (on CPU {number})"),
    }
}

/// The activity of the threads that might have wanted the lock and did not.
fn elsewhere(timeline: &Timeline, at: Nanos) -> String {
    let pairs = |thread: usize| &timeline.threads[thread].pairs;
    let threads = || 0..timeline.threads.len();
    let over = |thread: usize| pairs(thread).last().is_none_or(|pair| pair.freed <= at);
    let begun = |thread: usize| pairs(thread).first().is_some_and(|pair| pair.wanted <= at);
    let off: Vec<String> = threads()
        .filter(|&thread| {
            let state = timeline.state(thread, at).map(|span| span.state);
            !over(thread) && begun(thread) && state == Some(State::Queued)
        })
        .map(|thread| thread.to_string())
        .collect();
    let rest = threads().filter(|&thread| over(thread) || !begun(thread)).count();
    let mut text = String::new();
    if !off.is_empty() {
        let plural = if off.len() == 1 { "" } else { "s" };
        text = format!(": thread{plural} {} lost the CPU between two pairs", off.join(", "));
    }
    if rest > 0 {
        let join = if text.is_empty() { ":" } else { ";" };
        text = format!("{text}{join} {rest} had not begun or had finished");
    }
    text
}
