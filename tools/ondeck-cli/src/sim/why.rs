//! The output of `--why`: the time of simulated threads by activity.

use std::fmt::Write;
use std::time::Duration;

use ondeck_lab::results::{Series, Unit};
use ondeck_lab::sample::CPU_PER_OP;
use ondeck_lab::usage;
use ondeck_sim::engine::{Doing, Hot, Ran, Spent};
use ondeck_sim::time::{Time, in_nanos};
use ondeck_text::numbers::page::{count, time};

use super::campaign::Found;

/// As wide as the tables.
const COLUMNS: usize = 80;

/// Smaller shares are left out: half a percent.
const LEAST: f64 = 0.005;

/// The number of lines that are named.
const LINES: usize = 4;

/// The text for each job that has rounds, in order.
pub(super) fn text(found: &[Found], cpus: usize) -> String {
    let mut text = String::from("\nwhy: where the time of the threads went\n");
    let mut heading = String::new();
    for its in found {
        let (Some(series), false) = (its.results.series.first(), its.rounds.is_empty()) else {
            continue;
        };
        let situation = situation(series);
        if situation != heading {
            _ = writeln!(text, "\n{}", filled("", &situation));
            heading = situation;
        }
        text.push_str(&of_lock(series, &its.rounds, cpus));
    }
    _ = writeln!(text, "\n{}", filled("", &effort(found)));
    text
}

/// The cost of the whole simulation on the host.
fn effort(found: &[Found]) -> String {
    let events: u64 = found.iter().flat_map(|its| &its.rounds).map(|round| round.events).sum();
    let cpu: Duration = found.iter().filter_map(|its| its.cpu).sum();
    let mut words = format!("{} events", count(events));
    // Not every system reports a thread's CPU time, or a process's peak memory.
    if !cpu.is_zero() {
        let rate = events as f64 / cpu.as_secs_f64() / 1e6;
        let time = time(cpu.as_nanos() as f64);
        _ = write!(words, " in {time} of CPU time: {rate:.1} million a second on one CPU");
    }
    if let Some(peak) = usage::peak_memory() {
        _ = write!(words, "; at most {} MiB of memory", peak >> 20);
    }
    words
}

/// The situation of a series.
fn situation(series: &Series) -> String {
    let params = series.params_word();
    let s = if series.threads == 1 { "" } else { "s" };
    let words = format!("{}, {} thread{s}", series.workload, series.threads);
    if params.is_empty() { words } else { format!("{words}, {params}") }
}

fn of_lock(series: &Series, rounds: &[Ran], cpus: usize) -> String {
    let sums = Sums::of(rounds, cpus);
    let mut text = format!("{}\n", series.lock);
    for (label, words) in [
        ("time", sums.shares()),
        ("lines", lines(rounds)),
        ("each op", sums.for_each_operation(series)),
    ] {
        _ = writeln!(text, "{}", filled(&format!("  {label:<9}"), &words));
    }
    text
}

/// The sums over the rounds of a lock.
struct Sums {
    spent: Spent,
    /// Time ready without a CPU.
    ready: Time,
    asleep: Time,
    /// Idle time of all CPUs together, and the total time.
    idle: Time,
    cpus: Time,
    charged: Time,
    transfers: u64,
    buckets: (u64, Time),
    switches: (u64, u64),
    migrations: u64,
}

impl Sums {
    fn of(rounds: &[Ran], cpus: usize) -> Self {
        let threads = || rounds.iter().flat_map(|round| &round.usages);
        let hot = rounds.iter().flat_map(|round| &round.hot);
        let buckets = || rounds.iter().map(|round| round.buckets);
        Self {
            spent: rounds
                .iter()
                .flat_map(|round| &round.spent)
                .fold(Spent::default(), |sum, spent| sum.plus(spent)),
            ready: threads().map(|usage| usage.ready).sum(),
            asleep: threads().map(|usage| usage.asleep).sum(),
            idle: rounds.iter().map(|round| round.idle).sum(),
            cpus: rounds.iter().map(|round| round.time * cpus as Time).sum(),
            charged: threads().map(|usage| usage.cpu).sum(),
            transfers: hot.map(|hot| hot.traffic.reads + hot.traffic.writes).sum(),
            buckets: (buckets().map(|it| it.0).sum(), buckets().map(|it| it.1).sum()),
            switches: (
                threads().map(|usage| usage.voluntary).sum(),
                threads().map(|usage| usage.involuntary).sum(),
            ),
            migrations: threads().map(|usage| usage.migrations).sum(),
        }
    }

