//! Small traces from beginning to end: counts add up, and viewers can read the output.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ondeck_lab::environment::Placement;
use ondeck_lab::results::episode::{Cause, State};
use ondeck_lab::results::trace::{
    Clip, ClipSpan, ClipThread, Document, Episode, LockTrace, Owned, SCHEMA, Settings, Tally,
};
use ondeck_lab::team::{TeamError, TeamSetting};
use ondeck_lab::workload::Subject;
use ondeck_lab::{machine, now};
use ondeck_trace::{Request, Sight, Tracer, perfetto, text};
use serde_json::{Value, json};

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
        let drawn = found.clips.iter().filter(|clip| clip.run == episode.run);
        let around = |clip: &Clip| clip.from <= episode.from && episode.to <= clip.to;
        assert!(drawn.into_iter().any(around), "an episode is not drawn");
        assert!(tracer.sight() != Sight::Stamps || episode.threads[0].running == 0);
    }

    let whole = document(tracer.sight(), vec![found]);
    assert_eq!(faults(&perfetto::render(&whole)), Vec::<String>::new());
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

/// One idle of 30 µs that thread 1 ended.
fn by_hand() -> Document {
    let idle = Episode {
        run: 0,
        from: 1_000,
        to: 31_000,
        thread: 1,
        before: Some(0),
        passed: 0,
        alike: 0,
        cause: Cause::WakeUp,
        verdict: "no thread was \"awake\"".to_owned(),
        parts: Vec::new(),
        threads: Vec::new(),
    };
    let span = ClipSpan { from: 0, to: 40_000, state: State::Running, cpu: Some(1) };
    let thread = ClipThread { spans: vec![span], waits: vec![(900, 31_000)] };
    let clip = Clip {
        run_began: 500,
        to: 40_000,
        threads: vec![thread.clone(), thread],
        owners: vec![Owned { from: 0, to: 1_000, thread: Some(0), pairs: 3 }],
        ..Clip::default()
    };
    let lock = LockTrace {
        lock: "std".to_owned(),
        longest_idles: vec![idle],
        clips: vec![clip],
        ..LockTrace::default()
    };
    document(Sight::Machine, vec![lock])
}

#[test]
fn perfetto_s_events_are_those_of_the_document() {
    let rendered = perfetto::render(&by_hand());
    assert_eq!(faults(&rendered), Vec::<String>::new());
    let events: Value = serde_json::from_str(&rendered).expect("JSON");
    let of_kind = |kind: &str| {
        let all = events["traceEvents"].as_array().expect("events").iter();
        all.filter(|event| event["cat"] == kind && event["ph"] == "X").cloned().collect::<Vec<_>>()
    };
    let idles = of_kind("episode");
    assert_eq!(idles.len(), 1);
    assert_eq!((&idles[0]["ts"], &idles[0]["dur"]), (&json!(1.5), &json!(29.999_999)));
    assert_eq!(idles[0]["args"]["verdict"], "no thread was \"awake\"");
    assert_eq!((of_kind("thread").len(), of_kind("lock").len()), (2, 1));
}

#[test]
fn slices_that_meet_still_meet_when_a_viewer_adds_up() {
    let mut document = by_hand();
    let clip = &mut document.locks[0].clips[0];
    // Lengths in nanoseconds that have no exact decimals in microseconds.
    let spans = (0..1_000u64).map(|step| ClipSpan {
        from: step * 70_353,
        to: (step + 1) * 70_353,
        state: State::Running,
        cpu: Some(0),
    });
    clip.threads[0].spans = spans.collect();
    assert_eq!(faults(&perfetto::render(&document)), Vec::<String>::new());
}

/// The violations of the rules of Chrome's trace event format that a viewer relies on.
fn faults(rendered: &str) -> Vec<String> {
    let Ok(trace) = serde_json::from_str::<Value>(rendered) else {
        return vec!["not JSON".to_owned()];
    };
    let Some(events) = trace["traceEvents"].as_array() else {
        return vec!["no traceEvents".to_owned()];
    };
    let mut faults = Vec::new();
    let mut flows: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for event in events {
        let number = |key: &str| event[key].as_f64().filter(|number| number.is_finite());
        let whole = |key: &str| event[key].as_u64();
        let phase = event["ph"].as_str().unwrap_or_default();
        let mut fault = |what: &str| faults.push(format!("{what}: {event}"));
        if !event["name"].is_string() || !["X", "M", "s", "f"].contains(&phase) {
            fault("no name or phase");
        }
        if number("ts").is_none_or(|ts| ts < 0.0) {
            fault("no time");
        }
        if whole("pid").is_none() || whole("tid").is_none() {
            fault("no track");
        }
        match phase {
            "X" if number("dur").is_none_or(|dur| dur < 0.0) => fault("no duration"),
            "s" | "f" => match whole("id") {
                Some(id) => flows.entry(id).or_default().push(phase.to_owned()),
                None => fault("an arrow without a number"),
            },
            "M" if event["args"].as_object().is_none_or(serde_json::Map::is_empty) => {
                fault("metadata without a value");
            }
            _ => {}
        }
    }
    for (id, ends) in flows {
        if ends != ["s", "f"] {
            faults.push(format!("arrow {id} has {ends:?}"));
        }
    }
    faults.extend(overlaps(events));
    faults
}

/// Complete events of one track must be disjoint or nested; here they are disjoint.
fn overlaps(events: &[Value]) -> Vec<String> {
    let mut tracks: BTreeMap<(u64, u64), Vec<(f64, f64)>> = BTreeMap::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let track = (event["pid"].as_u64(), event["tid"].as_u64());
        let times = (event["ts"].as_f64(), event["dur"].as_f64());
        if let ((Some(process), Some(thread)), (Some(ts), Some(dur))) = (track, times) {
            tracks.entry((process, thread)).or_default().push((ts, dur));
        }
    }
    let mut faults = Vec::new();
    for (track, mut slices) in tracks {
        slices.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Viewers take the least overlap for nested slices, and each adds differently.
        let whole = |micros: f64| (micros * 1e3) as u64;
        let first = slices[0].0;
        let meets = |(ts, dur): (f64, f64), (next, _): (f64, f64)| {
            ts + dur <= next
                && (ts - first) + dur <= next - first
                && whole(ts) + whole(dur) <= whole(next)
        };
        if slices.windows(2).any(|pair| !meets(pair[0], pair[1])) {
            faults.push(format!("slices of track {track:?} overlap"));
        }
    }
    faults
}
