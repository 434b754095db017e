//! The trace for the terminal, in at most 80 columns.

use std::fmt::Write as _;

use ondeck_lab::results::trace::{Document, Doing, Episode, LockTrace, Settings, Sight, Tally};
use ondeck_text::numbers::page::time;

use super::cause::Cause;
use super::timeline::Nanos;

/// Renders the whole trace.
pub fn render(document: &Document) -> String {
    let mut out = String::new();
    render_head(&mut out, document);
    for lock in &document.locks {
        render_lock(&mut out, lock, &document.settings);
    }
    out
}

fn render_head(out: &mut String, document: &Document) {
    // Writing into a String cannot fail.
    let _ = writeln!(
        out,
        "{} threads, {} pairs each a run, {} ns in the section, {} ns outside",
        document.settings.threads,
        document.settings.pairs,
        document.settings.section_nanos,
        document.settings.outside_nanos
    );
    let _ = writeln!(
        out,
        "four stamps and the CPU's number cost {:.0} ns a pair (the lock that does nothing)",
        document.stamp_nanos
    );
    let _ = writeln!(out, "{}", seen(document.sight));
}

fn seen(sight: Sight) -> &'static str {
    match sight {
        Sight::Machine => "seen: stamps, schedstat, the scheduler's tracepoints on every CPU",
        Sight::Stamps => "seen: stamps and schedstat; the kernel tells nothing of single events",
    }
}

fn render_lock(out: &mut String, lock: &LockTrace, settings: &Settings) {
    let account = lock.account;
    let plural = if lock.runs == 1 { "" } else { "s" };
    let _ = writeln!(
        out,
        "\n{}: {} run{plural}, {} pairs in {}",
        lock.lock,
        lock.runs,
        lock.pairs,
        time(lock.nanos as f64)
    );
    let _ = writeln!(
        out,
        "  threads: {} on CPUs, {} ready without one; switches: {} voluntary,\n           {} \
         involuntary",
        time(account.run_nanos as f64),
        time(account.queued_nanos as f64),
        account.voluntary,
        account.involuntary
    );
    if lock.cut_runs > 0 {
        let _ = writeln!(out, "  {} of the runs were stopped before their end", lock.cut_runs);
    }
    if lock.overflown_runs > 0 {
        let _ = writeln!(
            out,
            "  in {} of the runs the kernel had more events than there was room for:\n  what came \
             after them is unknown; use --pairs for shorter runs",
            lock.overflown_runs
        );
    }
    for (title, tally, longest) in
        [("idle", &lock.idles, &lock.longest_idles), ("waits", &lock.waits, &lock.longest_waits)]
    {
        render_tally(out, title, tally, settings.least_nanos);
        for (place, episode) in longest.iter().enumerate() {
            render_episode(out, place + 1, episode);
        }
    }
}

fn render_tally(out: &mut String, title: &str, tally: &Tally, least: Nanos) {
    let _ = writeln!(
        out,
        "\n  {title}: {} times, {}; {} of them under {}, {}",
        tally.count,
        time(tally.nanos as f64),
        tally.short_count,
        time(least as f64),
        time(tally.short_nanos as f64)
    );
    for class in &tally.classes {
        let share = 100.0 * class.nanos as f64 / tally.nanos.max(1) as f64;
        let _ = writeln!(
            out,
            "    {:<34} {:>8} {:>10} {share:>5.1} %",
            class.cause.words(),
            class.count,
            time(class.nanos as f64)
        );
    }
}

fn render_episode(out: &mut String, place: usize, episode: &Episode) {
    let length = (episode.to - episode.from) as f64;
    let _ = writeln!(
        out,
        "  {place}. {} at {} of run {}",
        time(length),
        time(episode.from as f64),
        episode.run + 1
    );
    for line in textwrap::wrap(&episode.verdict, 73) {
        let _ = writeln!(out, "     {line}");
    }
    if episode.alike > 0 {
        let _ = writeln!(out, "     {} more at the same time", episode.alike);
    }
    let parts: Vec<String> = episode
        .parts
        .iter()
        .skip(1)
        .filter(|part| part.nanos as f64 >= 0.05 * length)
        .map(|part| format!("{} {}", part.cause.words(), time(part.nanos as f64)))
        .collect();
    if !parts.is_empty() {
        for line in textwrap::wrap(&format!("also: {}", parts.join("; ")), 73) {
            let _ = writeln!(out, "     {line}");
        }
    }
    let known =
        episode.cause != Cause::Unknown || episode.threads.iter().any(|doing| doing.running > 0);
    if known {
        for (thread, doing) in episode.threads.iter().enumerate() {
            let _ = writeln!(out, "       thread {thread:<3} {}", did(doing));
        }
    }
}

/// The activity of a thread, in words.
fn did(doing: &Doing) -> String {
    let cpus: Vec<String> = doing.cpus.iter().map(ToString::to_string).collect();
    let running = format!("ran (CPU {})", cpus.join(", "));
    let parts: Vec<String> = [
        (doing.running, running.as_str()),
        (doing.queued, "ready"),
        (doing.asleep, "asleep"),
        (doing.unknown, "unknown"),
    ]
    .iter()
    .filter(|(nanos, _)| *nanos > 0)
    .map(|(nanos, what)| format!("{what} {}", time(*nanos as f64)))
    .collect();
    parts.join(", ")
}