    /// The shares of the threads' time, the greatest first; and the CPUs'.
    fn shares(&self) -> String {
        let whole = (self.spent.total() + self.ready + self.asleep).max(1) as f64;
        let doing = Doing::ALL.iter().map(|&(doing, word)| (word, self.spent.on(doing)));
        let waits = [("waits for a CPU", self.ready), ("sleeps", self.asleep)];
        let mut parts: Vec<_> = doing
            .chain(waits)
            .map(|(word, time)| (word, time as f64 / whole))
            .filter(|(_, share)| *share >= LEAST)
            .collect();
        parts.sort_by(|one, other| other.1.total_cmp(&one.1));
        let part = |(word, share): &(&str, f64)| format!("{word} {:.0} %", share * 100.0);
        let parts: Vec<String> = parts.iter().map(part).collect();
        let idle = 100.0 * self.idle as f64 / self.cpus.max(1) as f64;
        format!("{}; CPUs idle {idle:.0} %", parts.join(", "))
    }

    fn for_each_operation(&self, series: &Series) -> String {
        // The laboratory divides the same CPU time by the operations.
        let cpu = series.metric(CPU_PER_OP.name);
        let cpu = cpu.filter(|cpu| cpu.unit == Unit::Nanoseconds.word() && cpu.median > 0.0);
        let Some(cpu) = cpu else { return "not counted".to_owned() };
        let operations = (in_nanos(self.charged) as f64 / cpu.median).max(1.0);
        let each = |count: u64| format!("{:.2}", count as f64 / operations);
        let (voluntary, involuntary) = self.switches;
        format!(
            "{} transfers of lines, {} futex queue operations that waited {:.1} ns, {} sleeps, \
             {} preemptions, {} migrations",
            each(self.transfers),
            each(self.buckets.0),
            in_nanos(self.buckets.1) as f64 / operations,
            each(voluntary),
            each(involuntary),
            each(self.migrations),
        )
    }
}

/// The lines with the most time under way, over all rounds: each round has its own lines, which are
/// combined by rank.
fn lines(rounds: &[Ran]) -> String {
    let of = |hot: &Hot| hot.traffic.moved + hot.traffic.queued;
    let all: Time = rounds.iter().flat_map(|round| &round.hot).map(of).sum();
    let Some(first) = rounds.first() else { return String::new() };
    let mut words = Vec::new();
    for (place, hot) in first.hot.iter().take(LINES).enumerate() {
        let its: Time = rounds.iter().filter_map(|round| round.hot.get(place)).map(of).sum();
        let share = its as f64 / all.max(1) as f64;
        if share < LEAST {
            break;
        }
        let moves = hot.traffic.reads + hot.traffic.writes;
        let written = 100.0 * hot.traffic.writes as f64 / moves.max(1) as f64;
        words.push(format!("{} {:.0} % ({written:.0} % writes)", name(hot), share * 100.0));
    }
    if words.is_empty() { "no line moved".to_owned() } else { words.join(", ") }
}

/// The contents of a line.
fn name(hot: &Hot) -> &'static str {
    match (hot.in_table, hot.has_data) {
        (true, _) => "parking table",
        (_, true) => "data",
        // Everything else that simulated threads access belongs to locks, including nodes of their
        // queues.
        _ => "lock",
    }
}

/// Wraps words that may be longer than a line, indented after a label.
fn filled(label: &str, words: &str) -> String {
    let indent = " ".repeat(label.chars().count());
    let options = textwrap::Options::new(COLUMNS).initial_indent(label).subsequent_indent(&indent);
    textwrap::fill(words, options)
}
