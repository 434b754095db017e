//! The timeline of one lock in one situation, by the simulated machine's own events: what `--trace` writes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::slice;
use std::time::Duration;

use ondeck_lab::machine;
use ondeck_lab::plan::{Request, Stage};
use ondeck_lab::results::episode::{ClipWay, Nanos, Sight};
use ondeck_lab::results::trace::{Document, LockTrace, SCHEMA, SIMULATED, Settings};
use ondeck_lab::results::{Failure, Simulated, episode};
use ondeck_lab::run::{self, Observer};
use ondeck_lab::schedstat::Account;
use ondeck_lab::workload::NO_LOCK;
use ondeck_sim::engine::{self, Ran, State, Watched, Way, time};
use ondeck_sim::lab::{self, Chosen};
use ondeck_sim::machine::Spec;
use ondeck_trace::timeline::{Cpu, Pair, Ran as Had, Slice, Span, Thread, Timeline};
use ondeck_trace::{computed, perfetto, text};

use super::sweep::Variant;
use super::why;
use crate::ending::Error;
use crate::files::{Prepared, Written};
use crate::session;

/// More runs are simulated and not watched.
const MOST_RUNS: usize = 10;

/// How many of the longest idles, and of the longest waits, are shown.
const LONGEST: usize = 4;

/// What a trace is written as.
#[derive(Clone, Copy)]
pub(super) enum Format {
    Perfetto,
    Json,
}

impl Format {
    /// By the end of the file's name.
    fn of(path: &Path) -> Result<Self, Error> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let ends = [(".perfetto.json", Self::Perfetto), (".json", Self::Json)];
        let found = ends.into_iter().find(|(end, _)| name.ends_with(end));
        found.map(|(_, format)| format).ok_or_else(|| {
            Error::Usage(format!(
                "--trace cannot tell what to write from the name {}: let it end with \
                 .perfetto.json for ui.perfetto.dev, or .json for all numbers",
                path.display()
            ))
        })
    }
}

/// Makes sure of every file that is named.
pub(super) fn prepare(paths: &[PathBuf]) -> Result<Prepared<Format>, Error> {
    let formats: Result<Vec<_>, Error> = paths.iter().map(|path| Format::of(path)).collect();
    let wanted = formats?.into_iter().zip(paths.iter().map(|path| Some(path.as_path())));
    Prepared::of(wanted)
}

/// One lock in one situation, on one machine.
pub(super) struct Subject<'a> {
    variant: &'a Variant,
    /// With the lock as it is watched.
    stage: Stage,
    chosen: Chosen,
}

/// What a run of these stages is about, if that is one lock in one situation.
pub(super) fn only<'a>(stages: &[(&'a Variant, Stage)]) -> Result<Subject<'a>, Error> {
    let measured: Vec<_> = stages.iter().filter(|(_, stage)| !stage.baseline).collect();
    let [(variant, stage)] = measured[..] else { return Err(too_many(&measured)) };
    let locks: Vec<_> = locks_of(stage).collect();
    let [subject] = locks[..] else { return Err(too_many(&measured)) };
    let Some(chosen) = Chosen::named(subject.info.name) else {
        return Err(Error::Usage(format!(
            "--trace is of a mutex, and `{}` is a {}; leave --trace out, or give a mutex and one of its \
             workloads",
            subject.info.name, subject.kind
        )));
    };
    let stage = Stage { subjects: vec![chosen.subject()], ..stage.clone() };
    Ok(Subject { variant, stage, chosen })
}

/// The locks of a stage, without the one that does nothing.
fn locks_of(stage: &Stage) -> impl Iterator<Item = &ondeck_lab::workload::Subject> {
    stage.subjects.iter().filter(|subject| subject.info.name != NO_LOCK)
}

/// More values than this are counted and not named.
const MOST_NAMED: usize = 4;

