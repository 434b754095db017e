//! Queries on the measurements that all sections use.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hash::Hash;

use ondeck_lab::results::{Better, Distribution, Metric, Origin, Report, Series, Unit};
use ondeck_lab::sample::THROUGHPUT;
use ondeck_lab::workload::face::Judged;
use ondeck_lab::workload::{self, NOTIFY, WORKLOADS, param};
use ondeck_text::numbers::page as number;

/// Every lock that has a series, a row of facts or a failure, in that order of appearance.
pub fn lock_names(report: &Report) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let all = report
        .series
        .iter()
        .map(|series| &series.lock)
        .chain(report.locks.iter().map(|row| &row.name))
        .chain(report.failures.iter().map(|failure| &failure.lock));
    for name in all {
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}

/// Whether a lock comes from a paper or from the three texts: a lock for study, and not to choose.
pub fn is_historical(report: &Report, lock: &str) -> bool {
    let row = report.locks.iter().find(|row| row.name == lock);
    let historical = [Origin::Sources, Origin::Literature].map(|origin| origin.to_string());
    row.is_some_and(|row| historical.contains(&row.origin))
}

/// The origin of the numbers, in a line that is also below every saved figure.
pub fn origin(report: &Report) -> String {
    let machine = &report.machine;
    let cpus = match machine.usable_cpus {
        0 => String::new(),
        1 => "1 CPU".to_owned(),
        cpus => format!("{cpus} CPUs"),
    };
    let words = [
        or_unknown(&machine.cpu),
        &cpus,
        if machine.virtualized.is_some() { "virtual" } else { "" },
        &machine.kernel,
        &machine.libc,
        &format!("ondeck {}", report.build.version),
        &report.started,
    ];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.trim().is_empty()).collect();
    words.join(" · ")
}

/// The name of a CPU, or a substitute.
pub fn or_unknown(name: &str) -> &str {
    if name.trim().is_empty() { "an unnamed CPU" } else { name }
}

/// The workloads of a report: known ones in their order, then the others as they appear.
pub fn workloads(report: &Report) -> Vec<&str> {
    let mut names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
    for series in &report.series {
        if !names.contains(&&*series.workload) {
            names.push(&series.workload);
        }
    }
    names.retain(|name| report.series.iter().any(|series| series.workload == *name));
    names
}

/// The series of one workload.
pub fn of_workload<'a>(report: &'a Report, workload: &str) -> Vec<&'a Series> {
    report.series.iter().filter(|series| series.workload == workload).collect()
}

/// Groups items with equal keys, in the order in which the keys appear.
pub fn grouped<'a, T, K: Clone + Eq + Hash>(
    items: impl IntoIterator<Item = &'a T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<&'a T>)> {
    let mut groups: Vec<(K, Vec<&'a T>)> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for item in items {
        let found = key(item);
        if let Some(place) = places.get(&found) {
            groups[*place].1.push(item);
        } else {
            places.insert(found.clone(), groups.len());
            groups.push((found, vec![item]));
        }
    }
    groups
}

/// The metric that ranks a workload's locks.
pub fn main_metric(series: &Series) -> Option<&Metric> {
    let name = match workload::named(&series.workload).map(|workload| workload.judged) {
        Some(Judged::By(quantity) | Judged::RankedBy(quantity)) => quantity.name,
        None => THROUGHPUT.name,
    };
    series
        .metric(name)
        .or_else(|| series.metrics.iter().find(|metric| metric.better != Better::Neither))
        .or_else(|| series.metrics.first())
}

/// The numbers of threads that appear, ascending.
pub fn thread_counts(series: &[&Series]) -> Vec<usize> {
    let mut counts: Vec<usize> = series.iter().map(|series| series.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// The locks of some series, in order of appearance.
pub fn locks<'a>(series: &[&'a Series]) -> Vec<&'a str> {
    grouped(series.iter().copied(), |series| series.lock.clone())
        .into_iter()
        .filter_map(|(_, members)| members.first().map(|series| &*series.lock))
        .collect()
}

/// The series of a lock at a number of threads.
pub fn find<'a>(series: &[&'a Series], lock: &str, threads: usize) -> Option<&'a Series> {
    series.iter().copied().find(|series| series.lock == lock && series.threads == threads)
}

/// The time that this percentage of all times does not exceed, in nanoseconds, if the report has
/// it.
pub fn percentile(times: &Distribution, percent: f64) -> Option<f64> {
    let recorded = times.percentiles.iter().find(|(known, _)| (known - percent).abs() < 1e-9);
    recorded.map(|(_, nanos)| *nanos as f64)
}

/// Sorts locks by a value, best first; those without one come last.
pub fn sort_locks(locks: &mut [&str], better: Better, value: impl Fn(&str) -> Option<f64>) {
    let key = |lock: &str| match value(lock).filter(|value| value.is_finite()) {
        Some(value) if better == Better::Higher => -value,
        Some(value) => value,
        None => f64::INFINITY,
    };
    locks.sort_by(|a, b| key(a).total_cmp(&key(b)));
}

