//! How well the simulator and the baseline agree with a table.

use super::case::Table;
use super::copied::copies;
use super::stats::{median, spearman, within};

/// A published number, the simulated one, and the copied one.
#[derive(Clone, Debug)]
pub struct Point {
    /// Machine and workload.
    pub series: String,
    pub threads: u32,
    /// The lock as the source has it.
    pub lock: &'static str,
    /// The lock of the zoo.
    pub ours: &'static str,
    /// In the table's unit.
    pub published: f64,
    /// In the table's unit.
    pub simulated: f64,
    /// The nearest published machine's number, if there is one.
    pub copied: Option<f64>,
    /// Something was fitted to it, so it is no prediction.
    pub fitted: bool,
}

/// The agreement of numbers with the published ones.
#[derive(Clone, Debug)]
pub struct Figures {
    /// How many numbers there are.
    pub numbers: usize,
    /// The median of the factors: the larger of both numbers divided by the smaller one.
    pub median_factor: Option<f64>,
    /// The factor that nine of ten numbers are within.
    pub ninetieth: Option<f64>,
    /// The rank correlation over all numbers.
    pub rank_of_points: Option<f64>,
    /// The mean rank correlation of the locks at one thread count, and the number of thread counts. Counts only
    /// where the published numbers are apart.
    pub rank_of_locks: Option<(f64, usize)>,
}

impl Figures {
    /// The figures of these points, each with the number to compare.
    fn of(points: &[(&Point, f64)], order_only: bool) -> Self {
        let factors = || {
            let ratio = |(point, number): &(&Point, f64)| number / point.published;
            points.iter().map(ratio).map(|ratio| ratio.max(1.0 / ratio)).collect::<Vec<_>>()
        };
        let groups = groups(points);
        let apart = groups.iter().filter(|group| is_apart(group));
        let ranks: Vec<f64> = apart.filter_map(|group| spearman(&pairs(group))).collect();
        let mean = ranks.iter().sum::<f64>() / ranks.len() as f64;
        Self {
            numbers: points.len(),
            median_factor: median(factors()).filter(|_| !order_only),
            ninetieth: within(factors(), 0.9).filter(|_| !order_only),
            rank_of_points: spearman(&pairs(points)).filter(|_| !order_only),
            rank_of_locks: (!ranks.is_empty()).then_some((mean, ranks.len())),
        }
    }

    /// Median factor, ninetieth percentile, rank of all numbers, rank of locks.
    pub fn words(&self) -> [String; 4] {
        let word = |number: Option<f64>| number.map_or("-".into(), |number| format!("{number:.2}"));
        let locks = self.rank_of_locks.map(|(mean, _)| mean);
        [self.median_factor, self.ninetieth, self.rank_of_points, locks].map(word)
    }
}

/// The simulator's result for a table.
#[derive(Debug)]
pub struct Verdict {
    /// The table's name.
    pub name: &'static str,
    /// Its author and title.
    pub source: &'static str,
    /// Its unit; `None` if only the order of the locks counts.
    pub unit: Option<&'static str>,
    /// The values fitted, and the rows left out.
    pub note: &'static str,
    /// Its numbers.
    pub points: Vec<Point>,
    /// Locks that the zoo does not have.
    pub missing: Vec<&'static str>,
}

impl Verdict {
    pub(super) fn of(table: &Table, results: &[Option<f64>]) -> Self {
        let all = || table.cases.iter().zip(results).zip(copies(table));
        let mut missing: Vec<_> = all()
            .filter(|((_, result), _)| result.is_none())
            .map(|((case, _), _)| case.lock)
            .collect();
        missing.sort_unstable();
        missing.dedup();
        let points: Vec<Point> = all()
            .filter_map(|((case, result), copied)| {
                Some(Point {
                    series: case.series.clone(),
                    threads: case.published.threads,
                    lock: case.lock,
                    ours: case.published.ours,
                    published: case.published.value,
                    simulated: (*result)?,
                    copied,
                    fitted: case.is_fitted(table.name),
                })
            })
            .collect();
        Self {
            name: table.name,
            source: table.source,
            unit: table.unit,
            note: table.note,
            points,
            missing,
        }
    }

    /// The lines of the summary: predictions; the baseline, and the predictions where the baseline has a number; and
    /// fitted numbers, which count in no other line.
    pub fn lines(&self) -> Vec<(&'static str, Figures)> {
        let predicted = || self.points.iter().filter(|point| !point.fitted);
        let all: Vec<_> = predicted().map(|point| (point, point.simulated)).collect();
        let copied: Vec<_> = predicted().filter_map(|point| Some((point, point.copied?))).collect();
        let beside: Vec<_> = copied.iter().map(|(point, _)| (*point, point.simulated)).collect();
        let fitted = self.points.iter().filter(|point| point.fitted);
        let fitted: Vec<_> = fitted.map(|point| (point, point.simulated)).collect();
        let figures = |points: &[_]| Figures::of(points, self.unit.is_none());
        let mut lines = vec![("simulator", figures(&all))];
        if !copied.is_empty() {
            if beside.len() < all.len() {
                lines.push(("simulator, where there is a copy", figures(&beside)));
            }
            lines.push(("copy of the nearest machine", figures(&copied)));
        }
        if !fitted.is_empty() {
            lines.push(("fitted, not counted", figures(&fitted)));
        }
        lines
    }
}

/// Whether the largest published number of a group exceeds the least by at least a tenth. The order of locks that are
/// closer is noise.
fn is_apart(group: &[(&Point, f64)]) -> bool {
    let published = || group.iter().map(|(point, _)| point.published);
    published().fold(0.0, f64::max) >= 1.1 * published().fold(f64::INFINITY, f64::min)
}

fn pairs(points: &[(&Point, f64)]) -> Vec<(f64, f64)> {
    points.iter().map(|(point, number)| (point.published, *number)).collect()
}

/// Points of one series at one thread count.
fn groups<'a>(points: &[(&'a Point, f64)]) -> Vec<Vec<(&'a Point, f64)>> {
    let mut groups: Vec<Vec<(&Point, f64)>> = Vec::new();
    for &(point, number) in points {
        let same = |group: &&mut Vec<(&Point, f64)>| {
            group[0].0.series == point.series && group[0].0.threads == point.threads
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push((point, number)),
            None => groups.push(vec![(point, number)]),
        }
    }
    groups
}
