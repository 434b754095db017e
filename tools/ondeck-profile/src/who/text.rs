//! The answer on a terminal: deadlocks, then each lock with its keeper and the threads that wait,
//! then the other threads.

use std::collections::BTreeMap;
use std::fmt::Write;

use ondeck_text::functions::short;
use ondeck_text::numbers::terminal::time;

use super::goroutines::{Goroutine, Goroutines};
use super::keeper::Keeper;
use super::report::{Lock, Thread, Wait, Who};
use super::thread::State;
use super::wait::Kind;
use crate::model::{Frame, program};

/// Callers that are shown of each stack.
const CALLERS: usize = 3;
/// Locks that are shown.
const LOCKS: usize = 10;
/// Waiting threads that are shown of each lock.
const WAITERS: usize = 5;
/// If more threads may keep a lock, none is shown.
const PERHAPS: usize = 3;
/// Groups of other threads that are shown.
const OTHERS: usize = 12;
/// Numbers of threads that are shown of a group.
const NUMBERS: usize = 4;

/// Renders what was seen.
pub fn render(who: &Who) -> String {
    let mut text = head(who);
    for circle in &who.deadlocks {
        text.push('\n');
        deadlock(&mut text, who, circle);
    }
    let shown = who.locks.iter().filter(|lock| !is_told(who, lock));
    for lock in shown.clone().take(LOCKS) {
        text.push('\n');
        of_lock(&mut text, who, lock);
    }
    let more = shown.count().saturating_sub(LOCKS);
    if more != 0 {
        _ = writeln!(text, "\n{more} more locks have waiting threads; --json has all");
    }
    goroutines(&mut text, who);
    others(&mut text, who);
    if !who.missing.is_empty() {
        text.push('\n');
    }
    for missing in &who.missing {
        _ = writeln!(text, "{missing}");
    }
    text
}

/// Whether the text of a deadlock has everything about a lock.
fn is_told(who: &Who, lock: &Lock) -> bool {
    lock.waiters.iter().all(|tid| who.deadlocks.iter().any(|circle| circle.contains(tid)))
}

fn head(who: &Who) -> String {
    let name = program::name(&who.program, &who.arguments);
    let waiting: usize = who.locks.iter().map(|lock| lock.waiters.len()).sum();
    let waits = match waiting {
        0 => "none waits for a lock".to_owned(),
        1 => "1 waits for a lock".to_owned(),
        several => format!("{several} wait for locks"),
    };
    let goroutines = match &who.goroutines {
        Goroutines::None => String::new(),
        Goroutines::Unseen(reason) => format!("\ngoroutines are not seen: {reason}"),
        Goroutines::Seen(locks) => match locks.iter().map(|lock| lock.waiters.len()).sum() {
            0 => "; no goroutine waits for a lock".to_owned(),
            1 => "; 1 goroutine waits for a lock".to_owned(),
            several => format!("; {several} goroutines wait for locks"),
        },
    };
    let threads = counted(who.threads.len(), "thread");
    let mut head = format!("{name} {}: {threads}, {waits}{goroutines}\n", who.pid);
    for unseen in &who.unseen {
        _ = writeln!(head, "{unseen}");
    }
    head
}

