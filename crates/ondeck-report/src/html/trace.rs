//! The page of a trace: what was found, and a timeline of the worst idle and the worst wait of each
//! lock.

use maud::{Markup, html};
use ondeck_lab::results::Evidence;
use ondeck_lab::results::episode::{Nanos, State, Way};
use ondeck_lab::results::trace::{
    Clip, ClipCpu, ClipThread, Document, Episode, LockTrace, Tally, WayTime,
};

use super::canvas::{self, Canvas, Side, Width};
use super::figure::{Caption, Span, figure, slug, tag};
use super::frame::Still;
use super::theme::Ink;
use crate::data;
use crate::data::capitalized;
use crate::numbers::page::{count, time};

/// Renders a trace as one self-contained HTML document.
pub fn render(document: &Document) -> String {
    Still {
        title: format!(
            "ondeck trace: why locks were idle on {}",
            data::or_unknown(&document.machine.cpu)
        ),
        version: &document.build.version,
        kicker: "ondeck trace",
        heading: html! { "Why was the lock idle?" },
        verdict: html! {
            @if let Some(simulated) = &document.settings.simulated {
                (tag(Evidence::Simulated)) " on " (simulated.machine)
                @if let Some(seed) = simulated.seed { ", seed " (seed) }
                ", computed and not measured. "
            }
            (data::or_unknown(&document.machine.cpu)) ", " (document.machine.kernel) ": "
            @if document.settings.situation.is_empty() {
                (document.settings.threads) " threads, " (document.settings.pairs)
                " pairs each a run. "
            } @else {
                (document.settings.situation) ". "
            }
            (document.started)
        },
        main: html! {
            (boxes(document))
            @for lock in &document.locks { (of_lock(lock, document.evidence())) }
        },
        footer: html! {
            code { (document.settings.command) }
            @if document.evidence() == Evidence::Measured {
                ". Four stamps and the CPU's number cost " (time(document.stamp_nanos)) " a pair."
            }
        },
    }
    .render()
}

fn boxes(document: &Document) -> Markup {
    html! {
        @if document.partial {
            aside.box.warning { h2 { "Interrupted" } p { "What was traced until then is here." } }
        }
        @for refused in &document.refused {
            aside.box.warning {
                h2 { "The machine tells less than it could" }
                p { (refused.reason) }
                p.fix { strong { "What to do: " } (refused.fix) }
            }
        }
        @for failure in &document.failures {
            aside.box.failure { h2 { (failure.lock) } p { (failure.message) } }
        }
    }
}

/// What an episode is one of.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Idle,
    Wait,
}

impl What {
    fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Wait => "wait",
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Idle => "Why the lock was idle",
            Self::Wait => "Why threads waited",
        }
    }
}

fn of_lock(lock: &LockTrace, evidence: Evidence) -> Markup {
    let id = slug(&lock.lock);
    html! {
        section id=(id) {
            h2 { (lock.lock) }
            p {
                (lock.runs) " runs, " (count(lock.pairs)) " pairs in " (time(lock.nanos as f64)) "; threads "
                (time(lock.account.run_nanos as f64)) " on CPUs, "
                (time(lock.account.queued_nanos as f64)) " ready without one; "
                (count(lock.account.voluntary)) " voluntary and "
                (count(lock.account.involuntary)) " involuntary switches."
                @if !lock.ways.is_empty() { " Of the time that threads waited, " (ways(lock)) "." }
            }
            @for (what, tally, longest) in [
                (What::Idle, &lock.idles, &lock.longest_idles),
                (What::Wait, &lock.waits, &lock.longest_waits),
            ] {
                h3 { (what.heading()) }
                (causes(tally))
                @if let Some(episode) = longest.first() {
                    @if let Some(clip) = clip_of(lock, episode) {
                        (timeline(
                            &format!("timeline-{id}-{}", what.word()),
                            ("The worst", evidence),
                            what,
                            episode,
                            clip,
                        ))
                    }
                }
                (list(longest))
            }
        }
    }
}