/// What there is more than one of, and what to do.
fn too_many(stages: &[&(&Variant, Stage)]) -> Error {
    let mut several = Vec::new();
    let mut say = |what: &str, values: BTreeSet<String>, option: &str| {
        if values.len() > MOST_NAMED {
            several.push(format!("{} values of {what} (choose with {option})", values.len()));
        } else if values.len() > 1 {
            let values = Vec::from_iter(values).join(" or ");
            several.push(format!("{what} {values} (choose with {option})"));
        }
    };
    let stage = || stages.iter().map(|(_, stage)| stage);
    let locks = stage().flat_map(locks_of);
    say("locks", locks.map(|lock| lock.info.name.to_owned()).collect(), "--locks");
    say("workloads", stage().map(|stage| stage.workload.name.to_owned()).collect(), "--workloads");
    say("threads", stage().map(|stage| stage.threads.to_string()).collect(), "--threads");
    let works = stage().map(|stage| format!("{},{}", stage.work.0, stage.work.1));
    say("work", works.collect(), "--work");
    let mut params: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in stage().flat_map(|stage| &stage.params) {
        if !["section_ns", "outside_ns"].contains(&&**name) {
            params.entry(name).or_default().insert(value.clone());
        }
    }
    for (name, values) in params {
        let option = if name.contains('.') { "--sweep" } else { "--workloads and its options" };
        say(name, values, option);
    }
    let several = if several.is_empty() { "no lock in it".to_owned() } else { several.join("; ") };
    Error::Usage(format!("--trace is of one lock in one situation, and this run has {several}"))
}

/// What the command was asked for.
pub(super) struct Asked<'a> {
    pub(super) request: &'a Request,
    pub(super) spec: &'a Spec,
    pub(super) simulated: Simulated,
}

/// Simulates the subject once more, watched, and says what was seen.
pub(super) fn simulate(subject: &Subject<'_>, asked: Asked<'_>) -> Document {
    let Asked { request, spec, simulated } = asked;
    let Subject { variant, stage, chosen } = subject;
    let (results, rounds) = lab::with_watched(&variant.setup, *chosen, MOST_RUNS, || {
        let results = run::run(request, slice::from_ref(stage), &mut Silent);
        (results, lab::take_rounds())
    });
    let watched: Vec<(&Ran, &Watched)> =
        rounds.iter().filter_map(|ran| Some((ran, ran.watched.as_ref()?))).collect();
    let runs = watched.iter().map(|(_, watched)| timeline(watched, variant.cpus())).collect();
    let lock = LockTrace {
        account: account(&watched),
        cut_runs: watched.iter().filter(|(_, watched)| watched.full_at.is_some()).count(),
        ..computed::explain(stage.subjects[0].info.name, runs, LONGEST)
    };
    let placement = stage.conditions.first().map(|condition| condition.placement.clone());
    let placement = placement.unwrap_or_default();
    let threads = watched.iter().map(|(_, watched)| watched.threads.len()).max();
    Document {
        schema: SCHEMA,
        kind: SIMULATED.to_owned(),
        started: ondeck_lab::now(),
        partial: results.cancelled,
        build: machine::build(),
        machine: super::machine::describe(spec),
        settings: Settings {
            command: session::command_line(),
            threads: threads.unwrap_or(stage.threads),
            runs: stage.turns,
            section_nanos: stage.work.0,
            outside_nanos: stage.work.1,
            pinning: placement.pinning.to_string(),
            policy: placement.policy.to_string(),
            least_nanos: computed::LEAST,
            simulated: Some(simulated),
            situation: results.series.first().map(why::situation).unwrap_or_default(),
            ..Settings::default()
        },
        sight: Sight::Machine,
        refused: Vec::new(),
        warnings: Vec::new(),
        stamp_nanos: 0.0,
        failures: results.failures,
        locks: if lock.runs == 0 { Vec::new() } else { vec![lock] },
    }
}

/// What the terminal is shown of it.
pub(super) fn text(document: &Document) -> String {
    format!("\n{}", text::render(document))
}

/// Writes the files.
pub(super) fn write(prepared: Prepared<Format>, document: &Document) -> Written {
    prepared.write_by(|format| match format {
        Format::Json => serde_json::to_string_pretty(document)
            .map(|text| text + "\n")
            .map_err(|error| error.to_string()),
        Format::Perfetto => Ok(perfetto::render(document)),
    })
}

/// The same was told of before, when it was not watched.
struct Silent;

impl Observer for Silent {
    fn turn(&mut self, _: &Stage, _: &str, _: Duration) {}
    fn failed(&mut self, _: &Failure) {}
}

