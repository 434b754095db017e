//! The timelines of the worst idles.

use ondeck_lab::results::IdleTimeline;
use ondeck_lab::results::episode::{
    Cause, Clip, ClipCpu, ClipSpan, ClipThread, Episode, Owned, Sight, State,
};

use super::rendered;
use crate::support::sample;

/// A lock that stood free for 20 ms, of what a thread and a CPU did.
fn idle_timeline(lock: &str, from: u64, to: u64) -> IdleTimeline {
    let span = ClipSpan { from, to, state: State::Queued, cpu: Some(1) };
    IdleTimeline {
        lock: lock.to_owned(),
        threads: 16,
        runs: 2,
        sight: Sight::Machine,
        episode: Episode {
            run: 1,
            from,
            to,
            thread: 0,
            before: None,
            passed: 0,
            alike: 0,
            cause: Cause::QueuedCpuBusy,
            verdict: format!("thread 0 was ready beside {lock}"),
            parts: Vec::new(),
            threads: Vec::new(),
        },
        clip: Clip {
            run: 1,
            from,
            to,
            threads: vec![ClipThread {
                spans: vec![span],
                waits: vec![(from, to)],
                ..ClipThread::default()
            }],
            cpus: vec![ClipCpu { number: 1, slices: Vec::new() }],
            owners: vec![Owned { from, to, thread: Some(77), pairs: 1 }],
            ..Clip::default()
        },
    }
}

#[test]
fn the_worst_idle_of_each_lock_has_a_timeline_and_its_cause() {
    let without = rendered(&sample());
    assert!(!without.contains("the worst idle of each lock"));
    let mut report = sample();
    report.idle_timelines =
        vec![idle_timeline("std", 5, 1_005), idle_timeline("mcs", 7, 20_000_007)];
    let html = rendered(&report);
    let place = |text: &str| html.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(place("fig-idle-timeline-0-mcs") < place("fig-idle-timeline-1-std"), "the worst first");
    for text in [
        Cause::QueuedCpuBusy.words(),
        "Thread 0 was ready beside mcs",
        "mcs, 16 threads: the worst idle: 20.0 ms",
    ] {
        assert!(html.contains(text), "no {text}");
    }
    assert!(!html.contains("refused the scheduler") && !html.contains("left out"));
    report.idle_timelines[0].clip.threads.push(ClipThread::default());
    assert!(rendered(&report).contains("A thread that did nothing meanwhile is left out"));
    report.idle_timelines[0].sight = Sight::OwnSwitches;
    assert!(rendered(&report).contains("refused the scheduler"));
}

#[test]
fn times_that_make_no_sense_are_drawn_somehow() {
    for (from, to) in [(10, 5), (0, u64::MAX), (u64::MAX, u64::MAX), (0, 0)] {
        let mut report = sample();
        report.idle_timelines = vec![idle_timeline("<b>", from, to)];
        let html = rendered(&report);
        assert!(!html.contains("<b>"), "{from} to {to}");
        // Another episode than its clip shows.
        report.idle_timelines[0].clip.to = 1;
        let _ = rendered(&report);
    }
}
