//! Tables for a terminal: the locks, worst first, and below them which functions kept others waiting.

use std::fmt::Write;

use ondeck_report::numbers::terminal::{count, time};
use ondeck_report::table::Grid;

use crate::model::{Futex, Futexes, Kind, Lock, Process, Profile, Sample};

/// The number of stacks shown for each role of a lock.
const STACKS: usize = 3;
/// The number of callers shown for each stack.
const CALLERS: usize = 3;
/// The longest name of a lock in the table; the whole name is below the table.
const NAME: usize = 18;

/// Explains the columns whose headings do not.
const LEGEND: &str =
    "rate: acquisitions that waited; held, most: p99 and longest of holds with waiters";

/// The name for time in which threads waited and no thread is known to have held the lock.
pub(crate) const FREE: &str = "waited while it was free";

/// The name for waits that began at a notification: their owners are not known.
pub(crate) const NOTIFIED: &str = "waited after a notification";
/// The least part of waits without a known owner that is mentioned: sums are estimates.
pub(crate) const MENTIONED: f64 = 0.1;

/// Renders the `most` worst locks in a table, then each lock with its stacks, then the cost of
/// recording and the missing data. `colour` allows escape sequences for a terminal.
pub fn render(profile: &Profile, most: usize, colour: bool) -> String {
    let mut text = String::new();
    let locks = profile.locks();
    let shown = &locks[..locks.len().min(most)];
    let several = profile.processes.len() > 1;
    if shown.is_empty() {
        _ = writeln!(text, "{}", nothing(profile));
    } else {
        _ = writeln!(text, "{}", summary(shown, colour));
        _ = writeln!(text, "{LEGEND}");
        for (process, lock) in shown {
            _ = write!(text, "\n{}", details(process, lock, several));
        }
        if locks.len() > shown.len() {
            _ = writeln!(text, "\n{} more locks were contended", locks.len() - shown.len());
        }
    }
    text.push_str(&futexes(profile));
    text.push('\n');
    for note in notes(profile) {
        _ = writeln!(text, "{note}");
    }
    text
}

/// The locks that the recorder cannot see.
pub(crate) const UNSEEN: &str = "locks that call futex(2) themselves, as those of Rust's standard library and parking_lot, are not \
                      recorded, nor are those made of semaphores or condition variables, as Python's and Java's";

/// Returns the text for a profile in which no lock that the recorder sees was contended.
pub(crate) fn nothing(profile: &Profile) -> String {
    const NONE: &str = "no pthread lock was contended";
    match &profile.futexes {
        Some(futexes) if !futexes.found.is_empty() => {
            format!("{NONE}, but threads slept at objects that are not recorded")
        }
        Some(futexes) if futexes.is_whole && futexes.looks != 0 => {
            format!("{NONE}, and no thread slept for another one in {} looks", futexes.looks)
        }
        _ => format!("{NONE}; {UNSEEN}"),
    }
}

/// The possible reasons of a sleep that is not recorded.
pub(crate) const MEANING: &str = "for a lock, for a notification, or for work";
/// The number of futexes shown.
pub(crate) const MOST: usize = 10;

fn futexes(profile: &Profile) -> String {
    let Some(futexes) = profile.futexes.as_ref().filter(|futexes| !futexes.found.is_empty()) else {
        return String::new();
    };
    let mut text = format!("\nother sleeps, in {} looks: {MEANING}\n", futexes.looks);
    for futex in futexes.found.iter().take(MOST) {
        let (share, name, waited) = (share(futexes, futex), futex.name(), waited_in(futex));
        _ = writeln!(text, "  {share:>4}  {name}, at most {} at once  {waited}", futex.threads);
    }
    _ = writeln!(text, "{UNSEEN}; the thread that holds one is not known");
    text
}

/// Formats the part of all sleeps that were found.
pub(crate) fn share(all: &Futexes, futex: &Futex) -> String {
    format!("{:.0}%", 100.0 * futex.samples as f64 / all.samples().max(1) as f64)
}

pub(crate) fn waited_in(futex: &Futex) -> String {
    let frames: Vec<String> =
        futex.frames().iter().take(CALLERS).map(|frame| frame.short()).collect();
    frames.join(" < ")
}