/// How threads waited, in parts of their waiting time.
fn ways(lock: &LockTrace) -> String {
    let all = lock.ways.iter().map(|one| one.nanos).sum();
    let word = |way: Way| match way {
        Way::Polls => "was polling",
        Way::Near => "near",
        Way::Parked => "parked",
        Way::InFlight => "in flight",
    };
    let part = |one: &WayTime| format!("{} {}", share(one.nanos, all), word(one.way));
    lock.ways.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn clip_of<'a>(lock: &'a LockTrace, episode: &Episode) -> Option<&'a Clip> {
    lock.clips
        .iter()
        .find(|clip| clip.run == episode.run && clip.from <= episode.from && episode.from < clip.to)
}

fn causes(tally: &Tally) -> Markup {
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th { "cause" } th.number { "is the verdict of" } th.number { "time" } th.number { "share" }
                } }
                tbody {
                    @for class in &tally.classes {
                        tr {
                            th { (class.cause.words()) }
                            td.number { (count(class.count)) }
                            td.number { (time(class.nanos as f64)) }
                            td.number { (share(class.nanos, tally.nanos)) }
                        }
                    }
                    tr {
                        th { "too short to be explained" }
                        td.number { (count(tally.short_count)) }
                        td.number { (time(tally.short_nanos as f64)) }
                        td.number { (share(tally.short_nanos, tally.nanos)) }
                    }
                }
            }
        }
    }
}

fn share(part: Nanos, whole: Nanos) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

fn list(longest: &[Episode]) -> Markup {
    html! {
        ol {
            @for episode in longest {
                li {
                    (length(episode)) " at " (time(episode.from as f64))
                    " of run " (episode.run + 1) ": " (episode.verdict) "."
                    @if episode.alike > 0 { " " (episode.alike) " more at the same time." }
                }
            }
        }
    }
}

pub(super) fn length(episode: &Episode) -> String {
    time(episode.to.saturating_sub(episode.from) as f64)
}

/// The colour of a state; a thread's own colour is for the lock and the CPUs.
fn state_ink(state: State) -> Option<(Ink, f64)> {
    match state {
        State::Running => Some((Ink::Series(2), 1.0)),
        State::Queued => Some((Ink::Series(1), 1.0)),
        State::Asleep => None,
        State::Off => Some((Ink::Faint, 0.5)),
    }
}

fn thread_ink(thread: usize) -> Ink {
    // Without the two that stand for states.
    const INKS: [usize; 8] = [0, 3, 4, 5, 6, 7, 8, 9];
    Ink::Series(INKS[thread % INKS.len()])
}

fn way_ink(way: Way) -> Ink {
    match way {
        Way::Polls => Ink::Text,
        Way::Near => Ink::Series(0),
        Way::Parked => Ink::Faint,
        Way::InFlight => Ink::Series(1),
    }
}

const ROW: f64 = 22.0;

/// What the lock, its threads and the CPUs did around an idle or a wait.
pub(super) fn timeline(
    id: &str,
    (whose, evidence): (&str, Evidence),
    what: What,
    episode: &Episode,
    clip: &Clip,
) -> Markup {
    let what = what.word();
    let margin = episode.to.saturating_sub(episode.from).max(4) / 4;
    let from = episode.from.saturating_sub(margin).max(clip.from);
    let to = episode.to.saturating_add(margin).min(clip.to);
    let shown: Vec<usize> = (0..clip.threads.len())
        .filter(|&thread| took_part(&clip.threads[thread], (from, to)))
        .collect();
    // A large machine has a hundred CPUs that nothing ran on.
    let ran = |cpu: &&ClipCpu| cpu.slices.iter().any(|slice| slice.from < to && from < slice.to);
    let cpus: Vec<&ClipCpu> = match evidence {
        Evidence::Measured => clip.cpus.iter().collect(),
        Evidence::Simulated => clip.cpus.iter().filter(ran).collect(),
    };
    let left_out = match clip.threads.len() - shown.len() {
        0 => String::new(),
        1 => "A thread that did nothing meanwhile is left out. ".to_owned(),
        others => format!("{others} threads that did nothing meanwhile are left out. "),
    };
    let tells_ways = clip.threads.iter().any(|thread| !thread.ways.is_empty());
    let line = if tells_ways {
        "The line under it is its wait for the lock: in the colour of the text where it polls, blue where it waits near, grey where \
         it is parked, and orange where it is in flight."
    } else {
        "A line under it is its wait for the lock."
    };
    let caption = Caption {
        id: id.to_owned(),
        title: format!("{whose} {what}: {}", length(episode)),
        reading: format!(
            "{}. {left_out}Between the two lines is the {what}. In a thread's row green is running, orange is \
             ready without a CPU, and empty is asleep. {line} The rows of \
             the lock and of the CPUs show which thread had it, in the colour of its name; grey is another \
             program, or several threads in turns too short to be drawn, and empty is no thread.",
            capitalized(&episode.verdict)
        ),
        note: String::new(),
    };
    figure(&caption, evidence, Span::Full, |width| {
        let rows = 1 + shown.len() + cpus.len();
        canvas::draw(width, rows as f64 * ROW + 2.0 * ROW, |canvas| {
            draw(canvas, width, episode, clip, (&shown, &cpus), (from, to));
        })
    })
}

