//! The rules that hold, and their effect on each lock.

use ondeck_lab::workload::Subject;
use wildmatch::WildMatch;

use super::conditions::{Measured, When, Which};
use super::figures::Figures;
use super::rules::{Effect, Rule, Rules};
use super::use_case::{Need, UseCase};

/// The result of the rules for a lock.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    /// The lock.
    pub subject: &'a Subject,
    /// The rules that hold for it, in the file's order.
    pub rules: Vec<&'a Rule>,
}

impl<'a> Judged<'a> {
    /// The rule that excludes it, or that makes it unknown.
    pub fn out(&self) -> Option<&'a Rule> {
        let first = |effect| self.rules.iter().copied().find(|rule| rule.effect == effect);
        first(Effect::Exclude).or(first(Effect::Unknown))
    }

    /// The number of rules for it, minus the rules against it.
    pub fn standing(&self) -> i32 {
        let of = |rule: &&Rule| match rule.effect {
            Effect::Prefer => 1,
            Effect::Warn => -1,
            Effect::Exclude | Effect::Unknown => 0,
        };
        self.rules.iter().map(of).sum()
    }

    /// Bytes of the lock, and of a thread's context.
    pub fn memory(&self) -> (usize, usize) {
        (self.subject.size, self.subject.context_size)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.subject.info.name
    }
}

/// Judges locks by the rules, and by the measurements, if any.
pub fn judge<'a>(
    rules: &'a Rules,
    situation: &UseCase,
    subjects: &'a [Subject],
    figures: &Figures,
) -> Vec<Judged<'a>> {
    let in_force: Vec<&Rule> = rules
        .rule
        .iter()
        .filter(|rule| !rule.of_situation() && rule.when.holds(situation))
        .collect();
    let judged = |subject: &'a Subject| {
        let of_it = |rule: &&&Rule| holds(rule, situation, subject, figures);
        Judged { subject, rules: in_force.iter().filter(of_it).copied().collect() }
    };
    subjects.iter().map(judged).collect()
}

/// The rules about the situation itself that hold.
pub fn of_situation<'a>(rules: &'a Rules, situation: &UseCase) -> Vec<&'a Rule> {
    let holds = |rule: &&Rule| rule.of_situation() && rule.when.holds(situation);
    rules.rule.iter().filter(holds).collect()
}

fn holds(rule: &Rule, situation: &UseCase, subject: &Subject, figures: &Figures) -> bool {
    rule.lock.as_ref().is_none_or(|which| which.holds(situation, subject))
        && rule
            .measured
            .as_ref()
            .is_none_or(|measured| measured.holds(situation, subject.info.name, figures))
}

/// Whether an optional condition holds.
fn set<T>(condition: Option<&T>, holds: impl FnOnce(&T) -> bool) -> bool {
    condition.is_none_or(holds)
}

impl When {
    /// Whether every part of it holds.
    pub fn holds(&self, situation: &UseCase) -> bool {
        let UseCase { threads, section_ns, .. } = situation;
        let need = match situation.fairness {
            Need::None => "none",
            Need::Some => "some",
            Need::Strict => "strict",
            Need::Bound(_) => "bound",
        };
        let runnable = situation.runnable_per_cpu();
        let demand = situation.demand();
        let other = situation.cpus != situation.measured_cpus;
        set(self.threads_above.as_ref(), |most| threads > most)
            && set(self.threads_at_most.as_ref(), |most| threads <= most)
            && set(self.runnable_per_cpu_above.as_ref(), |most| runnable > *most)
            && set(self.runnable_per_cpu_at_most.as_ref(), |most| runnable <= *most)
            && set(self.demand_above.as_ref(), |most| demand > *most)
            && set(self.demand_at_most.as_ref(), |most| demand <= *most)
            && set(self.section_ns_above.as_ref(), |most| section_ns > most)
            && set(self.section_ns_at_most.as_ref(), |most| section_ns <= most)
            && set(self.used_by.as_ref(), |these| these.contains(&situation.used_by))
            && set(self.fairness.as_ref(), |needs| needs.iter().any(|one| one == need))
            && set(self.realtime.as_ref(), |realtime| situation.realtime == *realtime)
            && set(self.bytes_at_most.as_ref(), |most| {
                situation.bytes.is_some_and(|bytes| bytes <= *most)
            })
            && set(self.company.as_ref(), |these| these.contains(&situation.company))
            && set(self.condvar.as_ref(), |condvar| situation.condvar == *condvar)
            && set(self.language.as_ref(), |these| these.contains(&situation.language))
            && set(self.freed.as_ref(), |freed| situation.freed == *freed)
            && set(self.specimens.as_ref(), |specimens| situation.specimens == *specimens)
            && set(self.other_machine.as_ref(), |wanted| other == *wanted)
            && set(self.virtual_machine.as_ref(), |wanted| situation.virtual_machine == *wanted)
    }
}

impl Which {
    fn holds(&self, situation: &UseCase, subject: &Subject) -> bool {
        let Subject { info, size, .. } = subject;
        let among =
            |words: &Vec<String>| words.iter().any(|word| WildMatch::new(word).matches(info.name));
        let over = situation.bytes.is_some_and(|bytes| *size > bytes);
        set(self.names.as_ref(), among)
            && set(self.not_names.as_ref(), |words| !among(words))
            && set(self.waiting.as_ref(), |these| these.contains(&info.waiting.to_string()))
            && set(self.fairness.as_ref(), |these| these.contains(&info.fairness.to_string()))
            && set(self.origin.as_ref(), |these| these.contains(&info.origin.to_string()))
            && set(self.condvar.as_ref(), |this| *this == info.condvar.to_string())
            && set(self.touches_after_release.as_ref(), |touches| {
                info.touches_after_release == *touches
            })
            && set(self.bytes_above.as_ref(), |most| size > most)
            && set(self.bytes_at_most.as_ref(), |most| size <= most)
            && set(self.over_budget.as_ref(), |wanted| over == *wanted)
    }
}

impl Measured {
    fn holds(&self, situation: &UseCase, lock: &str, figures: &Figures) -> bool {
        let metric = &self.metric;
        let Some(figure) = figures.get(lock, metric) else { return false };
        let bound = match situation.fairness {
            Need::Bound(bound) => bound.as_secs_f64() * 1e3,
            Need::None | Need::Some | Need::Strict => f64::INFINITY,
        };
        set(self.below.as_ref(), |least| figure.median < *least)
            && set(self.above.as_ref(), |most| figure.median > *most)
            && set(self.above_bound.as_ref(), |wanted| (figure.max > bound) == *wanted)
            && set(self.times_least.as_ref(), |times| {
                figures.least(metric).is_some_and(|least| figure.median >= least * times)
            })
    }
}