/// Renders the table alone, for a screen that is updated.
pub fn summary(locks: &[(&Process, &Lock)], colour: bool) -> String {
    let header =
        ["lock", "waited", "waits", "rate", "p50", "p99", "longest", "held", "most", "thr"];
    let mut table = Grid::new(&header, colour);
    for (_, lock) in locks {
        table.add_row([
            shortened(&lock.name()),
            time(lock.wait.nanos),
            count(lock.wait.count as f64),
            rate(lock),
            time(lock.wait.quantile(0.5)),
            time(lock.wait.quantile(0.99)),
            time(lock.wait.longest),
            time(lock.hold.quantile(0.99)),
            time(lock.hold.longest),
            lock.threads.to_string(),
        ]);
    }
    table.right_align(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    table.render()
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}

/// Formats the part of acquisitions that waited.
pub(crate) fn rate(lock: &Lock) -> String {
    match lock.contention() {
        None => "?".to_owned(),
        Some(rate) if rate < 0.000_95 => "<0.1%".to_owned(),
        Some(rate) => format!("{:.1}%", 100.0 * rate),
    }
}

fn details(process: &Process, lock: &Lock, several: bool) -> String {
    let mut text = format!("{}  {}", lock.name(), lock.origin());
    let acquired = lock.acquisitions.map_or_else(
        || "acquisitions not counted".to_owned(),
        |all| format!("acquired {} times", count(all as f64)),
    );
    _ = write!(text, "\n  {} at {:#x}, {acquired}", lock.kind.word(), lock.address);
    if lock.reused != 0 {
        _ = write!(text, ", {} locks in turn at this address", lock.reused + 1);
    }
    if lock.timeouts != 0 {
        _ = write!(text, ", {} time-outs", lock.timeouts);
    }
    if lock.waiting != 0 {
        _ = write!(text, ", {} waiting", lock.waiting);
    }
    if several {
        let program = process.program.file_name().unwrap_or_default().to_string_lossy();
        _ = write!(text, ", {program} {}", process.pid);
    }
    if !lock.created.is_empty() && !matches!(lock.place, crate::Place::Static { .. }) {
        let frames: Vec<String> = lock
            .created
            .iter()
            .flat_map(|location| &location.frames)
            .take(CALLERS)
            .map(crate::Frame::short)
            .collect();
        _ = write!(text, "\n  initialized by {}", frames.join(" < "));
    }
    text.push('\n');
    for (title, samples) in [("kept others waiting", &lock.holders), ("waited", &lock.waiters)] {
        let all: f64 = samples.iter().map(|sample| sample.nanos).sum();
        for sample in samples.iter().take(STACKS) {
            let share = 100.0 * sample.nanos / all.max(1.0);
            _ = writeln!(
                text,
                "  {title} {:>5} {share:3.0}%  {}",
                time(sample.nanos),
                callers(sample)
            );
        }
    }
    if lock.free != 0.0 {
        let part = 100.0 * lock.free_part();
        _ = writeln!(text, "  {FREE} {:>5} {part:3.0}% of all waiting", time(lock.free));
    }
    if let (nanos, part) = lock.unexplained()
        && part > MENTIONED
    {
        _ = writeln!(text, "  {NOTIFIED} {:>5} {:3.0}% of all waiting", time(nanos), 100.0 * part);
    }
    text
}

/// Formats the innermost functions of a stack.
pub(crate) fn callers(sample: &Sample) -> String {
    let names: Vec<String> = sample.frames().take(CALLERS).map(crate::Frame::short).collect();
    names.join(" < ")
}

/// Returns the notes for the reader: the cost, the missing data, the files that could not be read.
pub(crate) fn notes(profile: &Profile) -> Vec<String> {
    let mut notes = Vec::new();
    let sum = |of: fn(&Process) -> f64| profile.processes.iter().map(of).sum::<f64>();
    let events = sum(|process| process.cost.events as f64);
    let stacks = sum(|process| process.cost.stacks as f64);
    let cost = sum(|process| process.cost.nanos());
    // The total running time of the threads is unknown; the time of a single thread is the strictest
    // measure.
    let threads =
        sum(|process| f64::from(process.threads.max(1)) * process.length.as_nanos() as f64);
    notes.push(format!(
        "recording cost about {}, {:.2}% of the time of the threads that it saw: {} records of {}, {} stacks of {}",
        time(cost),
        100.0 * cost / threads.max(1.0),
        count(events),
        time(sum(|process| process.cost.events as f64 * process.cost.event_nanos) / events.max(1.0)),
        count(stacks),
        time(sum(|process| process.cost.stacks as f64 * process.cost.stack_nanos) / stacks.max(1.0)),
    ));
    if profile.locks().iter().any(|(_, lock)| lock.kind == Kind::Ondeck) {
        notes.push(
            "mutexes of the crate ondeck have no room for a count: their acquisitions are not known, and an \
             owner is seen where its unlock finds parked threads"
                .to_owned(),
        );
    }
    for process in &profile.processes {
        if process.dropped.any() {
            let d = process.dropped;
            notes.push(format!(
                "process {}: the file or the disk was full; {} waits or holds, {} stacks, {} samples, {} lines of mappings \
                 are missing",
                process.pid, d.locks, d.stacks, d.samples, d.mappings
            ));
        }
    }
    notes.extend(profile.refused.iter().map(|error| format!("left out: {error}")));
    notes
}
