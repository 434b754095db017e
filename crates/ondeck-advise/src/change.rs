//! What would change the answer: by rules, with one part of the situation otherwise, and by what was
//! measured beside the situation.

use ondeck_lab::results::Report;
use ondeck_lab::workload::{Subject, param};
use ondeck_report::numbers::compared::factor;
use ondeck_report::numbers::terminal::time;

use super::answer::Change;
use super::figures::Figures;
use super::firing::{Judged, judge};
use super::measure::{other_threads, places, workload};
use super::rank::{against, level, not_told_apart, rank};
use super::rules::Rules;
use super::use_case::{Company, Need, UseCase};

/// Situations that differ from this one in one part, with words for the difference.
fn variations(situation: &UseCase) -> Vec<(String, UseCase)> {
    let mut found = Vec::new();
    let mut with = |words: String, varied: UseCase| found.push((words, varied));
    let base = || situation.clone();
    let threads = other_threads(situation);
    if threads < situation.threads {
        with(format!("{threads} threads, a CPU for each"), UseCase { threads, ..base() });
    } else {
        with(format!("{threads} threads, more than CPUs"), UseCase { threads, ..base() });
    }
    if situation.threads > 1 {
        with("one thread only".to_owned(), UseCase { threads: 1, ..base() });
    }
    if situation.company == Company::None {
        with("a busy machine".to_owned(), UseCase { company: Company::Busy, ..base() });
    } else {
        with("no other work".to_owned(), UseCase { company: Company::None, ..base() });
    }
    if situation.fairness == Need::Strict {
        with("no order of arrival to keep".to_owned(), UseCase { fairness: Need::None, ..base() });
    } else {
        with(
            "an order of arrival to keep".to_owned(),
            UseCase { fairness: Need::Strict, ..base() },
        );
    }
    if situation.realtime {
        with("no realtime priorities".to_owned(), UseCase { realtime: false, ..base() });
    } else {
        with("realtime priorities".to_owned(), UseCase { realtime: true, ..base() });
    }
    if situation.freed {
        with("memory that stays".to_owned(), UseCase { freed: false, ..base() });
    } else {
        with("memory freed right after an unlock".to_owned(), UseCase { freed: true, ..base() });
    }
    if situation.condvar {
        with("no condition variables".to_owned(), UseCase { condvar: false, ..base() });
    } else {
        with("condition variables".to_owned(), UseCase { condvar: true, ..base() });
    }
    if situation.bytes.is_some() {
        with("no limit of bytes".to_owned(), UseCase { bytes: None, ..base() });
    }
    found
}

/// What follows from the rules. `ranking` are the names of the answer, the best first.
pub(super) fn by_rules(
    rules: &Rules,
    situation: &UseCase,
    subjects: &[Subject],
    ranking: &[&str],
) -> Vec<Change> {
    /// So many locks are named in a line.
    const MOST: usize = 3;
    let Some(leader) = ranking.first() else { return Vec::new() };
    let nothing = Figures::default();
    let now = judge(rules, situation, subjects, &nothing);
    let (mut changes, mut returns) = (Vec::new(), Vec::new());
    for (with, varied) in variations(situation) {
        let then = judge(rules, &varied, subjects, &nothing);
        let change = |then: String| Change { with: with.clone(), then, measured: false };
        let leaders = then.iter().find(|judged| judged.name() == *leader).and_then(Judged::out);
        if let Some(rule) = leaders {
            let left: Vec<&str> =
                then.iter().filter(|judged| judged.out().is_none()).map(Judged::name).collect();
            let instead = if left.is_empty() {
                "and no lock would be left".to_owned()
            } else {
                format!("and {} would be left", few(&left, MOST))
            };
            changes.push(change(format!("{leader} would be out ({}), {instead}", rule.name())));
            continue;
        }
        let back: Vec<&str> = now
            .iter()
            .zip(&then)
            .filter(|(now, then)| now.out().is_some() && then.out().is_none())
            .map(|(now, _)| now.name())
            .collect();
        if !back.is_empty() {
            let words = format!("{} would come into question", few(&back, MOST));
            returns.push(change(words));
        }
    }
    changes.extend(returns);
    changes
}

