//! Recommends a lock for a situation, with reasons: rules that are data, and a short measurement.
//!
//! Rules exclude locks that cannot serve the situation, whatever their speed. Measurements order
//! the others, in tiers of locks that they do not distinguish. Within a tier, rules that prefer or
//! warn decide. If they leave the choice open, the answer is the lock that the program has now. If
//! that is not among the candidates, the answer is unknown, and names them all.
//!
//! ```text
//! use_case      the situation: threads, work, other programs, needs; or as a `profile` has it
//!    │
//!    ├─► rules     data, each with its source ─► locks that cannot serve are left out
//!    ├─► measure   a situation of the laboratory, or a report of one
//!    ▼
//! rank          tiers of indistinguishable locks
//!    │             rules that prefer or warn, within a tier
//!    ▼
//! Answer        a lock, or that it is not known
//! ```

mod answer;
pub mod conditions;
mod figures;
mod firing;
pub mod measure;
pub mod profile;
mod rank;
pub mod rules;
mod text;
pub mod use_case;

use std::collections::BTreeMap;

use ondeck_lab::results::Report;
use ondeck_lab::sample::{CPU_PER_OP, PAIR, THROUGHPUT};
use ondeck_lab::warnings::VIRTUAL_MACHINE;
use ondeck_lab::workload::Subject;
use ondeck_zoo::Kind;

pub use answer::{Advice, Answer, Choice, Excluded, MeasuredBy, Remark, SCHEMA_VERSION, Versus};
pub use rules::Rules;
pub use use_case::{Company, Language, Need, Reads, UseCase, Users};

use figures::Figures;
use firing::Judged;
use rank::Ranked;
use rules::{Effect, Rule};

/// A report and its origin.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// `this run`, or the file.
    pub by: &'a str,
    /// The report.
    pub report: &'a Report,
}

/// The locks of the kind that the situation needs: reader-writer locks if some sections only read,
/// otherwise mutexes.
pub fn subjects(situation: &UseCase) -> Vec<Subject> {
    let kind = if situation.reads == Reads::NONE { Kind::Mutex } else { Kind::RwLock };
    Subject::of_every_kind().into_iter().filter(|subject| subject.kind == kind).collect()
}

/// The locks that remain after the rules, before any measurement.
pub fn candidates(rules: &Rules, situation: &UseCase, subjects: &[Subject]) -> Vec<Subject> {
    let judged = firing::judge(rules, situation, subjects, &Figures::default());
    let left = judged.iter().filter(|judged| judged.out().is_none());
    left.map(|judged| judged.subject.clone()).collect()
}

/// Whether rules make the situation itself unknown.
pub fn is_unknown(rules: &Rules, situation: &UseCase) -> bool {
    firing::of_situation(rules, situation).iter().any(|rule| rule.effect == Effect::Unknown)
}

/// Whether a report has a measurement of these locks in this situation.
pub fn speaks_of(report: &Report, situation: &UseCase, locks: &[Subject]) -> bool {
    let figures = Figures::of(report, &measure::places(situation));
    locks.iter().any(|subject| {
        METRICS_OF_SPEED.iter().any(|metric| figures.get(subject.info.name, metric).is_some())
    })
}

/// The metrics of speed: every place of a ranking has one of them.
const METRICS_OF_SPEED: [&str; 2] = [PAIR.name, THROUGHPUT.name];

/// The advice for a situation.
pub fn advise(
    rules: &Rules,
    situation: &UseCase,
    subjects: &[Subject],
    evidence: Option<Evidence>,
) -> Advice {
    let of_situation = firing::of_situation(rules, situation);
    let unknown = of_situation.iter().find(|rule| rule.effect == Effect::Unknown).copied();
    // If rules make the situation unknown, measurements of it are useless.
    let evidence = evidence.filter(|_| unknown.is_none());
    let figures = evidence
        .map(|evidence| Figures::of(evidence.report, &measure::places(situation)))
        .unwrap_or_default();
    let (left, out): (Vec<_>, Vec<_>) = firing::judge(rules, situation, subjects, &figures)
        .into_iter()
        .partition(|judged| judged.out().is_none());
    let metric = rules.judged_by(situation);
    let confidence = 1.0 - rank::level(rules.different, left.len());
    let mut ranked = rank::rank(left, &figures, metric, rules.different);
    let stays = situation.now.as_ref().is_some_and(|now| rank::stay(&mut ranked, now));

    let mut advice = Advice {
        schema: SCHEMA_VERSION,
        situation: situation.clone(),
        assumed: Vec::new(),
        measured: evidence.filter(|_| !figures.is_empty()).map(|evidence| MeasuredBy {
            by: evidence.by.to_owned(),
            metric: metric.to_owned(),
            unit: unit(&ranked, &figures, metric),
            confidence: confidence * 100.0,
            least: rules.different.least,
            warnings: warnings(evidence.report),
            failures: failures(evidence.report),
        }),
        answer: answer(&ranked, stays, &figures, metric, unknown),
        ranking: choices(&ranked, &figures, metric, rules),
        excluded: excluded(rules, &out),
        warnings: of_situation.into_iter().map(Remark::from).collect(),
        sources: BTreeMap::new(),
    };
    advice.sources = spoken_of(&advice, rules);
    advice
}

impl Rules {
    /// The metric that ranks locks in a situation.
    pub fn judged_by(&self, situation: &UseCase) -> &str {
        let first = self.judge.iter().find(|judge| judge.when.holds(situation));
        // There is at least one. If none is for this situation, the last one applies.
        first.or(self.judge.last()).map_or(THROUGHPUT.name, |judge| judge.metric.as_str())
    }
}

