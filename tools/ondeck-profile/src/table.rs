//! Tables for a terminal: the locks, worst first, and below them which functions kept others
//! waiting.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use ondeck_record::layout::{LOCKS, SAMPLES, STACKS as STACKS_KEPT};
use ondeck_text::grid::Grid;
use ondeck_text::numbers::terminal::{count, time};

use crate::model::{Frame, Futex, Futexes, Kind, Location, Lock, Place, Process, Profile, Sample};

/// The number of stacks shown for each role of a lock.
const STACKS: usize = 3;
/// The number of callers shown for each stack.
const CALLERS: usize = 3;
/// The longest name of a lock in the table; the whole name is below the table.
const NAME: usize = 18;

/// Explains the columns whose headings do not.
const LEGEND: &str = "held, most: p99 and longest of holds with waiters";
/// The same for a column that only locks have which count their acquisitions.
const RATE: &str = "rate: acquisitions that waited; ";
/// The number of places shown that waited for notifications.
const NOTICES: usize = 5;

/// The name for time in which threads waited and no thread is known to have held the lock.
pub(crate) const FREE: &str = "waited while it was free";

/// The name for waits whose owners are not known: they began at a notification, or a thread only
/// polled.
pub(crate) fn unexplained(lock: &Lock) -> &'static str {
    if lock.kind == Kind::Go {
        "woken for other goroutines"
    } else if lock.kind.is_observed() {
        "polled for an unknown owner"
    } else {
        "waited after a notification"
    }
}

/// The least part of waits without a known owner that is mentioned: sums are estimates.
pub(crate) const MENTIONED: f64 = 0.1;

/// Renders what was observed, the `most` worst locks in a table, then each lock with its stacks,
/// then the cost of recording and the missing data. `colour` allows escape sequences for a
/// terminal.
pub fn render(profile: &Profile, most: usize, colour: bool) -> String {
    let mut text = String::new();
    for line in scope(profile) {
        _ = writeln!(text, "{line}");
    }
    let locks = profile.locks();
    let shown = &locks[..locks.len().min(most)];
    let several = profile.processes.len() > 1;
    if shown.is_empty() {
        _ = writeln!(text, "{}", nothing(profile));
    } else {
        _ = writeln!(text, "{}", summary(shown, colour));
        let rate = if have_rates(shown) { RATE } else { "" };
        _ = writeln!(text, "{rate}{LEGEND}");
        for (process, lock) in shown {
            _ = write!(text, "\n{}", details(process, lock, several));
        }
        if locks.len() > shown.len() {
            _ = writeln!(text, "\n{} more locks were contended", locks.len() - shown.len());
        }
    }
    text.push_str(&notices(profile));
    text.push_str(&futexes(profile));
    text.push('\n');
    for note in notes(profile) {
        _ = writeln!(text, "{note}");
    }
    text
}

/// Returns what was observed, and a line for each thing that was not.
pub(crate) fn scope(profile: &Profile) -> Vec<String> {
    let Some(scope) = &profile.scope else { return Vec::new() };
    let unseen = scope.unseen.iter().map(|one| format!("not observed: {one}"));
    [scope.seen.clone()].into_iter().chain(unseen).collect()
}

/// Returns the text for a profile in which no lock that the recorder sees was contended.
pub(crate) fn nothing(profile: &Profile) -> String {
    let is_whole = profile.scope.as_ref().is_none_or(|scope| scope.unseen.is_empty());
    let none = if profile.processes.is_empty() {
        "no lock was recorded"
    } else {
        "no lock that was observed was contended"
    };
    match &profile.futexes {
        Some(futexes) if !futexes.found.is_empty() => {
            format!("{none}, but threads slept at objects that are not recorded")
        }
        Some(futexes) if futexes.is_whole && futexes.looks != 0 && is_whole => {
            format!("{none}, and no thread slept for another one in {} looks", futexes.looks)
        }
        _ if is_whole => none.to_owned(),
        _ => format!("{none}, which says nothing about the rest"),
    }
}

