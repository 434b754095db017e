//! What happened, in one line that names threads and CPUs.

use super::cause::{Cause, Piece};
use super::timeline::{Nanos, Timeline, Turn, Who};
use crate::report::html::time;

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
            let had = had_its_cpu(timeline, owner.thread, at);
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
                had_its_cpu(timeline, me, at),
                if spun.len() == 1 { "" } else { "s" },
                spun.join(", "),
            )
        }
        Cause::QueuedCpuIdle => {
            let idle: Vec<String> = timeline.idle_cpus(at).map(|cpu| cpu.to_string()).collect();
            format!(
                "thread {me} was ready and without a CPU for {spent}{} while CPU {} was idle",
                had_its_cpu(timeline, me, at),
                idle.join(", "),
            )
        }
        Cause::QueuedCpuBusy => format!(
            "thread {me} was ready and without a CPU for {spent}{}",
            had_its_cpu(timeline, me, at)
        ),
        Cause::WakeUp => {
            format!("nobody was awake: thread {me} was on its way for {spent}")
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
        Cause::Unwanted => format!("nobody wanted the lock for {spent}"),
        Cause::Unknown if idle => {
            "unknown: the kernel does not tell what its threads did".to_owned()
        }
        Cause::Unknown => format!("unknown: the kernel does not tell what thread {me} did"),
    }
}

/// Who had the CPU that a thread waited for, if that is known.
fn had_its_cpu(timeline: &Timeline, thread: usize, at: Nanos) -> String {
    let Some(number) = timeline.state(thread, at).and_then(|span| span.cpu) else {
        return String::new();
    };
    let cpu = timeline.cpus.iter().find(|cpu| cpu.number == number);
    match cpu.and_then(|cpu| cpu.at(at)).map(|slice| &slice.who) {
        Some(Who::Thread(other)) => format!(" (CPU {number} had thread {other})"),
        Some(Who::Other(name)) => format!(" (CPU {number} had `{name}`)"),
        Some(Who::Nobody) | None => format!(" (on CPU {number})"),
    }
}
