//! What a lock costs that no other thread wants.

use ondeck_lab::results::{LockRow, Metric, Series};
use ondeck_lab::sample::PAIR;
use ondeck_lab::workload::{NO_LOCK, param};

use super::{marked, new_table, right_align};

/// One row for each lock, a column for either kind of process.
pub(super) fn table(series: &[&Series], locks: &[LockRow], colour: bool) -> String {
    let of = |lock: &str, process: &str| {
        series
            .iter()
            .find(|series| {
                series.lock == lock
                    && series.params.get(param::PROCESS).is_some_and(|word| word == process)
            })
            .and_then(|series| series.metric(PAIR.name))
    };
    let mut names: Vec<&str> = Vec::new();
    for one in series {
        if !names.contains(&one.lock.as_str()) {
            names.push(&one.lock);
        }
    }
    // Fastest first; the harness's own cost stays on top.
    names.sort_by(|one, other| {
        let key = |lock: &str| {
            (lock != NO_LOCK, of(lock, param::SEVERAL_THREADS).map_or(f64::MAX, |pair| pair.median))
        };
        let (one, other) = (key(one), key(other));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let mut table = new_table(&["lock", "multi", "p25-p75", "single", "p25-p75", "bytes"], colour);
    for name in names {
        let cells = |pair: Option<&Metric>| match pair {
            Some(pair) => {
                [format!("{:.2}", pair.median), format!("{:.1}-{:.1}", pair.p25, pair.p75)]
            }
            None => ["-".to_owned(), String::new()],
        };
        let [multi, multi_spread] = cells(of(name, param::SEVERAL_THREADS));
        let [single, single_spread] = cells(of(name, param::ONE_THREAD));
        let size = locks.iter().find(|row| row.name == name).map(|row| row.size_bytes.to_string());
        let partial = series.iter().any(|one| one.lock == name && one.partial);
        let name = marked(if name == NO_LOCK { "none (the harness)" } else { name }, partial);
        table.add_row([
            &name,
            &multi,
            &multi_spread,
            &single,
            &single_spread,
            size.as_deref().unwrap_or_default(),
        ]);
    }
    right_align(&mut table, &[1, 2, 3, 4, 5]);
    table.trim_fmt()
}
