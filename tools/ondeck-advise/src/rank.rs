//! The order of locks: by measurements, then by rules, then by memory.
//!
//! Locks that are not distinguished are in one tier. The first tier is the best lock and all that
//! do not differ from it; the next begins with the best of the others. All pairs are judged at
//! once, so the level of one pair is the common level divided by the number of pairs (Bonferroni):
//! the best of many is best by luck more often than the best of two.

use std::cmp::Ordering;

use ondeck_lab::results::{Better, Metric};
use ondeck_report::compare::{rank, ratio};

use super::answer::Versus;
use super::figures::Figures;
use super::firing::Judged;
use super::rules::Different;

/// A lock with its rank.
#[derive(Clone, Debug)]
pub struct Ranked<'a> {
    /// The lock, and the rules that hold for it.
    pub judged: Judged<'a>,
    /// Measurements do not distinguish locks with the same number.
    pub tier: usize,
}

/// The level of one pair among this number of locks.
pub fn level(different: Different, locks: usize) -> f64 {
    let pairs = (locks * locks.saturating_sub(1) / 2).max(1);
    different.alpha / pairs as f64
}

/// Compares `one` with `other`.
pub fn against(one: &Metric, other: &Metric, alpha: f64, least: f64) -> Option<Versus> {
    let (base, better) = match one.better {
        Better::Lower => (one, other),
        Better::Higher | Better::Neither => (other, one),
    };
    let p = rank::p_value(&base.samples, &better.samples);
    let ratio = ratio::of(&base.samples, &better.samples, alpha)?;
    let worth = ratio.estimate >= 1.0 + least || ratio.estimate <= 1.0 / (1.0 + least);
    Some(Versus {
        than: String::new(),
        ratio: ratio.estimate,
        interval: ratio.interval,
        p,
        differs: p < alpha && worth,
    })
}

/// Ranks locks by a metric. Locks without a figure are in the last tier; without any figures all
/// are in one.
pub fn rank<'a>(
    locks: Vec<Judged<'a>>,
    figures: &Figures,
    metric: &str,
    different: Different,
) -> Vec<Ranked<'a>> {
    let alpha = level(different, locks.len());
    let figure = |judged: &Judged| figures.get(judged.name(), metric);
    let (mut measured, rest): (Vec<_>, Vec<_>) =
        locks.into_iter().partition(|judged| figure(judged).is_some());
    measured.sort_by(|one, other| match (figure(one), figure(other)) {
        (Some(one), Some(other)) => better_first(one, other),
        _ => Ordering::Equal,
    });
    let mut ranked: Vec<Ranked<'a>> = Vec::new();
    let mut tier = 0;
    while !measured.is_empty() {
        let leader = figure(&measured[0]).cloned();
        let apart = |judged: &Judged| {
            let pair = leader.as_ref().zip(figure(judged));
            pair.and_then(|(leader, its)| against(leader, its, alpha, different.least))
                .is_some_and(|against| against.differs)
        };
        let (behind, mut equal): (Vec<_>, Vec<_>) = measured.into_iter().partition(apart);
        equal.sort_by(by_rules);
        ranked.extend(equal.into_iter().map(|judged| Ranked { judged, tier }));
        measured = behind;
        tier += 1;
    }
    let mut rest = rest;
    rest.sort_by(by_rules);
    ranked.extend(rest.into_iter().map(|judged| Ranked { judged, tier }));
    ranked
}

fn better_first(one: &Metric, other: &Metric) -> Ordering {
    match one.better {
        Better::Lower => one.median.total_cmp(&other.median),
        Better::Higher | Better::Neither => other.median.total_cmp(&one.median),
    }
}

/// Moves the program's present lock to the front if no measurement and no rule separates it from
/// the best one. Returns whether it did.
pub fn stay(ranked: &mut [Ranked], now: &str) -> bool {
    let alike = not_told_apart(ranked);
    let is_now = |one: &Ranked| {
        one.judged.name().strip_prefix(now).is_some_and(|rest| ["", "_rwlock"].contains(&rest))
    };
    let place = ranked[..alike].iter().position(is_now);
    if let Some(place) = place {
        ranked[..=place].rotate_right(1);
    }
    place.is_some()
}

/// By rules, then by memory, then in the order of the list.
fn by_rules(one: &Judged, other: &Judged) -> Ordering {
    other.standing().cmp(&one.standing()).then(one.memory().cmp(&other.memory()))
}