/// Renders the places that waited longest for notifications.
fn notices(profile: &Profile) -> String {
    let found = profile.notices();
    if found.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{NOTICE}\n");
    for (_, one) in found.iter().take(NOTICES) {
        let waited = one.waiters.first().map(callers).unwrap_or_default();
        _ = writeln!(
            text,
            "  {:>5}  {} waits  {} {}  {waited}",
            time(one.wait.nanos),
            count(one.wait.count as f64),
            one.kind.word(),
            one.short_name()
        );
        if let Some(by) = one.holders.first() {
            _ = writeln!(text, "         after {}", callers(by));
        }
    }
    text
}

/// The heading of waits for notifications.
pub(crate) const NOTICE: &str =
    "waits for a notification, not for a lock; `after` is what notified most of the time";

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
    _ = writeln!(text, "the thread that holds one is not known");
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

/// Returns whether any of the locks counts its acquisitions.
pub(crate) fn have_rates(locks: &[(&Process, &Lock)]) -> bool {
    locks.iter().any(|(_, lock)| !lock.kind.is_observed())
}

/// Renders the table alone, for a screen that is updated.
pub fn summary(locks: &[(&Process, &Lock)], colour: bool) -> String {
    let rates = have_rates(locks);
    let rate_of = |lock: &Lock| rates.then(|| rate(lock));
    let header = ["lock", "kind", "waited", "waits"]
        .into_iter()
        .chain(rates.then_some("rate"))
        .chain(["p50", "p99", "longest", "held", "most", "thr"]);
    let header: Vec<&str> = header.collect();
    let mut table = Grid::new(&header, colour);
    for (_, lock) in locks {
        let row = [
            shortened(&lock.short_name()),
            lock.kind.word().to_owned(),
            time(lock.wait.nanos),
            count(lock.wait.count as f64),
        ];
        table.add_row(row.into_iter().chain(rate_of(lock)).chain([
            time(lock.wait.quantile(0.5)),
            time(lock.wait.quantile(0.99)),
            time(lock.wait.longest),
            time(lock.hold.quantile(0.99)),
            time(lock.hold.longest),
            lock.threads.to_string(),
        ]));
    }
    let numbers: Vec<usize> = (2..header.len()).collect();
    table.right_align(&numbers);
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
    let mut text = format!("{}  {}", lock.short_name(), lock.origin());
    let place = if lock.place == Place::Waiters {
        "a word of each waiting thread".to_owned()
    } else {
        format!("{:#x}", lock.address)
    };
    _ = write!(text, "\n  {} at {place}", lock.kind.word());
    match lock.acquisitions {
        Some(all) => _ = write!(text, ", acquired {} times", count(all as f64)),
        None if lock.kind.is_observed() => {}
        None => text.push_str(", acquisitions not counted"),
    }
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
        _ = write!(text, ", {} {}", process.name(), process.pid);
    }
    if !lock.created.is_empty() && !matches!(lock.place, Place::Static { .. }) {
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
        for (stack, nanos) in by_callers(samples).into_iter().take(STACKS) {
            let share = 100.0 * nanos / all.max(1.0);
            _ = writeln!(text, "  {title} {:>5} {share:3.0}%  {stack}", time(nanos));
        }
    }
    if lock.free != 0.0 {
        let part = 100.0 * lock.free_part();
        _ = writeln!(text, "  {FREE} {:>5} {part:3.0}% of all waiting", time(lock.free));
    }
    if let (nanos, part) = lock.unexplained()
        && part > MENTIONED
    {
        _ = writeln!(
            text,
            "  {} {:>5} {:3.0}% of all waiting",
            unexplained(lock),
            time(nanos),
            100.0 * part
        );
    }
    text
}

/// Returns the texts of stacks with their sums, longest first: stacks that differ in what is not
/// shown are one.
fn by_callers(samples: &[Sample]) -> Vec<(String, f64)> {
    let mut sums = BTreeMap::new();
    for sample in samples {
        *sums.entry(callers(sample)).or_insert(0.0) += sample.nanos;
    }
    let mut sums: Vec<(String, f64)> = sums.into_iter().collect();
    sums.sort_by(|a, b| b.1.total_cmp(&a.1));
    sums
}