fn account(runs: &[(&Ran, &Watched)]) -> Account {
    let usages = || runs.iter().flat_map(|(ran, _)| &ran.usages);
    let sum = |of: fn(&engine::Usage) -> u64| usages().map(of).sum::<u64>();
    Account {
        run_nanos: time::in_nanos(sum(|usage| usage.cpu)),
        queued_nanos: time::in_nanos(sum(|usage| usage.ready)),
        slices: sum(|usage| usage.voluntary + usage.involuntary),
        voluntary: sum(|usage| usage.voluntary),
        involuntary: sum(|usage| usage.involuntary),
    }
}

/// A run as traces have it, from the first time that a thread wants the lock, and its length. If a workload has several
/// locks, it is the one that was acquired most often.
fn timeline(watched: &Watched, cpus: usize) -> (Timeline, Nanos) {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for pair in watched.threads.iter().flat_map(|thread| &thread.pairs) {
        *counts.entry(pair.lock).or_default() += 1;
    }
    // Of equal ones that with the lowest address.
    let most = counts.iter().max_by_key(|&(&lock, &count)| (count, std::cmp::Reverse(lock)));
    let lock = most.map(|(&lock, _)| lock);
    let of_lock = |pair: &&engine::Pair| Some(pair.lock) == lock;
    let pairs = || watched.threads.iter().flat_map(|thread| &thread.pairs).filter(of_lock);
    let begin = pairs().map(|pair| pair.wanted).min().unwrap_or(0);
    let last = pairs().map(|pair| pair.freed).max().unwrap_or(begin);
    let end = watched.full_at.map_or(last, |full| full.min(last));
    let nanos = |at: time::Time| time::in_nanos(at.clamp(begin, end)) - time::in_nanos(begin);
    let length = nanos(end);
    let thread = |course: &engine::Course| Thread {
        pairs: course
            .pairs
            .iter()
            .filter(of_lock)
            .map(|pair| Pair {
                wanted: nanos(pair.wanted),
                acquired: nanos(pair.acquired),
                released: nanos(pair.released),
                freed: nanos(pair.freed),
                cpu: pair.cpu as u32,
            })
            .collect(),
        spans: course
            .spans
            .iter()
            .map(|span| Span {
                from: nanos(span.from),
                to: nanos(span.to),
                state: state(span.state),
                cpu: Some(span.cpu as u32),
            })
            .filter(|span| span.from < span.to)
            .collect(),
        ways: course
            .waits
            .iter()
            .filter(|wait| Some(wait.lock) == lock)
            .map(|wait| ClipWay { from: nanos(wait.from), to: nanos(wait.to), way: way(wait.way) })
            .filter(|way| way.from < way.to)
            .collect(),
    };
    let threads: Vec<Thread> = watched.threads.iter().map(thread).collect();
    let cpus = (0..cpus).map(|cpu| of_cpu(cpu as u32, &threads, length)).collect();
    (Timeline { threads, cpus, seen_until: length }, length)
}

fn state(state: State) -> episode::State {
    match state {
        State::Running => episode::State::Running,
        State::Ready => episode::State::Queued,
        // A thread that is done has no spans.
        State::Asleep | State::Done => episode::State::Asleep,
    }
}

fn way(way: Way) -> episode::Way {
    match way {
        Way::Polls => episode::Way::Polls,
        Way::Near => episode::Way::Near,
        Way::Parked => episode::Way::Parked,
        Way::InFlight => episode::Way::InFlight,
    }
}

/// What a CPU ran, by what its threads did.
fn of_cpu(number: u32, threads: &[Thread], end: Nanos) -> Cpu {
    let mut ran: Vec<Slice> = Vec::new();
    for (thread, its) in threads.iter().enumerate() {
        let here = |span: &&Span| span.state == episode::State::Running && span.cpu == Some(number);
        ran.extend(its.spans.iter().filter(here).map(|span| Slice {
            from: span.from,
            to: span.to,
            ran: Had::Thread(thread),
        }));
    }
    ran.sort_by_key(|slice| slice.from);
    let mut slices: Vec<Slice> = Vec::with_capacity(2 * ran.len() + 1);
    let mut until = 0;
    for slice in ran {
        if until < slice.from {
            slices.push(Slice { from: until, to: slice.from, ran: Had::Nothing });
        }
        until = slice.to;
        slices.push(slice);
    }
    if until < end {
        slices.push(Slice { from: until, to: end, ran: Had::Nothing });
    }
    Cpu { number, slices }
}
