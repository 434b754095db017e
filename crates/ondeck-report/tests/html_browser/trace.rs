//! The page of a trace in a browser.

use ondeck_lab::results::episode::Cause;
use ondeck_lab::results::episode::Sight;
use ondeck_lab::results::episode::State;
use ondeck_lab::results::trace::{
    Class, Clip, ClipCpu, ClipSlice, ClipSpan, ClipThread, Document, Episode, LockTrace, Owned,
    Part, SCHEMA, Settings, Tally,
};
use ondeck_lab::results::{Build, Machine};
use ondeck_lab::schedstat::Account;
use ondeck_report::html::trace::render;

use super::{assert_fits, assert_quiet, chromium, probe, texts_of, visit, with_script};

/// A free lock whose next owner lacks a CPU from 2 ms to 22 ms, as 12 threads on 2 CPUs have it.
pub(super) fn sample() -> Document {
    let (from, to) = (2_000_000, 22_000_000);
    let span = |from, to, state| ClipSpan { from, to, state, cpu: Some(0) };
    let thread = |place: u64| ClipThread {
        spans: vec![
            span(0, from + place, State::Running),
            span(from + place, to - place, State::Queued),
            span(to - place, 27_000_000, State::Running),
        ],
        waits: vec![(from, to - place)],
        ..ClipThread::default()
    };
    let cpu = |number| ClipCpu {
        number,
        slices: vec![
            ClipSlice { from: 0, to: from, thread: Some(0), other: String::new() },
            ClipSlice { from, to, thread: None, other: "a-compiler".to_owned() },
        ],
    };
    let owned = |from, to, thread| Owned { from, to, thread: Some(thread), pairs: 1 };
    let clip = Clip {
        run: 0,
        run_began: 0,
        from: 0,
        to: 27_000_000,
        threads: (0..12).map(thread).collect(),
        cpus: vec![cpu(0), cpu(1)],
        owners: vec![owned(0, from, 0), owned(to, 27_000_000, 11)],
    };
    let episode = Episode {
        run: 0,
        from,
        to,
        thread: 11,
        before: Some(0),
        passed: 0,
        alike: 0,
        cause: Cause::QueuedCpuBusy,
        verdict: "thread 11 was ready and without a CPU for 20 ms (CPU 0 had `a-compiler` for \
                  20 ms)"
            .to_owned(),
        parts: vec![Part { cause: Cause::QueuedCpuBusy, nanos: to - from }],
        threads: Vec::new(),
    };
    let classes = vec![Class { cause: Cause::QueuedCpuBusy, count: 1, nanos: to - from }];
    let tally = Tally { count: 9, nanos: to - from, classes, ..Tally::default() };
    let lock = |name: &str| LockTrace {
        lock: name.to_owned(),
        runs: 1,
        nanos: 27_000_000,
        pairs: 10,
        account: Account::default(),
        idles: tally.clone(),
        waits: tally.clone(),
        longest_idles: vec![episode.clone()],
        longest_waits: vec![episode.clone()],
        clips: vec![clip.clone()],
        ..LockTrace::default()
    };
    Document {
        schema: SCHEMA,
        kind: "ondeck trace".to_owned(),
        started: "2026-01-02T03:04:05Z".to_owned(),
        partial: false,
        build: Build::default(),
        machine: Machine::default(),
        settings: Settings { threads: 12, pairs: 16_384, ..Settings::default() },
        sight: Sight::Machine,
        refused: Vec::new(),
        warnings: Vec::new(),
        stamp_nanos: 85.0,
        failures: Vec::new(),
        locks: vec![lock("ticket_spinlock"), lock("lockless_four_state")],
    }
}

#[test]
fn a_trace_opens_without_a_request_or_a_word_on_the_console() {
    let Some(browser) = chromium() else { return };
    let visit = visit(&browser, &render(&sample()), &["--host-resolver-rules=MAP * ~NOTFOUND"]);
    assert_quiet(&visit);
    let texts = texts_of(&visit.dom, "timeline-ticket-spinlock-idle");
    for text in ["lock", "thread 0", "thread 11", "CPU 1", "20.0 ms"] {
        assert!(texts.contains(&text), "no text {text}: {texts:?}");
    }
}

#[test]
fn a_trace_is_readable_on_a_phone_and_on_a_desk() {
    let Some(browser) = chromium() else { return };
    let page = render(&sample());
    for width in [360, 1200] {
        let found = probe(&browser, &page, Some(width), &["--window-size=1300,900"]);
        assert_fits(&found, width, 4);
    }
}

#[test]
fn the_probe_sees_what_is_wrong_with_a_trace() {
    let Some(browser) = chromium() else { return };
    let page = render(&sample());
    let huge = page.replace("</style>", "svg text{font-size:30px}figure{width:1500px}</style>");
    let found = probe(&browser, &huge, Some(360), &["--window-size=1300,900"]);
    let texts = found["found"].to_string();
    assert!(texts.contains("is clipped") && texts.contains("lies on"), "{texts}");
    assert!(found["page"].as_u64() > Some(360), "{found}");
    let noisy = with_script(&page, "console.error('a canary')");
    assert!(visit(&browser, &noisy, &[]).log.contains("a canary"));
}
