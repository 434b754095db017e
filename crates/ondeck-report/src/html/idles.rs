//! The worst idle of each lock, traced after the measurements: when, why, and a timeline.

use maud::{Markup, html};
use ondeck_lab::results::episode::Sight;
use ondeck_lab::results::{Evidence, IdleTimeline, Report};

use super::figure::slug;
use super::tables;
use super::trace::{self, What};

/// The timelines, worst first; nothing if none was traced.
pub fn timelines(report: &Report) -> Markup {
    let mut worst: Vec<&IdleTimeline> = report.idle_timelines.iter().collect();
    worst.sort_by_key(|one| std::cmp::Reverse(one.episode.to.saturating_sub(one.episode.from)));
    html! {
        @if !worst.is_empty() {
            h3 { "Why: the worst idle of each lock" }
            p.lead {
                "After all measurements each lock ran again for a moment, with every pair stamped and \
                 the scheduler's events recorded. These idles are not those of the tables: they are the \
                 worst of a few runs. The locks that were idle longest came first; there may have \
                 been no time for others."
            }
            @if let Some(note) = worst.iter().find_map(|one| blind(one.sight)) { p.note { (note) } }
            @for (place, one) in worst.iter().enumerate() { (of_lock(place, one)) }
        }
    }
}

fn of_lock(place: usize, one: &IdleTimeline) -> Markup {
    let id = format!("fig-idle-timeline-{place}-{}", slug(&one.lock));
    let whose = format!("{}, {} threads: the worst", one.lock, one.threads);
    html! {
        details open[place == 0] {
            summary {
                (tables::lock_name(&one.lock, false)) ", " (one.threads) " threads: "
                (trace::length(&one.episode)) ", " (one.episode.cause.words())
            }
            (trace::timeline(&id, (&whose, Evidence::Measured), What::Idle, &one.episode, &one.clip))
        }
    }
}

/// What is missing where the kernel did not report everything.
fn blind(sight: Sight) -> Option<&'static str> {
    match sight {
        Sight::Machine => None,
        Sight::OwnSwitches => Some(
            "This machine refused the scheduler's tracepoints: other programs are not seen, nor when a \
             sleeping thread was woken. `ondeck trace` says what would lift that.",
        ),
        Sight::Stamps => Some(
            "This machine refused all of the scheduler's events: only the stamps of the threads are \
             known. `ondeck trace` says what would lift that.",
        ),
    }
}