/// Formats the innermost functions of a stack.
pub(crate) fn callers(sample: &Sample) -> String {
    let names: Vec<String> = sample.shown().take(CALLERS).map(crate::Frame::short).collect();
    names.join(" < ")
}

/// Returns the files of a process whose functions are in stacks and have no names, with what to do:
/// the file that was mapped cannot be found, or a function that locks is in a stripped one.
fn nameless(process: &Process) -> BTreeSet<String> {
    let locks = process.locks.iter().chain(&process.notices);
    let stacks = locks.flat_map(|lock| lock.holders.iter().chain(&lock.waiters));
    let mut lines = BTreeSet::new();
    if process.modules.is_empty() && !process.locks.is_empty() {
        let text = "it could not read its mappings; mount /proc in its root folder";
        lines.insert(format!("no names of process {}: {text}", process.pid));
    }
    for sample in stacks {
        let module = |location: &Location| location.module.map(|module| &process.modules[module]);
        let all = sample.stack.iter().filter_map(|location| module(location)?.nameless());
        lines.extend(all);
        let first = sample.stack.first().filter(|first| first.frames.iter().all(Frame::is_offset));
        lines.extend(first.and_then(|first| module(first)?.stripped()));
    }
    lines
}

/// Returns the notes for the reader: the cost, the missing data, the files that could not be read.
pub(crate) fn notes(profile: &Profile) -> Vec<String> {
    let mut notes = Vec::new();
    if profile.processes.is_empty() {
        return profile.refused.iter().map(|error| format!("left out: {error}")).collect();
    }
    let sum = |of: fn(&Process) -> f64| profile.processes.iter().map(of).sum::<f64>();
    let events = sum(|process| process.cost.events as f64);
    let stacks = sum(|process| process.cost.stacks as f64);
    let cost = sum(|process| process.cost.nanos());
    // The total running time of the threads is unknown; the time of a single thread is the
    // strictest measure.
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
            notes.push(dropped(process));
        }
    }
    let missing: BTreeSet<String> = profile.processes.iter().flat_map(nameless).collect();
    notes.extend(missing);
    notes.extend(profile.refused.iter().map(|error| format!("left out: {error}")));
    notes
}

/// Says what is missing in a recording, and why.
fn dropped(process: &Process) -> String {
    let dropped = process.dropped;
    let why = if dropped.was_disk_full {
        "the disk was full (set TMPDIR to a folder with room)".to_owned()
    } else {
        format!(
            "a recording has room for {LOCKS} locks or places that wait, {STACKS_KEPT} stacks and {SAMPLES} pairs of \
             both, and this program needs more"
        )
    };
    let missing = [
        (dropped.locks, "waits or holds of further locks"),
        (dropped.stacks, "stacks"),
        (dropped.samples, "samples"),
        (dropped.mappings, "copies of the mappings"),
    ];
    let missing: Vec<String> = missing
        .into_iter()
        .filter(|(number, _)| *number != 0)
        .map(|(number, what)| format!("{} {what}", count(number as f64)))
        .collect();
    format!("process {}: {why}; missing: {}", process.pid, missing.join(", "))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn stacks_that_look_the_same_are_one() {
        let sample = |functions: &[&str], nanos| {
            let frame =
                |name: &&str| Frame { function: (*name).to_owned(), file: None, line: None };
            let location = |name: &&str| {
                Arc::new(Location { address: 1, module: None, frames: vec![frame(name)] })
            };
            let stack = functions.iter().map(location).collect();
            Sample { stack, count: 1, nanos, longest: nanos }
        };
        let samples = [
            sample(&["other", "main"], 30.0),
            sample(&["get", "work", "run", "first"], 20.0),
            sample(&["get", "work", "run", "second"], 15.0),
        ];
        let sums = by_callers(&samples);
        assert_eq!(
            sums,
            [("get < work < run".to_owned(), 35.0), ("other < main".to_owned(), 30.0)]
        );
    }
}
