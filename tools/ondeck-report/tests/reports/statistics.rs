//! The figures of a comparison are right: against scipy, and against data with known truth.

use fastrand::Rng;
use ondeck_lab::results::Series;
use ondeck_report::compare::{Row, rank, ratio};
use serde::Deserialize;

use crate::support::{draw, of_files, throughput};

/// What scipy 1.17.1's `mannwhitneyu` says: `exact` without ties, `permutation` of all for small
/// tied samples, `asymptotic` with continuity for large ones. An interval is of the ratios at which
/// its exact test's p-value passes alpha.
#[derive(Deserialize)]
struct Vectors {
    alpha: f64,
    vectors: Vec<Vector>,
}

#[derive(Deserialize)]
struct Vector {
    one: Vec<f64>,
    other: Vec<f64>,
    method: String,
    p: f64,
    ratio: Option<f64>,
    interval: Option<(f64, f64)>,
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-8 * one.abs().max(other.abs())
}

#[test]
fn p_values_ratios_and_intervals_are_those_of_scipy() {
    let text = include_str!("../data/comparison-vectors.json");
    let Vectors { alpha, vectors } = serde_json::from_str(text).expect("the vectors");
    for method in ["exact", "permutation", "asymptotic"] {
        assert!(vectors.iter().filter(|vector| vector.method == method).count() >= 10, "{method}");
    }
    for Vector { one, other, method, p, ratio, interval } in &vectors {
        let exact = one.len() + other.len() <= rank::MOST_EXACT;
        assert_eq!(exact, method != "asymptotic");
        let found = rank::p_value(one, other);
        assert!(close(found, *p), "{method} p {found}, not {p}: {one:?} {other:?}");
        let Some(ratio) = ratio else { continue };
        let found = ratio::of(one, other, alpha.to_owned()).expect("above zero");
        assert!(close(found.estimate, *ratio), "{found:?}, not {ratio}: {one:?} {other:?}");
        match (found.interval, interval) {
            (None, None) => {}
            (Some(found), Some(right)) => assert!(
                close(found.0, right.0) && close(found.1, right.1),
                "{found:?}, not {right:?}: {one:?} {other:?}"
            ),
            (found, right) => panic!("{found:?}, not {right:?}: {one:?} {other:?}"),
        }
    }
}

/// `runs` rows of `rounds` rounds with a spread of 3 %; the other side is `shift` times the base.
fn rows(seed: u64, runs: usize, rounds: usize, shift: f64) -> Vec<Row> {
    let mut rng = Rng::with_seed(seed);
    let mut side = |centre: f64| -> Vec<Series> {
        let lock = |number| format!("lock_{number}");
        (0..runs)
            .map(|number| throughput(&lock(number), 8, &draw(&mut rng, rounds, centre, 0.03)))
            .collect()
    };
    let (base, other) = (side(1e6), side(1e6 * shift));
    let mut comparison = of_files(base, other);
    comparison.tables.remove(0).rows
}

/// The exact test is conservative: at 10 rounds a side it calls 4.3 % different. 10,000 runs
/// distinguish that from 5 % by three deviations.
#[test]
fn a_self_comparison_says_nothing_in_95_of_100_runs() {
    for (rounds, runs) in [(10, 10_000), (30, 2_000)] {
        let rows = rows(1, runs, rounds, 1.0);
        let silent = rows.iter().filter(|row| !row.differs).count();
        assert!(silent * 100 >= runs * 95, "{silent} of {runs} with {rounds} rounds");
        assert!(silent < runs, "it never says anything");
    }
}

#[test]
fn a_planted_shift_of_five_percent_is_found() {
    for (rounds, runs, found_of_100) in [(10, 1_000, 90), (20, 200, 99)] {
        for shift in [1.05, 1.0 / 1.05] {
            let rows = rows(2, runs, rounds, shift);
            let found = rows
                .iter()
                .filter(|row| row.differs && (row.ratio > Some(1.0)) == (shift > 1.0))
                .count();
            assert!(found * 100 >= found_of_100 * runs, "{found} of {runs} with {rounds} rounds");
        }
    }
}

#[test]
fn intervals_hold_the_true_ratio_as_often_as_they_say() {
    for (rounds, runs) in [(6, 2_000), (10, 2_000), (40, 1_000)] {
        let rows = rows(3, runs, rounds, 1.05);
        let holding = rows
            .iter()
            .filter_map(|row| row.interval)
            .filter(|(low, high)| (low..=high).contains(&&1.05))
            .count();
        // The test's coverage is never lower, except by chance: three deviations.
        let chance = 3.0 * (runs as f64 * 0.05 * 0.95).sqrt();
        let least = runs as f64 * 0.95 - chance;
        assert!(holding as f64 >= least, "{holding} of {runs} with {rounds} rounds");
        assert!(holding < runs, "they hold everything");
    }
}