fn unit(ranked: &[Ranked], figures: &Figures, metric: &str) -> String {
    let units = ranked.iter().filter_map(|ranked| figures.get(ranked.judged.name(), metric));
    units.map(|figure| figure.unit.clone()).next().unwrap_or_default()
}

/// The report's warnings, except the one about the virtual machine, which rules cover.
fn warnings(report: &Report) -> Vec<String> {
    let told = report.warnings.iter().filter(|warning| warning.code != VIRTUAL_MACHINE);
    told.map(|warning| warning.message.clone()).collect()
}

fn failures(report: &Report) -> Vec<(String, String)> {
    let words = report.failures.iter();
    words
        .map(|failure| (failure.lock.clone(), format!("{}: {}", failure.kind, failure.message)))
        .collect()
}

fn answer(
    ranked: &[Ranked],
    stays: bool,
    figures: &Figures,
    metric: &str,
    unknown: Option<&Rule>,
) -> Answer {
    let alike = if unknown.is_some() { ranked.len() } else { rank::not_told_apart(ranked) };
    let names: Vec<String> =
        ranked.iter().take(alike).map(|ranked| ranked.judged.name().to_owned()).collect();
    let Some(first) = ranked.first() else {
        let why = "rules exclude every lock; see which rule below";
        return Answer { known: false, lock: None, alike: names, why: why.to_owned() };
    };
    let was_measured = figures.get(first.judged.name(), metric).is_some();
    let tier = ranked.iter().take_while(|ranked| ranked.tier == first.tier).count();
    let (known, why) = match (unknown, was_measured) {
        (Some(rule), _) => (false, rule.reason.clone()),
        (None, _) if ranked.len() == 1 => (true, "the only lock that rules leave".to_owned()),
        (None, true) if tier == 1 => {
            (true, format!("the best {}, by more than chance", metric_words(metric)))
        }
        (None, true) if alike == 1 => (
            true,
            format!("measuring does not tell it apart from {} more; rules prefer it", tier - 1),
        ),
        (None, false) if alike == 1 => {
            (true, "rules prefer it; it was not measured here".to_owned())
        }
        (None, measured) => {
            let by = if measured { "neither measuring nor rules tell" } else { "no rule tells" };
            if stays {
                (true, format!("stay with what you have: {by} it apart from {} more", alike - 1))
            } else if measured {
                let more = "longer rounds (--time) on a quiet machine may tell more";
                (false, format!("{by} them apart; {more}"))
            } else {
                (false, format!("{by} them apart, and nothing was measured"))
            }
        }
    };
    Answer { known, lock: Some(first.judged.name().to_owned()), alike: names, why }
}

/// The name of a metric in a sentence.
fn metric_words(metric: &str) -> &str {
    match metric {
        pair if pair == PAIR.name => "time of a pair",
        cpu if cpu == CPU_PER_OP.name => "CPU time a pair",
        other => other,
    }
}

fn choices(ranked: &[Ranked], figures: &Figures, metric: &str, rules: &Rules) -> Vec<Choice> {
    let alpha = rank::level(rules.different, ranked.len());
    let names: Vec<&str> = ranked.iter().map(|ranked| ranked.judged.name()).collect();
    let choice = |(index, ranked): (usize, &Ranked)| {
        let name = ranked.judged.name();
        let other = names.get(usize::from(index == 0)).copied();
        let versus = other.and_then(|than| {
            let (one, other) = (figures.get(name, metric)?, figures.get(than, metric)?);
            let against = rank::against(one, other, alpha, rules.different.least)?;
            Some(Versus { than: than.to_owned(), ..against })
        });
        let medians = rules::METRICS
            .iter()
            .filter_map(|metric| Some(((*metric).to_owned(), figures.get(name, metric)?.median)));
        Choice {
            lock: name.to_owned(),
            tier: ranked.tier,
            bytes: ranked.judged.memory().0,
            context_bytes: ranked.judged.memory().1,
            figures: medians.collect(),
            rounds: figures.get(name, metric).map_or(0, |figure| figure.samples.len()),
            against: versus,
            reasons: ranked.judged.rules.iter().map(|rule| Remark::from(*rule)).collect(),
        }
    };
    ranked.iter().enumerate().map(choice).collect()
}

/// Locks by the rule that excludes them, in the order of the rules.
fn excluded(rules: &Rules, out: &[Judged]) -> Vec<Excluded> {
    let by = |rule: &Rule| {
        let its = |judged: &&Judged| judged.out().is_some_and(|first| first.name == rule.name);
        let locks: Vec<String> =
            out.iter().filter(its).map(|judged| judged.name().to_owned()).collect();
        (!locks.is_empty()).then(|| Excluded { rule: Remark::from(rule), locks })
    };
    rules.rule.iter().filter_map(by).collect()
}

fn spoken_of(advice: &Advice, rules: &Rules) -> BTreeMap<String, rules::Source> {
    let of_locks = advice.ranking.iter().flat_map(|choice| &choice.reasons);
    let of_excluded = advice.excluded.iter().map(|excluded| &excluded.rule);
    let remarks = of_locks.chain(of_excluded).chain(&advice.warnings);
    let words: Vec<&str> = remarks.map(|remark| remark.source.as_str()).collect();
    let used = rules.source.iter().filter(|(word, _)| words.contains(&word.as_str()));
    used.map(|(word, source)| (word.clone(), source.clone())).collect()
}
