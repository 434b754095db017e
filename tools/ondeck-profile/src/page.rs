//! The HTML page: one file in the design of the laboratory's reports, without scripts.

use maud::{Markup, html};
use ondeck_record::layout::Role;
use ondeck_text::frame::Still;
use ondeck_text::numbers::page::{count, time};

use crate::model::{Kind, Lock, Place, Process, Profile, Sample, Times};
use crate::{flame, table};

/// The number of locks with a section each; the table has all locks.
const SECTIONS: usize = 20;
/// The number of stacks shown for each role of a lock.
const STACKS: usize = 10;

/// The whole page.
pub fn render(profile: &Profile) -> String {
    let locks = profile.locks();
    let program = profile.processes.first().map(Process::name).unwrap_or_default();
    let page = Still {
        title: format!("ondeck profile: locks of {program}"),
        version: env!("CARGO_PKG_VERSION"),
        kicker: "ondeck profile",
        heading: html! { "Where threads of " code { (program) } " wait" },
        verdict: html! { (verdict(profile, &locks)) },
        main: html! {
            (boxes(profile))
            @if !locks.is_empty() {
                (all(&locks, profile.processes.len() > 1))
                section id="graphs" {
                    h2 { "Flame graphs" }
                    p {
                        "Widths are the time that threads waited. The lowest frame is the lock"
                        @if profile.processes.len() > 1 { ", in its process" }
                        ". A pointer on a frame shows its name and its time."
                    }
                    @for role in [Role::Holder, Role::Waiter] { (graph(profile, role)) }
                }
                @for (number, (process, lock)) in locks.iter().take(SECTIONS).enumerate() {
                    (one(number, process, lock))
                }
            }
            (notices(profile))
            (futexes(profile))
            (processes(profile))
        },
        footer: html! {
            @if let Some(note) = table::notes(profile).first() { (note) "." }
        },
    };
    page.render()
}

fn verdict(profile: &Profile, locks: &[(&Process, &Lock)]) -> String {
    let seen = profile.scope.as_ref().map(|scope| sentence(&scope.seen)).unwrap_or_default();
    format!("{seen} {}", found(profile, locks))
}

/// Returns the text as a sentence.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}

fn found(profile: &Profile, locks: &[(&Process, &Lock)]) -> String {
    let Some((_, worst)) = locks.first() else {
        return sentence(&table::nothing(profile));
    };
    let all: f64 = locks.iter().map(|(_, lock)| lock.wait.nanos).sum();
    let mut text = format!(
        "Threads waited {} for {} lock{}. {:.0}\u{a0}% of it was for {}.",
        time(all),
        locks.len(),
        if locks.len() == 1 { "" } else { "s" },
        100.0 * worst.wait.nanos / all.max(1.0),
        worst.short_name()
    );
    if let Some(frame) = worst.holders.first().and_then(|sample| sample.shown().next()) {
        text = format!("{text} {} kept them waiting most.", frame.short());
    }
    text
}

fn boxes(profile: &Profile) -> Markup {
    let notes = table::notes(profile);
    html! {
        @for unseen in profile.scope.iter().flat_map(|scope| &scope.unseen) {
            aside.box.warning { p { "Not observed: " (unseen) "." } }
        }
        // The first note is the cost, which is in the footer.
        @for note in notes.iter().skip(1) {
            aside.box.warning { p { (note) } }
        }
    }
}

fn graph(profile: &Profile, role: Role) -> Markup {
    let title = match role {
        Role::Holder => "What kept threads waiting",
        Role::Waiter => "What waited",
    };
    let frames = flame::part(profile, role, title);
    html! { figure { figcaption { strong { (title) } } (scrolling(title, &frames)) } }
}

fn scrolling(label: &str, table: &Markup) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(label) { (table) } }
}