/// Parameters in words: "section 100 ns, outside 500 ns"; empty when there are none.
pub fn params_in_words(params: &BTreeMap<String, String>) -> String {
    let is_zero = |name: &str| params.get(name).is_some_and(|value| value == "0");
    let mut words = Vec::new();
    if let Some(value) = params.get(param::SECTION) {
        words.push(if value == "0" {
            "empty section".to_owned()
        } else {
            format!("section {value} ns")
        });
    }
    if let Some(value) = params.get(param::OUTSIDE) {
        words.push(if is_zero(param::OUTSIDE) {
            "nothing outside".to_owned()
        } else {
            format!("{value} ns outside")
        });
    }
    words.extend(param::worded(params));
    for (name, value) in params {
        if name == param::SECTION || name == param::OUTSIDE || param::is_worded(name) {
            continue;
        }
        if name == NOTIFY {
            words.push("notified after the unlock".to_owned());
            continue;
        }
        let (stem, unit) = [("_ns", " ns"), ("_us", " µs"), ("_ms", " ms")]
            .into_iter()
            .find_map(|(suffix, unit)| name.strip_suffix(suffix).map(|stem| (stem, unit)))
            .unwrap_or((name, ""));
        words.push(format!("{} {value}{unit}", stem.replace('_', " ")));
    }
    words.join(", ")
}

/// The same for a terminal, where an empty section is not mentioned.
pub fn params_in_brief(params: &BTreeMap<String, String>) -> String {
    let mut others = params.clone();
    let section_and_outside = (others.remove(param::SECTION), others.remove(param::OUTSIDE));
    let mut words = params_in_words(&others);
    if let (Some(section), Some(outside)) = section_and_outside
        && (&*section, &*outside) != ("0", "0")
    {
        let comma = if words.is_empty() { "" } else { ", " };
        _ = write!(words, "{comma}{section} ns inside, {outside} outside");
    }
    words
}

/// The display of a metric: its numbers times `factor` are in `unit`.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The factor.
    pub factor: f64,
    /// The unit after that.
    pub unit: String,
    /// Whether values are ratios between 0 and 1.
    pub ratio: bool,
}

impl Shown {
    /// Chooses for a unit and its values.
    pub fn new(unit: &str, values: impl Iterator<Item = f64>) -> Self {
        let most = values.filter(|value| value.is_finite()).fold(0.0, |a: f64, b| a.max(b.abs()));
        let (factor, shown) = match Unit::of(unit) {
            Some(Unit::Nanoseconds) if most >= 1e6 => (1e-6, "ms"),
            Some(Unit::PerSecond) if most >= 1e6 => (1e-6, "M/s"),
            Some(Unit::PerSecond) if most >= 1e3 => (1e-3, "k/s"),
            Some(Unit::PerSecond) => (1.0, "1/s"),
            Some(Unit::PerOperation) if most < 0.01 => (1e6, "per million operations"),
            Some(Unit::PerOperation) => (1.0, "per operation"),
            _ => (1.0, unit),
        };
        Shown { factor, unit: shown.to_owned(), ratio: unit == Unit::Ratio.word() }
    }

    /// A value in the form of the table.
    pub fn text(&self, value: f64) -> String {
        if self.ratio && (0.0..=1.0).contains(&value) {
            number::ratio(value)
        } else {
            number::number(value * self.factor)
        }
    }
}

/// The name of a metric on the page.
pub fn metric_title(name: &str) -> String {
    match workload::quantity(name) {
        Some(quantity) => quantity.title.to_owned(),
        None => capitalized(&name.replace('_', " ")),
    }
}

/// The name of a workload.
pub fn title(workload: &str) -> String {
    match workload::named(workload) {
        Some(workload) => workload.title.to_owned(),
        None => capitalized(&workload.replace('_', " ")),
    }
}

/// The description of a workload of this program, as the page about the workloads has it.
pub fn lead(workload: &str) -> Option<String> {
    section(workload)?.split("\n\n").next().map(in_one_line)
}

/// The limits of its figures, from the same page.
pub fn cannot_show(workload: &str) -> Option<String> {
    let (_, limits) = section(workload)?.split_once("\n* Cannot show: ")?;
    Some(in_one_line(limits))
}

fn section(workload: &str) -> Option<&'static str> {
    /// A link to the page, which a package of this crate has as a file.
    const PAGE: &str = include_str!("workloads.md");
    let (_, section) = PAGE.split_once(&format!("\n## {workload}\n\n"))?;
    section.split("\n## ").next()
}

fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text with its first letter in upper case.
pub fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Which direction is better, in words.
pub fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher is better",
        Better::Lower => "lower is better",
        Better::Neither => "neither direction is better by itself",
    }
}