/// The locks for which goroutines wait.
fn goroutines(text: &mut String, who: &Who) {
    let Goroutines::Seen(locks) = &who.goroutines else { return };
    for lock in locks.iter().take(LOCKS) {
        let name =
            lock.place.symbol().map_or_else(|| format!("{:#x}", lock.address), |one| short(&one));
        let origin = lock.place.origin().map_or(String::new(), |origin| format!(", {origin}"));
        _ = writeln!(text, "\n{} {name}{origin}", lock.kind);
        _ = writeln!(text, "  unknown keeper: a {} does not note its owner", lock.kind);
        if lock.perhaps.len() > PERHAPS {
            let count = lock.perhaps.len();
            _ = writeln!(
                text,
                "  perhaps by one of {count} goroutines that have its address; --json has them"
            );
        } else {
            for one in &lock.perhaps {
                _ = writeln!(
                    text,
                    "  perhaps by {}, which has its address: {}",
                    numbered(one),
                    calls(&one.callers)
                );
            }
        }
        let mut groups: Vec<(String, Vec<&Goroutine>)> = Vec::new();
        for one in &lock.waiters {
            let at = calls(&one.callers);
            match groups.iter_mut().find(|(known, _)| *known == at) {
                Some((_, group)) => group.push(one),
                None => groups.push((at, vec![one])),
            }
        }
        for (at, group) in groups.iter().take(WAITERS) {
            let first: Vec<String> = group.iter().take(NUMBERS).map(|one| numbered(one)).collect();
            let more = match group.len().saturating_sub(NUMBERS) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let wait = if group.len() == 1 { "waits" } else { "wait" };
            _ = writeln!(text, "  {}{more} {wait}: {at}", first.join(", "));
        }
        let more = groups.len().saturating_sub(WAITERS);
        if more != 0 {
            _ = writeln!(
                text,
                "  {} with waiting goroutines; --json has all",
                counted(more, "more place")
            );
        }
    }
    let more = locks.len().saturating_sub(LOCKS);
    if more != 0 {
        _ = writeln!(text, "\n{more} more locks have waiting goroutines; --json has all");
    }
}

