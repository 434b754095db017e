//! How well the simulator agrees with a table.

use super::case::Table;
use super::stats::{crossing, median, spearman};

/// A published number and the simulated one.
#[derive(Clone, Debug)]
pub struct Point {
    /// Machine and workload.
    pub series: String,
    /// Threads.
    pub threads: u32,
    /// The lock as the source has it.
    pub lock: &'static str,
    /// The lock of the zoo.
    pub ours: &'static str,
    /// In the table's unit.
    pub published: f64,
    /// In the table's unit.
    pub simulated: f64,
    /// Parameters were fitted to it: it counts in no figure below.
    pub fitted: bool,
}

impl Point {
    /// How far the simulated number is off, as a part of the published one.
    pub fn error(&self) -> f64 {
        self.simulated / self.published - 1.0
    }
}

/// Where one lock's curve crosses another's.
#[derive(Clone, Debug)]
pub struct Crossing {
    /// Machine and workload.
    pub series: String,
    /// The lock that is cheaper in the end, in the published curves or, if those do not cross, in the simulated ones.
    pub lock: &'static str,
    /// The other.
    pub other: &'static str,
    /// Between these thread counts, as published.
    pub published: Option<(f64, f64)>,
    /// Between these thread counts, as simulated.
    pub simulated: Option<(f64, f64)>,
}

/// What the simulator makes of a table.
#[derive(Debug)]
pub struct Verdict {
    /// The table's name.
    pub name: &'static str,
    /// Its author and title.
    pub source: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What was fitted, what is left out.
    pub note: &'static str,
    /// Only the order of locks counts.
    pub order_only: bool,
    /// Its numbers.
    pub points: Vec<Point>,
    /// Locks that the zoo does not have.
    pub missing: Vec<&'static str>,
    /// Rank correlation over all points that were not fitted.
    pub rank_of_points: Option<f64>,
    /// Mean rank correlation of the locks at one thread count, and of how many of these: where the published numbers
    /// are apart.
    pub rank_of_locks: Option<(f64, usize)>,
    /// The median of the errors without their signs.
    pub median_error: Option<f64>,
    /// Where curves cross.
    pub crossings: Vec<Crossing>,
}

impl Verdict {
    pub(super) fn of(table: &Table, results: &[Option<f64>]) -> Self {
        let mut missing: Vec<_> = table
            .cases
            .iter()
            .zip(results)
            .filter(|(_, result)| result.is_none())
            .map(|(case, _)| case.lock)
            .collect();
        missing.sort_unstable();
        missing.dedup();
        let points: Vec<Point> = table
            .cases
            .iter()
            .zip(results)
            .filter_map(|(case, result)| {
                Some(Point {
                    series: case.series.clone(),
                    threads: case.threads,
                    lock: case.lock,
                    ours: case.ours,
                    published: case.published,
                    simulated: (*result)?,
                    fitted: case.fitted,
                })
            })
            .collect();
        let predicted: Vec<&Point> = points.iter().filter(|point| !point.fitted).collect();
        let rank_of_points = spearman(&pairs(&predicted)).filter(|_| !table.order_only);
        let groups = groups(&predicted);
        let apart = groups.iter().filter(|group| is_apart(group));
        let ranks: Vec<f64> = apart.filter_map(|group| spearman(&pairs(group))).collect();
        let mean = ranks.iter().sum::<f64>() / ranks.len() as f64;
        let rank_of_locks = (!ranks.is_empty()).then_some((mean, ranks.len()));
        let errors = predicted.iter().map(|point| point.error().abs()).collect();
        let median_error = median(errors).filter(|_| !table.order_only);
        Self {
            name: table.name,
            source: table.source,
            unit: table.unit,
            note: table.note,
            order_only: table.order_only,
            crossings: crossings(&points),
            points,
            missing,
            rank_of_points,
            rank_of_locks,
            median_error,
        }
    }
}

/// Whether the largest published number of a group is a tenth more than the least one at least: the order of locks that
/// are nearer is that of noise.
fn is_apart(group: &[&Point]) -> bool {
    let published = || group.iter().map(|point| point.published);
    published().fold(0.0, f64::max) >= 1.1 * published().fold(f64::INFINITY, f64::min)
}

fn pairs(points: &[&Point]) -> Vec<(f64, f64)> {
    points.iter().map(|point| (point.published, point.simulated)).collect()
}

/// Points of one series and one thread count.
fn groups<'a>(points: &[&'a Point]) -> Vec<Vec<&'a Point>> {
    let mut groups: Vec<Vec<&Point>> = Vec::new();
    for point in points {
        let same = |group: &&mut Vec<&Point>| {
            group[0].series == point.series && group[0].threads == point.threads
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(point),
            None => groups.push(vec![point]),
        }
    }
    groups
}

/// Where the curves of two locks cross, for each series and each two locks of it.
fn crossings(points: &[Point]) -> Vec<Crossing> {
    let mut series: Vec<&str> = points.iter().map(|point| point.series.as_str()).collect();
    series.dedup();
    let mut found = Vec::new();
    for series in series {
        let here: Vec<&Point> = points.iter().filter(|point| point.series == series).collect();
        let mut locks: Vec<&'static str> = here.iter().map(|point| point.lock).collect();
        locks.sort_unstable();
        locks.dedup();
        for (index, lock) in locks.iter().enumerate() {
            for other in &locks[index + 1..] {
                found.extend(crossing_of(series, &here, lock, other));
            }
        }
    }
    found
}

fn crossing_of(
    series: &str,
    here: &[&Point],
    lock: &'static str,
    other: &'static str,
) -> Option<Crossing> {
    let mut both: Vec<(&Point, &Point)> = here
        .iter()
        .filter(|point| point.lock == lock)
        .filter_map(|one| {
            let same = |point: &&&Point| point.lock == other && point.threads == one.threads;
            Some((*one, *here.iter().find(same)?))
        })
        .collect();
    both.sort_by_key(|(one, _)| one.threads);
    let curves = |value: fn(&Point) -> f64| -> Vec<_> {
        both.iter().map(|(one, other)| (f64::from(one.threads), value(one), value(other))).collect()
    };
    let (published, simulated) =
        (crossing(&curves(|point| point.published)), crossing(&curves(|point| point.simulated)));
    let (one, two) = both.last()?;
    let lock_ends_below = match published {
        Some(_) => one.published < two.published,
        None => one.simulated < two.simulated,
    };
    let (lock, other) = if lock_ends_below { (lock, other) } else { (other, lock) };
    (published.is_some() || simulated.is_some()).then(|| Crossing {
        series: series.into(),
        lock,
        other,
        published,
        simulated,
    })
}