fn all(locks: &[(&Process, &Lock)], several: bool) -> Markup {
    let rates = table::have_rates(locks);
    let head = ["p50", "p99", "longest", "held p99", "longest hold", "threads"];
    let table = html! {
        table {
            thead { tr {
                th scope="col" { "lock" }
                th scope="col" { "kind" }
                th.number scope="col" { "waited" }
                th.number scope="col" { "waits" }
                @if rates { th.number scope="col" { "rate" } }
                @for title in head { th.number scope="col" { (title) } }
            } }
            tbody {
                @for (number, (process, lock)) in locks.iter().enumerate() {
                    tr {
                        th scope="row" {
                            @if number < SECTIONS { a href=(format!("#lock-{number}")) { (lock.short_name()) } }
                            @else { (lock.short_name()) }
                            div.note style="white-space: normal; overflow-wrap: anywhere; max-width: 14rem" { (lock.origin()) @if several { ", process " (process.pid) } }
                        }
                        td { (lock.kind.word()) }
                        td.number { (time(lock.wait.nanos)) }
                        td.number { (count(lock.wait.count)) }
                        @if rates { td.number { (table::rate(lock)) } }
                        @for part in [0.5, 0.99] {
                            td.number { (time(lock.wait.quantile(part))) }
                        }
                        td.number { (time(lock.wait.longest)) }
                        td.number { (time(lock.hold.quantile(0.99))) }
                        td.number { (time(lock.hold.longest)) }
                        td.number { (lock.threads) }
                    }
                }
            }
        }
    };
    html! {
        section id="locks" {
            h2 { "Locks, worst first" }
            (scrolling("Locks", &table))
            p.note {
                @if rates { "Rate is the part of acquisitions that had to wait. " }
                "Holds are those at whose end threads \
                 waited. A percentile is exact to an eighth."
            }
        }
    }
}

fn notices(profile: &Profile) -> Markup {
    let found = profile.notices();
    if found.is_empty() {
        return html! {};
    }
    let table = html! {
        table {
            thead { tr {
                th scope="col" { "waited at" }
                th scope="col" { "kind" }
                th.number scope="col" { "waited" }
                th.number scope="col" { "waits" }
                th scope="col" { "in" }
                th scope="col" { "after" }
            } }
            tbody {
                @for (_, one) in found.iter().take(SECTIONS) {
                    tr {
                        th scope="row" { (one.short_name()) }
                        td { (one.kind.word()) }
                        td.number { (time(one.wait.nanos)) }
                        td.number { (count(one.wait.count)) }
                        @for samples in [&one.waiters, &one.holders] {
                            td style="white-space: normal; overflow-wrap: anywhere" {
                                (samples.first().map(table::callers).unwrap_or_default())
                            }
                        }
                    }
                }
            }
        }
    };
    html! {
        section id="notices" {
            h2 { "Waits for notifications" }
            (scrolling("Waits for notifications", &table))
            p.note {
                "Condition variables, semaphores, barriers and parked threads: a thread waits there for a lock made of \
                 them, or because it has nothing to do. The last column notified most of the time."
            }
        }
    }
}

fn futexes(profile: &Profile) -> Markup {
    let found = profile.futexes.as_ref().filter(|futexes| !futexes.found.is_empty());
    let Some(all) = found else { return html! {} };
    let table = html! {
        table {
            thead { tr {
                th scope="col" { "slept at" }
                th.number scope="col" { "share" }
                th.number scope="col" { "threads" }
                th scope="col" { "waited in" }
            } }
            tbody {
                @for futex in all.found.iter().take(table::MOST) {
                    tr {
                        th scope="row" { (futex.name()) }
                        td.number { (table::share(all, futex)) }
                        td.number { (futex.threads) }
                        td style="white-space: normal; overflow-wrap: anywhere" { (table::waited_in(futex)) }
                    }
                }
            }
        }
    };
    html! {
        section id="futexes" {
            h2 { "Other sleeps, by sampling" }
            (scrolling("Other sleeps", &table))
            p.note {
                "In " (all.looks) " looks at the threads, which slept " (table::MEANING) ". Threads: the most at once. \
                 The thread that holds one is not known."
            }
        }
    }
}