fn numbered(goroutine: &Goroutine) -> String {
    goroutine
        .number
        .map_or_else(|| "a goroutine".to_owned(), |number| format!("goroutine {number}"))
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn deadlock(text: &mut String, who: &Who, circle: &[u32]) {
    match circle.len() {
        1 => text.push_str("DEADLOCK: a thread waits for what it keeps itself\n"),
        several => {
            _ = writeln!(text, "DEADLOCK: {several} threads wait for each other in a circle");
        }
    }
    for thread in circle.iter().filter_map(|tid| who.thread(*tid)) {
        let Some(wait) = &thread.wait else { continue };
        let keeper = match wait.keeper {
            Keeper::Thread { tid } if tid == thread.tid => "which it keeps".to_owned(),
            Keeper::Thread { tid } => format!("kept by {tid}"),
            _ => continue,
        };
        let what = match wait.kind {
            Kind::Join => "waits for the end of".to_owned(),
            _ => format!("waits for {},", described(wait)),
        };
        let keeper = if wait.kind == Kind::Join { keeper.replace("kept by ", "") } else { keeper };
        let deadline = if wait.is_timed { ", until a deadline" } else { "" };
        let since = since(thread);
        _ = writeln!(text, "  {} {what} {keeper}{since}{deadline}", named(thread));
        _ = writeln!(text, "      at {}", callers(thread));
    }
}

fn of_lock(text: &mut String, who: &Who, lock: &Lock) {
    _ = writeln!(text, "{}", described(&lock.wait));
    _ = writeln!(text, "  {}", kept(who, &lock.wait));
    if lock.perhaps.len() > PERHAPS {
        let count = lock.perhaps.len();
        _ = writeln!(
            text,
            "  perhaps by one of {count} threads that have its address; --json has them"
        );
    } else {
        for thread in lock.perhaps.iter().filter_map(|tid| who.thread(*tid)) {
            let (thread, doing) = (named(thread), doing(thread));
            _ = writeln!(text, "  perhaps by {thread}, which has its address, {doing}");
        }
    }
    for tid in lock.waiters.iter().take(WAITERS) {
        let Some(thread) = who.thread(*tid) else { continue };
        let aim = match thread.wait.as_ref().map(|wait| wait.kind) {
            Some(Kind::PthreadRead) => " to read",
            Some(Kind::PthreadWrite) => " to write",
            _ => "",
        };
        let since = since(thread);
        _ = writeln!(text, "  {} waits{aim}{since}: {}", named(thread), callers(thread));
    }
    let more = lock.waiters.len().saturating_sub(WAITERS);
    if more != 0 {
        _ = writeln!(text, "  {} wait, too", counted(more, "more thread"));
    }
}

/// The name of a lock, its kind and its place.
fn described(wait: &Wait) -> String {
    let origin = wait.origin().map_or(String::new(), |origin| format!(", {origin}"));
    match &wait.function {
        Some(function) if wait.kind == Kind::CLibrary => {
            format!("lock of the C library, in {}{origin}", short(function))
        }
        _ => format!("{} {}{origin}", wait.kind.words(), wait.name()),
    }
}

/// The keeper of a lock, and what it does.
fn kept(who: &Who, wait: &Wait) -> String {
    match &wait.keeper {
        Keeper::Thread { tid } => match who.thread(*tid) {
            Some(thread) => format!("kept by {}, {}", named(thread), doing(thread)),
            None => format!("kept by {tid}"),
        },
        Keeper::Elsewhere { tid } => format!(
            "kept by {tid}, which is no thread of this process: it ended without an unlock, or is another process's"
        ),
        Keeper::Readers { count } => {
            format!("kept by {}; the lock does not say which", counted(*count as usize, "reader"))
        }
        Keeper::Nobody => "free at this moment: a thread is about to take it".to_owned(),
        Keeper::Unknown | Keeper::None => match wait.kind {
            Kind::Futex => {
                "unknown keeper: the functions that wait have no names that are known".to_owned()
            }
            kind => format!("unknown keeper: this {} does not note its owner", kind.words()),
        },
    }
}

/// What a thread that keeps something does.
fn doing(thread: &Thread) -> String {
    let what = activity(thread, true);
    if thread.stack.is_empty() { what } else { format!("{what}: {}", callers(thread)) }
}

/// What a thread does, and since when.
fn activity(thread: &Thread, with_time: bool) -> String {
    let since = if with_time { since(thread) } else { String::new() };
    match (&thread.wait, thread.state) {
        (_, State::Ended) => "which has ended".to_owned(),
        (_, State::Stopped) => "stopped by a signal or a debugger".to_owned(),
        (_, State::Running) => "running".to_owned(),
        (Some(wait), _) => match (wait.kind, &wait.keeper) {
            (Kind::Join, Keeper::Thread { tid }) => format!("waits for the end of {tid}{since}"),
            (Kind::Join, _) => format!("waits for the end of a thread{since}"),
            (kind, _) if kind.is_kept() => format!("waits for {}{since}", described(wait)),
            (Kind::GoIdle, _) => format!("waits for work or a timer{since}"),
            _ => format!("waits at a {}{since}", described(wait)),
        },
        (None, State::Uninterruptible) => {
            let place = match &*thread.kernel {
                "" => String::new(),
                place => format!(" in {place}"),
            };
            format!("in the kernel{place}, for a disk or memory{since}")
        }
        (None, State::Asleep) => format!("in {}{since}", super::json::call_name(thread.call)),
    }
}

fn others(text: &mut String, who: &Who) {
    let is_shown = |thread: &Thread| {
        who.locks.iter().any(|lock| lock.waiters.contains(&thread.tid))
            || who.deadlocks.iter().any(|circle| circle.contains(&thread.tid))
    };
    let mut groups: BTreeMap<(String, String), Vec<&Thread>> = BTreeMap::new();
    for thread in who.threads.iter().filter(|thread| !is_shown(thread)) {
        groups.entry((activity(thread, false), callers(thread))).or_default().push(thread);
    }
    if groups.is_empty() {
        return;
    }
    _ = writeln!(text, "\nother threads");
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, threads)| threads[0].tid);
    for ((activity, callers), threads) in groups.iter().take(OTHERS) {
        let numbers: Vec<String> =
            threads.iter().take(NUMBERS).map(|thread| named(thread)).collect();
        let more = match threads.len().saturating_sub(NUMBERS) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let since = match threads[..] {
            [thread] => since(thread),
            _ => String::new(),
        };
        let at = if callers.is_empty() { String::new() } else { format!(": {callers}") };
        _ = writeln!(text, "  {}{more} {activity}{since}{at}", numbers.join(", "));
    }
    let more = groups.len().saturating_sub(OTHERS);
    if more != 0 {
        _ = writeln!(text, "  {more} more places; --json has all");
    }
}

fn named(thread: &Thread) -> String {
    format!("{} \"{}\"", thread.tid, thread.name)
}

fn since(thread: &Thread) -> String {
    match thread.since {
        Some(since) => format!(", {}", time(since.as_nanos() as f64)),
        None => String::new(),
    }
}

fn callers(thread: &Thread) -> String {
    calls(&thread.callers)
}

fn calls(callers: &[Frame]) -> String {
    let frames: Vec<String> = callers.iter().take(CALLERS).map(Frame::short).collect();
    frames.join(" < ")
}
