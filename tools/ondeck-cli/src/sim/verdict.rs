//! The conclusion of a replay in one sentence.

use std::fmt::Write;

use ondeck_replay::{Outlook, Recording, Row, Saturation, Site};
use ondeck_sim::engine::Sim;
use ondeck_sim::lab::AnyMutex;
use ondeck_text::functions::short;

/// One line of the plot: a lock, and the additional shortening of sections.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) mutex: AnyMutex<Sim>,
    pub(super) halved: Option<usize>,
}

/// The result.
pub(super) struct Found {
    pub(super) case: Case,
    pub(super) outlook: Outlook,
}

/// A smaller change of the rate is none.
const CHANGE: f64 = 0.05;

/// The main result in one sentence.
pub(super) fn verdict(recording: &Recording, found: &[Found], threads: &[usize]) -> String {
    let most = threads.last().copied().unwrap_or(1);
    let Some(first) = found.iter().find(|it| it.outlook.saturation.is_some()) else {
        return format!("Simulated: no lock saturates with up to {most} threads.");
    };
    let Some(saturation) = first.outlook.saturation else { return String::new() };
    let mut words = format!(
        "Simulated: lock {} saturates at {} with {}",
        recording.locks[saturation.lock].words(),
        interval(saturation),
        first.case.name
    );
    let mut last = first;
    for it in found.iter().filter(|it| it.case.name != first.case.name) {
        let is_same = it.outlook.saturation == last.outlook.saturation;
        let function = it.case.halved.map(|site| function(&recording.sites[site]));
        let (faster, threads) = change(last, it);
        _ = match &function {
            Some(function) if is_same && (faster - 1.0).abs() < CHANGE => {
                write!(words, "; halving the sections of `{function}` changes nothing")
            }
            Some(function) => write!(words, "; with the sections of `{function}` half as long "),
            None => write!(words, "; with {} ", it.case.name),
        };
        if words.ends_with("nothing") {
            continue;
        }
        let what = match it.outlook.saturation {
            _ if is_same => "the same".to_owned(),
            Some(its) if its.lock == saturation.lock => format!("at {}", numbers(its)),
            Some(its) => {
                format!("{} first, at {}", recording.locks[its.lock].words(), numbers(its))
            }
            None => format!("not with up to {most}"),
        };
        words += &what;
        if function.is_some() {
            _ = write!(words, ", and {faster:.2} times the rate with {}", counted(threads));
        }
        last = it;
    }
    words.push('.');
    words
}

/// The change of the rate from one case to another where it is greatest, and for how many threads.
fn change(from: &Found, to: &Found) -> (f64, usize) {
    let rows = from.outlook.rows.iter().zip(&to.outlook.rows);
    let ratio =
        |(from, to): (&Row, &Row)| (to.outcome.rate / from.outcome.rate.max(1.0), to.threads);
    rows.map(ratio).max_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or((1.0, 1))
}

/// The numbers of threads from which on a lock is saturated, of several seeds.
fn numbers(its: Saturation) -> String {
    match its.most {
        Some(most) if most == its.threads => most.to_string(),
        Some(most) => format!("{} to {most}", its.threads),
        None => format!("{} or more", its.threads),
    }
}

pub(super) fn interval(its: Saturation) -> String {
    let is_one = its.most == Some(1);
    format!("{} thread{}", numbers(its), if is_one { "" } else { "s" })
}

pub(super) fn counted(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

pub(super) fn function(site: &Site) -> String {
    short(&site.function)
}