fn one(number: usize, process: &Process, lock: &Lock) -> Markup {
    html! {
        section id=(format!("lock-{number}")) {
            h2 title=(lock.name()) { (lock.short_name()) }
            dl.facts {
                (fact("declared or initialized", &lock.origin()))
                (fact("kind", lock.kind.word()))
                @if lock.place != Place::Waiters {
                    (fact("address", &format!("{:#x} in process {}", lock.address, process.pid)))
                }
                (fact("acquisitions", &lock.acquisitions.map_or("not counted".to_owned(), count)))
                (fact("waits", &times(&lock.wait)))
                (fact("holds", &times(&lock.hold)))
                @if lock.reused != 0 {
                    (fact("locks in turn at this address", &count(u64::from(lock.reused) + 1)))
                }
                @if lock.timeouts != 0 { (fact("time-outs", &count(lock.timeouts))) }
                @if lock.waiting != 0 { (fact("waiting at the end", &count(lock.waiting))) }
            }
            h3 { "What kept threads waiting" }
            (stacks(&lock.holders))
            @if lock.free != 0.0 {
                p { (free(lock)) }
            }
            @if let (nanos, part) = lock.unexplained() && part > table::MENTIONED {
                p { "Threads " (table::unexplained(lock)) " for " (time(nanos)) (format!(", {:.0} % of all their waiting.", 100.0 * part)) }
            }
            h3 { "What waited" }
            (stacks(&lock.waiters))
        }
    }
}

fn free(lock: &Lock) -> String {
    let reason = if lock.kind == Kind::Rwlock {
        "No thread wrote: threads read, or a woken thread was not running yet."
    } else {
        "A woken thread was not running yet, or a parked thread was not woken yet."
    };
    format!(
        "Threads {} for {}, {:.0} % of all their waiting. {reason}",
        table::FREE,
        time(lock.free),
        100.0 * lock.free_part()
    )
}

fn fact(name: &str, text: &str) -> Markup {
    html! { div { dt { (name) } dd { (text) } } }
}

fn times(times: &Times) -> String {
    if times.count == 0 {
        return "none recorded".to_owned();
    }
    format!(
        "{} of {} on average; half up to {}, 99 % up to {}, longest {}",
        count(times.count),
        time(times.mean()),
        time(times.quantile(0.5)),
        time(times.quantile(0.99)),
        time(times.longest)
    )
}

fn stacks(samples: &[Sample]) -> Markup {
    let all: f64 = samples.iter().map(|sample| sample.nanos).sum();
    html! {
        @if samples.is_empty() { p.empty { "No stack was taken." } }
        @for (index, sample) in samples.iter().take(STACKS).enumerate() {
            details open[index == 0] {
                summary {
                    (time(sample.nanos)) ", " (format!("{:.0} %", 100.0 * sample.nanos / all.max(1.0)))
                    ", longest " (time(sample.longest)) ": "
                    (sample.shown().next().map_or("unknown".to_owned(), crate::Frame::short))
                }
                pre {
                    @for frame in sample.shown() { span title=(frame.function) { (frame.short()) } "\n" }
                }
            }
        }
        @if samples.len() > STACKS {
            p.note { (samples.len() - STACKS) " more stacks are in the other formats." }
        }
    }
}

fn processes(profile: &Profile) -> Markup {
    html! {
        section id="processes" {
            h2 { "Processes" }
            @for process in &profile.processes {
                h3 { (process.program.display()) " " (process.pid) }
                dl.facts {
                    (fact("arguments", &process.arguments.join(" ")))
                    (fact("recorded for", &time(process.length.as_nanos() as f64)))
                    (fact("threads seen", &count(process.threads.into())))
                    (fact("ended", if process.ended { "by itself" } else { "runs, or was ended" }))
                }
                details {
                    summary { (process.modules.len()) " files with build-ids" }
                    pre {
                        @for module in &process.modules {
                            (format!("{:#x} {:40} {}\n", module.start, module.build_id, module.path.display()))
                        }
                    }
                }
            }
        }
    }
}
