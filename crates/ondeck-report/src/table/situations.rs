//! Series of one situation together, and the words that distinguish it from others.

use ondeck_lab::results::Series;
use ondeck_lab::workload::{NOTIFY, WorkloadInfo, param};

/// Series of one situation together, with the words that distinguish it from others.
pub(super) fn situations<'a>(
    workload: &WorkloadInfo,
    series: &[&'a Series],
    by_threads: bool,
) -> Vec<(String, Vec<&'a Series>)> {
    let mut groups: Vec<(String, Vec<&'a Series>)> = Vec::new();
    for &one in series {
        let words = situation(workload, one, by_threads);
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, members)) => members.push(one),
            None => groups.push((words, vec![one])),
        }
    }
    groups
}

/// Behind a table's title if threads are its columns, else its title.
fn situation(workload: &WorkloadInfo, series: &Series, by_threads: bool) -> String {
    let of = |name: &str| series.params.get(name);
    let mut words = Vec::new();
    if by_threads {
        words.push(format!("{} threads", series.threads));
    }
    if let Some(capacity) = of(param::CAPACITY) {
        words.push(format!("capacity {capacity}"));
    }
    if workload.notifies {
        words.push(notified(series).to_owned());
    }
    if let Some(priority) = of(param::PRIORITY) {
        words.push(format!("priority {priority}"));
    }
    words.extend(param::worded(&series.params));
    if let (Some(section), Some(outside)) = (of(param::SECTION), of(param::OUTSIDE))
        && (section, outside) != (&"0".to_owned(), &"0".to_owned())
    {
        words.push(format!("{section} ns inside, {outside} outside"));
    }
    match (by_threads, words.is_empty()) {
        (false, false) => format!(", {}", words.join(", ")),
        _ => words.join(", "),
    }
}

/// When they did. Inside has no parameter.
fn notified(series: &Series) -> &'static str {
    if series.params.contains_key(NOTIFY) { "notified after the unlock" } else { "notified inside" }
}

/// Series with as many threads together.
pub(super) fn by_threads<'a>(series: &[&'a Series]) -> Vec<(usize, Vec<&'a Series>)> {
    let mut counts: Vec<usize> = series.iter().map(|one| one.threads).collect();
    counts.sort_unstable();
    counts.dedup();
    let of = |threads: usize| series.iter().copied().filter(|one| one.threads == threads).collect();
    counts.into_iter().map(|threads| (threads, of(threads))).collect()
}
