//! The patterns of a handoff side by side.

use ondeck_lab::results::Series;
use ondeck_lab::sample::{CPU_PER_OP, HANDOFF};
use ondeck_lab::workload::param;

use super::{marked, new_table, right_align};
use crate::numbers::terminal::time;

/// Handoffs of the three patterns side by side.
pub(super) fn table(series: &[&Series], colour: bool) -> String {
    const PATTERNS: [&str; 3] = ["solo", "fast", "slow"];
    let of = |lock: &str, pattern: &str| {
        series.iter().copied().find(|one| {
            one.lock == lock && one.params.get(param::PATTERN).is_some_and(|word| word == pattern)
        })
    };
    let median = |lock: &str, pattern: &str| {
        of(lock, pattern).and_then(|one| one.metric(HANDOFF.name)).map(|metric| metric.median)
    };
    let mut names: Vec<&str> = Vec::new();
    for one in series {
        if !names.contains(&one.lock.as_str()) {
            names.push(&one.lock);
        }
    }
    names.sort_by(|one, other| {
        let key = |lock| median(lock, "slow").unwrap_or(f64::INFINITY);
        key(one).total_cmp(&key(other))
    });
    let header = ["lock", "solo", "fast", "p99", "slow", "p99", "slow cpu"];
    let mut table = new_table(&header, colour);
    for name in names {
        let shown = |pattern: &str| median(name, pattern).map_or("-".to_owned(), time);
        let worst = |pattern: &str| {
            of(name, pattern)
                .and_then(|one| one.distribution.as_ref())
                .and_then(|times| times.percentiles.iter().find(|(p, _)| (p - 99.0).abs() < 1e-9))
                .map_or("-".to_owned(), |&(_, nanos)| time(nanos as f64))
        };
        let cpu = of(name, "slow").and_then(|one| one.metric(CPU_PER_OP.name));
        let [solo, fast, slow] = PATTERNS.map(shown);
        let partial = series.iter().any(|one| one.lock == name && one.partial);
        table.add_row([
            marked(name, partial),
            solo,
            fast,
            worst("fast"),
            slow,
            worst("slow"),
            cpu.map_or("-".to_owned(), |cpu| time(cpu.median)),
        ]);
    }
    right_align(&mut table, &[1, 2, 3, 4, 5, 6]);
    table.trim_fmt()
}
