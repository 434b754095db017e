//! The HTML report, without a browser: its structure, its names, and odd input.

use std::collections::{BTreeMap, BTreeSet};

use ondeck_lab::report::html::render;
use ondeck_lab::results::{
    Baseline, Better, Cost, Distribution, Evidence, Failure, IdleTimeline, Metric, Report, Series,
    Warning,
};
use ondeck_lab::trace::Sight;
use ondeck_lab::trace::cause::Cause;
use ondeck_lab::trace::document::{Clip, ClipCpu, ClipSpan, ClipThread, Episode, Owned};
use ondeck_lab::trace::timeline::State;

fn sample() -> Report {
    serde_json::from_str(include_str!("data/sample-report.json")).expect("the sample is valid")
}

/// Fails unless elements are closed in the order in which they were opened.
fn assert_well_formed(html: &str) {
    const VOID: [&str; 4] = ["meta", "link", "br", "input"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').expect("a tag ends");
        let tag = &rest[..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split_whitespace().next().unwrap_or("");
        if tag.starts_with('!') || tag.ends_with('/') || VOID.contains(&name) {
            continue;
        }
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes another element");
        } else {
            assert!(name.starts_with(|c: char| c.is_ascii_alphabetic()), "<{tag}> is no element");
            open.push(name);
        }
        if ["style", "script"].contains(&name) && !tag.starts_with('/') {
            rest = &rest[rest.find(&format!("</{name}")).expect("it ends")..];
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
}

fn assert_ids_are_unique(html: &str) {
    let mut seen = BTreeSet::new();
    for part in html.split(" id=\"").skip(1) {
        let id = part.split('"').next().expect("an id ends");
        assert!(!id.is_empty(), "an id is empty");
        assert!(seen.insert(id), "{id} appears twice");
    }
}

fn rendered(report: &Report) -> String {
    let html = render(report);
    assert!(html.starts_with("<!DOCTYPE html>"));
    assert_well_formed(&html);
    assert_ids_are_unique(&html);
    let (page, _script) = html.split_once("<script>").expect("the page's script");
    for word in ["NaN", "inf\"", "-inf"] {
        assert!(!page.contains(word), "{word} is on the page");
    }
    html
}

#[test]
fn the_sample_has_every_section_and_every_lock() {
    let report = sample();
    let html = rendered(&report);
    for series in &report.series {
        assert!(html.contains(&series.lock), "{} is missing", series.lock);
    }
    for id in [
        "machine",
        "workload-uncontended",
        "workload-throughput",
        "workload-wait",
        "workload-idle",
        "costs",
        "locks",
        "settings",
        "glossary",
    ] {
        assert!(html.contains(&format!("<section id=\"{id}\"")), "no section {id}");
        assert!(html.contains(&format!("href=\"#{id}\"")), "no link to {id}");
    }
    for warning in &report.warnings {
        assert!(html.contains(&warning.message) && html.contains(&warning.fix));
    }
    for failure in &report.failures {
        assert!(html.contains(&failure.message) && html.contains(&failure.lock));
    }
}

#[test]
fn every_figure_says_what_it_shows() {
    let html = rendered(&sample());
    let figures: Vec<&str> = html.split("<figure ").skip(1).collect();
    assert_eq!(figures.len(), 1 + 2 * 3 + 2 + 1);
    for figure in figures {
        let figure = figure.split("</figure>").next().expect("a figure ends");
        assert!(figure.starts_with("id=\"fig-"), "{figure:.80}");
        for part in ["<figcaption>", "role=\"img\"", "aria-label=\"", ">measured<", "<svg "] {
            assert!(figure.contains(part), "no {part} in {figure:.80}");
        }
        assert!(figure.contains("better"), "no direction in {figure:.80}");
    }
}

#[test]
fn simulated_numbers_are_marked() {
    let html = rendered(&Report { evidence: Evidence::Simulated, ..sample() });
    assert!(html.contains(">simulated<"));
    assert!(!html.contains(">measured<"));
}

#[test]
fn nothing_is_fetched() {
    let html = rendered(&sample());
    let html = html.replace("http://www.w3.org/2000/svg", "");
    for word in [
        "http://",
        "https://",
        "src=",
        "@import",
        "url(",
        "<script ",
        "<iframe",
        "<object",
        "fetch(",
        "import(",
        "XMLHttpRequest",
    ] {
        assert!(!html.contains(word), "{word} is on the page");
    }
    assert_eq!(html.matches("<script>").count(), 1, "the page's own script and no other");
    assert!(html.contains("script-src 'sha256-"), "any script may run");
    for link in html.split("href=\"").skip(1) {
        assert!(link.starts_with('#') || link.starts_with("data:,"), "{link:.60}");
    }
}

#[test]
fn names_are_text_and_not_markup() {
    const EVIL: &str = "<script>alert(\"1\" & '2')</script>";
    let mut report = sample();
    report.machine.cpu = EVIL.to_owned();
    report.settings.command = format!("ondeck --name '{EVIL}' </code></pre>");
    for series in &mut report.series {
        if series.lock == "nsync" {
            series.lock = EVIL.to_owned();
            series.params.insert(EVIL.to_owned(), EVIL.to_owned());
        }
    }
    let mut odd = report.series[0].clone();
    odd.workload = EVIL.to_owned();
    odd.metrics[0].name = EVIL.to_owned();
    odd.metrics[0].unit = EVIL.to_owned();
    report.series.push(odd);
    report.costs[0].operation = EVIL.to_owned();
    report.costs[0].group = EVIL.to_owned();
    report.costs[1].refused = Some(EVIL.to_owned());
    report.locks[0].source = EVIL.to_owned();
    report.warnings[0].code = EVIL.to_owned();
    report.failures[0].thread_states.push(EVIL.to_owned());
    let html = rendered(&report);
    assert!(!html.contains("<script>alert"));
    assert!(html.contains("&lt;script&gt;"));
}

fn metric(name: &str, unit: &str, better: Better, value: f64) -> Metric {
    Metric {
        name: name.to_owned(),
        unit: unit.to_owned(),
        better,
        median: value,
        p25: value * 0.9,
        p75: value * 1.1,
        min: value * 0.8,
        max: value * 1.2,
        n: 5,
        samples: vec![value; 5],
    }
}

fn series(workload: &str, lock: &str, threads: usize, metrics: Vec<Metric>) -> Series {
    Series {
        workload: workload.to_owned(),
        lock: lock.to_owned(),
        threads,
        params: BTreeMap::new(),
        partial: false,
        cut_runs: 0,
        round_milliseconds: None,
        metrics,
        distribution: None,
    }
}

fn with(series: Vec<Series>) -> Report {
    Report { series, costs: vec![], locks: vec![], warnings: vec![], failures: vec![], ..sample() }
}

#[test]
fn an_empty_report_is_a_page() {
    let mut report = with(vec![]);
    report.machine = ondeck_lab::results::Machine::default();
    report.build = ondeck_lab::results::Build::default();
    report.settings = ondeck_lab::results::Settings::default();
    report.partial = true;
    report.seconds = f64::NAN;
    report.started = String::new();
    let html = rendered(&report);
    assert!(html.contains("Interrupted"));
}

#[test]
fn odd_values_do_no_harm() {
    let odd =
        [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, 5e-324, 1e-12, 42.0, 42.0];
    let kinds = [
        ("pair", "ns"),
        ("throughput", "ops/s"),
        ("longest", "ms"),
        ("run", "ms"),
        ("share", "ratio"),
        ("cpu_per_op", "ns"),
        ("switches", "1/op"),
        ("", ""),
        ("é", "s"),
    ];
    for workload in ["uncontended", "throughput", "wait", "idle", "capture", ""] {
        for (name, unit) in kinds {
            let all = odd.iter().enumerate().map(|(index, value)| {
                let metrics = vec![metric(name, unit, Better::Lower, *value)];
                series(workload, &format!("lock{}", index / 3), index % 3 * 4, metrics)
            });
            rendered(&with(all.collect()));
        }
    }
}

#[test]
fn missing_metrics_and_single_threads_do_no_harm() {
    for workload in ["uncontended", "throughput", "wait", "idle", "chan"] {
        rendered(&with(vec![series(workload, "one", 1, vec![])]));
        let found = rendered(&with(vec![series(
            workload,
            "one",
            7,
            vec![metric("throughput", "ops/s", Better::Higher, 5e6)],
        )]));
        assert!(found.contains("one"));
        let mixed = vec![
            series(workload, "one", 2, vec![metric("throughput", "ops/s", Better::Higher, 5e6)]),
            series(workload, "two", 4, vec![metric("share", "ratio", Better::Higher, 0.5)]),
            series(workload, "", 0, vec![metric("x", "y", Better::Neither, 0.5)]),
            series(workload, "one", 2, vec![metric("throughput", "ops/s", Better::Higher, 6e6)]),
        ];
        rendered(&with(mixed));
    }
}

#[test]
fn a_ratio_above_one_has_room_on_its_axis() {
    let slowdown = |lock, value| {
        series("bystander", lock, 8, vec![metric("slowdown", "ratio", Better::Lower, value)])
    };
    let html = rendered(&with(vec![slowdown("a", 1.0), slowdown("b", 4.0)]));
    let figure = html.split("id=\"fig-bystander-slowdown\"").nth(1).expect("the figure");
    let figure = figure.split("</figure>").next().expect("its end");
    assert!(figure.contains(">3</text>"), "the axis ends before 4: {figure}");
}

#[test]
fn odd_distributions_do_no_harm() {
    let times = |min_ns, max_ns, buckets: &[(u64, u64)]| Distribution {
        what: "wait".to_owned(),
        count: 3,
        min_ns,
        max_ns,
        percentiles: vec![(50.0, 0), (f64::NAN, 3)],
        buckets: buckets.to_vec(),
    };
    let all = [
        times(0, 0, &[]),
        times(0, 0, &[(0, 0)]),
        times(0, 0, &[(0, 5)]),
        times(5, 5, &[(5, 1)]),
        times(u64::MAX, 1, &[(7, 0), (3, u64::MAX), (3, u64::MAX), (u64::MAX, u64::MAX)]),
        times(1, u64::MAX, &[(u64::MAX, 1)]),
    ];
    for each in &all {
        let mut one = series("wait", "one", 16, vec![]);
        one.distribution = Some(each.clone());
        rendered(&with(vec![one]));
    }
    let together = all.iter().enumerate().map(|(index, each)| {
        let mut one = series("idle", &format!("lock{index}"), 16, vec![]);
        one.distribution = Some(each.clone());
        one
    });
    rendered(&with(together.collect()));
}

#[test]
fn odd_costs_do_no_harm() {
    let cost = |median, refused: Option<&str>| Cost {
        group: "g".to_owned(),
        operation: "o".to_owned(),
        median,
        p25: f64::NAN,
        p75: f64::INFINITY,
        n: 0,
        refused: refused.map(str::to_owned),
    };
    for costs in [
        vec![cost(0.0, None)],
        vec![cost(0.0, Some("no"))],
        vec![cost(f64::NAN, None), cost(-1.0, None), cost(1e300, None), cost(3.0, None)],
    ] {
        rendered(&Report { costs, ..with(vec![]) });
    }
}

#[test]
fn forty_locks_are_all_named() {
    let names: Vec<String> =
        (0..40).map(|index| format!("family.lock_number_{index:02}")).collect();
    let mut all = Vec::new();
    for (index, name) in names.iter().enumerate() {
        for threads in [1, 2, 4] {
            let value = 1e6 * (index + threads) as f64;
            let metrics = vec![metric("throughput", "ops/s", Better::Higher, value)];
            all.push(series("throughput", name, threads, metrics));
        }
    }
    let html = rendered(&with(all));
    for name in &names {
        assert!(html.contains(name.as_str()), "{name} is missing");
    }
    assert!(html.contains("30 of 40 locks are thin and grey"));
    assert!(html.contains("30 others in grey"));
}

#[test]
fn many_warnings_and_failures_are_all_shown() {
    let mut report = with(vec![]);
    for index in 0..20 {
        report.warnings.push(Warning {
            code: format!("code_{index}"),
            message: format!("message {index}."),
            fix: String::new(),
        });
        report.failures.push(Failure {
            workload: "throughput".to_owned(),
            lock: format!("lock {index}"),
            threads: index,
            kind: "refused".to_owned(),
            message: String::new(),
            thread_states: vec![],
        });
    }
    let html = rendered(&report);
    assert!(html.contains("message 19.") && html.contains("lock 19"));
}

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
            threads: vec![ClipThread { spans: vec![span], waits: vec![(from, to)] }],
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

#[test]
fn what_an_empty_lock_costs_is_on_the_page() {
    let baseline = |workload: &str, missing: Option<&str>| Baseline {
        workload: workload.to_owned(),
        params: BTreeMap::from([("app".to_owned(), "lru".to_owned())]),
        threads: 1,
        median: 12.5,
        p25: 12.0,
        p75: 13.0,
        n: 3,
        missing: missing.map(str::to_owned),
    };
    assert!(!rendered(&sample()).contains("<section id=\"harness\""));
    let mut report = sample();
    report.baselines = vec![baseline("real", None), baseline("condvar", Some("nobody waits"))];
    let html = rendered(&report);
    let section = html.split("<section id=\"harness\"").nth(1).expect("the section");
    let section = section.split("</section>").next().expect("it ends");
    for text in ["Programs", "app lru", "12.5 ns", "12.0–13.0", "Condition variable: nobody waits"]
    {
        assert!(section.contains(text), "no {text} in {section}");
    }
}
