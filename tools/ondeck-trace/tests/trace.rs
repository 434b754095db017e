//! Small traces from beginning to end: counts add up, and the output can be read.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ondeck_lab::environment::Placement;
use ondeck_lab::results::trace::{Document, Episode, LockTrace, SCHEMA, Settings, Tally};
use ondeck_lab::team::{TeamError, TeamSetting};
use ondeck_lab::workload::Subject;
use ondeck_lab::{machine, now};
use ondeck_trace::{Request, Sight, Tracer, text};

const THREADS: usize = 3;
const PAIRS: u32 = 2_000;
const RUNS: usize = 2;

fn request(cancel: &Arc<AtomicBool>) -> Request {
    Request {
        team: TeamSetting {
            threads: THREADS,
            placement: Placement::default(),
            stall_limit: Duration::from_mins(1),
            cancel: Arc::clone(cancel),
        },
        runs: RUNS,
        duration: Duration::from_hours(1),
        pairs: PAIRS,
        section_nanos: 0,
        outside_nanos: 0,
        longest_idles: 3,
        longest_waits: 3,
    }
}

fn lock(name: &str) -> Subject {
    Subject::all().into_iter().find(|lock| lock.info.name == name).expect("a lock of that name")
}

fn document(sight: Sight, locks: Vec<LockTrace>) -> Document {
    Document {
        schema: SCHEMA,
        kind: "ondeck trace".to_owned(),
        started: now(),
        partial: false,
        build: machine::build(None),
        machine: machine::describe(),
        settings: Settings { threads: THREADS, pairs: PAIRS, ..Settings::default() },
        sight,
        refused: Vec::new(),
        warnings: Vec::new(),
        stamp_nanos: 40.0,
        failures: Vec::new(),
        locks,
    }
}

fn assert_adds_up(tally: &Tally, longest: &[Episode]) {
    let verdicts: u64 = tally.classes.iter().map(|class| class.count).sum();
    assert_eq!(verdicts + tally.short_count, tally.count, "each has one verdict");
    let explained: u64 = tally.classes.iter().map(|class| class.nanos).sum();
    assert_eq!(explained + tally.short_nanos, tally.nanos, "each moment has one cause");
    assert!(longest.is_sorted_by(|a, b| a.to - a.from >= b.to - b.from));
    for episode in longest {
        let parts: u64 = episode.parts.iter().map(|part| part.nanos).sum();
        assert_eq!(parts, episode.to - episode.from);
        assert_eq!(episode.parts[0].cause, episode.cause);
        assert!(!episode.verdict.is_empty() && episode.thread < THREADS);
        for doing in &episode.threads {
            let known = doing.running + doing.queued + doing.asleep;
            assert_eq!(known + doing.unknown, episode.to - episode.from);
        }
        let passed: u64 = episode.threads.iter().map(|doing| doing.acquired).sum();
        assert_eq!(passed, episode.passed);
    }
}

#[test]
fn a_small_trace_adds_up_with_whatever_the_kernel_tells() {
    let mut tracer = Tracer::new(request(&Arc::default()));
    let is_narrowed = tracer.sight() != Sight::Machine;
    assert!(!is_narrowed || !tracer.refused().is_empty(), "a refusal has its words");
    let mut watched = 0;
    let (found, failed) = tracer.trace(&lock("std"), |_| watched += 1);
    assert_eq!((failed, watched, found.runs), (None, RUNS, RUNS));
    let pairs = (RUNS * THREADS) as u64 * u64::from(PAIRS);
    assert!(found.pairs == pairs || found.cut_runs > 0, "{} pairs", found.pairs);
    assert_eq!(found.waits.count, found.pairs, "each acquisition was a wait");
    assert_eq!(found.idles.count, found.pairs - RUNS as u64, "and all but the first an idle");
    assert_adds_up(&found.idles, &found.longest_idles);
    assert_adds_up(&found.waits, &found.longest_waits);
    for episode in found.longest_idles.iter().chain(&found.longest_waits) {
        assert!(tracer.sight() != Sight::Stamps || episode.threads[0].running == 0);
    }

    let whole = document(tracer.sight(), vec![found]);
    let text = text::render(&whole);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let again: Document =
        serde_json::from_str(&serde_json::to_string(&whole).expect("JSON")).expect("the same");
    assert_eq!(again.locks[0].idles, whole.locks[0].idles);
}

#[test]
fn a_cancelled_trace_keeps_what_it_has() {
    let cancel = Arc::default();
    let mut tracer = Tracer::new(request(&cancel));
    let (found, failed) = tracer.trace(&lock("std"), |run| {
        cancel.store(run == 1, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!((found.runs, failed), (1, Some(TeamError::Cancelled)));
    assert_adds_up(&found.idles, &found.longest_idles);
}

#[test]
fn stamps_have_a_cost() {
    let tracer = Tracer::new(request(&Arc::default()));
    assert!(tracer.stamp_cost().expect("one thread can be made").is_finite());
}