/// What was measured with other threads or other work than the situation's.
pub(super) fn by_measuring(
    rules: &Rules,
    situation: &UseCase,
    subjects: &[Subject],
    report: &Report,
    ranking: &[&str],
) -> Vec<Change> {
    let Some(leader) = ranking.first() else { return Vec::new() };
    let mut changes = Vec::new();
    for (with, varied) in measured_beside(situation, report) {
        let figures = Figures::of(report, &places(&varied)[..1]);
        // A lock that is no candidate here is none there, unless rules say otherwise.
        let locks: Vec<Judged> = judge(rules, &varied, subjects, &figures)
            .into_iter()
            .filter(|judged| judged.out().is_none() && ranking.contains(&judged.name()))
            .collect();
        let metric = rules.judged_by(&varied);
        let alpha = level(rules.different, locks.len());
        let ranked = rank(locks, &figures, metric, rules.different);
        let best = ranked.first().map(|ranked| ranked.tier);
        let tier: Vec<&str> = ranked
            .iter()
            .filter(|ranked| Some(ranked.tier) == best)
            .map(|ranked| ranked.judged.name())
            .collect();
        let Some(first) = tier.first() else { continue };
        let alone = not_told_apart(&ranked) == 1 && tier.len() == 1;
        let versus = |one: &str, other: &str| {
            let (one, other) = (figures.get(one, metric)?, figures.get(other, metric)?);
            let against = against(one, other, alpha, rules.different.least)?;
            let interval = against
                .interval
                .map_or(String::new(), |(low, high)| format!(", {}-{}", factor(low), factor(high)));
            Some(format!("{} times as good as {{}}{interval}", factor(against.ratio)))
        };
        let then = if alone && first == leader {
            let next = ranked.get(1).map(|next| next.judged.name());
            let by = next.and_then(|next| Some(versus(leader, next)?.replace("{}", next)));
            by.map_or("nothing".to_owned(), |by| format!("{leader} still leads, {by}"))
        } else if tier.contains(leader) {
            let others: Vec<&str> = tier.iter().copied().filter(|name| name != leader).collect();
            format!("{} would be as good as {leader}", few(&others, 4))
        } else {
            let by = versus(first, leader).map(|by| by.replace("{}", leader));
            let by = by.map_or(String::new(), |by| format!(", {by}"));
            format!("{} would lead{by}", few(&tier, 3))
        };
        changes.push(Change { with, then, measured: true });
    }
    changes
}

/// The report's situations that differ in threads, or in work, from this one.
fn measured_beside(situation: &UseCase, report: &Report) -> Vec<(String, UseCase)> {
    let mut found: Vec<(String, UseCase)> = Vec::new();
    if situation.threads == 1 {
        return found;
    }
    let its = workload(situation);
    let writes = situation.reads.writes();
    for series in report.series.iter().filter(|series| {
        series.workload == its && series.params.get(param::WRITES).is_none_or(|its| *its == writes)
    }) {
        let nanos = |name: &str| series.params.get(name).and_then(|nanos| nanos.parse().ok());
        let (Some(section_ns), Some(outside_ns)) = (nanos(param::SECTION), nanos(param::OUTSIDE))
        else {
            continue;
        };
        let varied =
            UseCase { threads: series.threads, section_ns, outside_ns, ..situation.clone() };
        let work = (section_ns, outside_ns) != (situation.section_ns, situation.outside_ns);
        let one = work != (varied.threads != situation.threads);
        if !one || varied.threads == 1 || found.iter().any(|(_, other)| *other == varied) {
            continue;
        }
        let words = if work {
            let (section, outside) = (time(section_ns as f64), time(outside_ns as f64));
            format!("sections of {section}, {outside} outside")
        } else {
            format!("{} threads", varied.threads)
        };
        found.push((words, varied));
    }
    found
}

/// Some names, and how many more.
fn few(names: &[&str], most: usize) -> String {
    let shown = names.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