/// Whether a thread waited, or was awake, in a time: it had begun, and was not over.
fn took_part(thread: &ClipThread, (from, to): (Nanos, Nanos)) -> bool {
    let within = |begin: Nanos, end: Nanos| begin < to && from < end;
    thread.waits.iter().any(|wait| within(wait.0, wait.1))
        || thread.spans.iter().any(|span| span.state != State::Asleep && within(span.from, span.to))
}

fn draw(
    canvas: &mut Canvas,
    width: Width,
    episode: &Episode,
    clip: &Clip,
    (shown, cpus): (&[usize], &[&ClipCpu]),
    (from, to): (Nanos, Nanos),
) {
    let left = canvas.width_of("thread 00") + 6.0;
    let right = width.pixels() - 8.0;
    let place = |at: Nanos| {
        let share = at.saturating_sub(from) as f64 / to.saturating_sub(from).max(1) as f64;
        left + share.min(1.0) * (right - left)
    };
    let mut row = 0;
    let mut begin_row = |canvas: &mut Canvas, name: &str, ink: Ink| {
        let top = 4.0 + f64::from(row) * ROW;
        row += 1;
        canvas.text(name, (0.0, top + ROW / 2.0 - 2.0), Side::Start, ink, false);
        canvas.line(&[(left, top + ROW - 3.0), (right, top + ROW - 3.0)], Ink::Grid, 1.0);
        (top, top + ROW - 6.0)
    };
    let bar = |canvas: &mut Canvas,
               (top, bottom): (f64, f64),
               times: (Nanos, Nanos),
               ink: Ink,
               alpha: f64| {
        let (begin, end) = (times.0.max(from), times.1.min(to));
        if begin < end {
            let x = place(begin);
            canvas.bar((x, top), (place(end).max(x + 0.5), bottom), ink, alpha);
        }
    };
    let bounds = begin_row(canvas, "lock", Ink::Muted);
    for owned in &clip.owners {
        let ink = owned.thread.map_or(Ink::Plain, thread_ink);
        bar(canvas, bounds, (owned.from, owned.to), ink, 1.0);
    }
    for &thread in shown {
        let track = &clip.threads[thread];
        let bounds = begin_row(canvas, &format!("thread {thread}"), thread_ink(thread));
        for span in &track.spans {
            if let Some((ink, alpha)) = state_ink(span.state) {
                bar(canvas, bounds, (span.from, span.to), ink, alpha);
            }
        }
        let under = (bounds.1 + 0.5, bounds.1 + 3.0);
        for &wait in track.waits.iter().filter(|_| track.ways.is_empty()) {
            bar(canvas, under, wait, Ink::Text, 1.0);
        }
        for one in &track.ways {
            bar(canvas, under, (one.from, one.to), way_ink(one.way), 1.0);
        }
    }
    for cpu in cpus {
        let bounds = begin_row(canvas, &format!("CPU {}", cpu.number), Ink::Muted);
        for slice in &cpu.slices {
            let ink = slice.thread.map_or(Ink::Plain, thread_ink);
            bar(canvas, bounds, (slice.from, slice.to), ink, 1.0);
        }
    }
    let bottom = 4.0 + f64::from(row) * ROW;
    for at in [episode.from, episode.to] {
        canvas.dashed(&[(place(at), 0.0), (place(at), bottom)], Ink::Text, 1.0, "4 3");
    }
    let middle = f64::midpoint(place(episode.from), place(episode.to));
    canvas.text(&length(episode), (middle, bottom + ROW / 2.0), Side::Middle, Ink::Text, true);
}