/// The number of first locks that only memory orders: 1 if the first one is distinguished.
pub fn not_told_apart(ranked: &[Ranked]) -> usize {
    let Some(first) = ranked.first() else { return 0 };
    let same =
        |one: &&Ranked| one.tier == first.tier && one.judged.standing() == first.judged.standing();
    ranked.iter().take_while(same).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::figures;
    use ondeck_lab::sample::{PAIR, THROUGHPUT};
    use ondeck_lab::workload::Subject;

    const DIFFERENT: Different = Different { alpha: 0.05, least: 0.05 };

    fn names(figures: &Figures) -> (Vec<(&'static str, usize)>, usize) {
        let all = Subject::all();
        let wanted = ["glibc", "std", "parking_lot"];
        let locks = all.iter().filter(|subject| wanted.contains(&subject.info.name));
        let locks = locks.map(|subject| Judged { subject, rules: Vec::new() }).collect();
        let ranked = rank(locks, figures, "throughput", DIFFERENT);
        let names = ranked.iter().map(|one| (one.judged.name(), one.tier)).collect();
        (names, not_told_apart(&ranked))
    }

    /// Ten samples around a middle, spaced by a hundredth of it.
    fn around(middle: f64) -> Vec<f64> {
        (0..10).map(|step| middle * (0.955 + 0.01 * f64::from(step))).collect()
    }

    #[test]
    fn a_lock_that_is_better_for_sure_is_first_and_the_others_are_not_told_apart() {
        let (fast, slow, slower) = (around(9e6), around(5e6), around(4.95e6));
        let figures = figures(&[
            ("glibc", THROUGHPUT, &slow),
            ("std", THROUGHPUT, &fast),
            ("parking_lot", THROUGHPUT, &slower),
        ]);
        // The smaller one first.
        let expected = vec![("std", 0), ("parking_lot", 1), ("glibc", 1)];
        assert_eq!(names(&figures), (expected, 1));
    }

    #[test]
    fn noise_leaves_memory_to_decide_and_says_so() {
        let (one, other) = (around(5e6), around(5.1e6));
        let figures = figures(&[
            ("glibc", THROUGHPUT, &other),
            ("std", THROUGHPUT, &other),
            ("parking_lot", THROUGHPUT, &one),
        ]);
        let (names, alike) = names(&figures);
        assert_eq!((names[0].0, alike), ("parking_lot", 3));
        assert_eq!(names.iter().map(|(_, tier)| tier).max(), Some(&0));
    }

    #[test]
    fn what_the_program_has_now_is_first_of_those_that_nothing_tells_apart() {
        let all = Subject::all();
        let judged = |name: &str| {
            let subject = all.iter().find(|subject| subject.info.name == name).expect(name);
            Judged { subject, rules: Vec::new() }
        };
        let ranked = |tiers: [usize; 3]| -> Vec<Ranked> {
            let names = ["parking_lot", "std", "glibc"];
            let places = names.into_iter().zip(tiers);
            places.map(|(name, tier)| Ranked { judged: judged(name), tier }).collect()
        };
        let names =
            |ranked: &[Ranked]| -> Vec<_> { ranked.iter().map(|one| one.judged.name()).collect() };
        let mut alike = ranked([0, 0, 0]);
        assert!(stay(&mut alike, "glibc"));
        assert_eq!(names(&alike), ["glibc", "parking_lot", "std"]);
        let mut behind = ranked([0, 0, 1]);
        assert!(!stay(&mut behind, "glibc"));
        assert_eq!(names(&behind), ["parking_lot", "std", "glibc"]);
        assert!(!stay(&mut [], "glibc"));
    }

    #[test]
    fn a_difference_that_is_sure_but_small_is_not_worth_a_choice() {
        let tight =
            |middle: f64| -> Vec<f64> { (0..10).map(|step| middle + f64::from(step)).collect() };
        let (one, other) = (tight(5e6), tight(5.1e6));
        let figures = figures(&[("std", THROUGHPUT, &other), ("parking_lot", THROUGHPUT, &one)]);
        let (std, lot) =
            (figures.get("std", "throughput"), figures.get("parking_lot", "throughput"));
        let against = against(std.expect("std"), lot.expect("parking_lot"), 0.05, 0.05);
        let against = against.expect("samples");
        assert!(against.p < 0.001 && !against.differs, "{against:?}");
    }

    #[test]
    fn better_is_above_one_whichever_direction_that_is() {
        let (one, other) = (around(10.0), around(20.0));
        let figures = figures(&[("std", PAIR, &one), ("glibc", PAIR, &other)]);
        let (std, glibc) = (figures.get("std", "pair"), figures.get("glibc", "pair"));
        let against = against(std.expect("std"), glibc.expect("glibc"), 0.05, 0.05);
        assert!(against.is_some_and(|against| against.ratio > 1.9 && against.differs));
    }
}
