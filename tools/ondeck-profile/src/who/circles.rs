//! Deadlocks: threads each of which waits for what the next one keeps.

use std::collections::{BTreeMap, BTreeSet};

use super::keeper::Keeper;
use super::report::Thread;

/// Returns each circle once, from its thread with the lowest number on.
pub fn find<'a>(threads: impl Iterator<Item = &'a Thread>) -> Vec<Vec<u32>> {
    let next: BTreeMap<u32, u32> = threads
        .filter_map(|thread| match thread.wait.as_ref()?.keeper {
            Keeper::Thread { tid } => Some((thread.tid, tid)),
            _ => None,
        })
        .collect();
    let mut done = BTreeSet::new();
    let mut circles = Vec::new();
    for start in next.keys() {
        let mut path = Vec::new();
        let mut tid = *start;
        while let Some(keeper) = next.get(&tid)
            && done.insert(tid)
        {
            path.push(tid);
            tid = *keeper;
        }
        if let Some(first) = path.iter().position(|member| *member == tid) {
            let mut circle = path.split_off(first);
            let lowest = circle.iter().enumerate().min_by_key(|(_, tid)| **tid);
            let lowest = lowest.map_or(0, |(index, _)| index);
            circle.rotate_left(lowest);
            circles.push(circle);
        }
    }
    circles
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::waiting;
    use super::*;

    #[test]
    fn circles_are_found_once_and_without_the_threads_that_only_wait_for_them() {
        let edges = [(1, 3), (2, 2), (3, 5), (4, 3), (5, 3), (6, 7), (7, 8)];
        let threads = edges.map(|(tid, keeper)| waiting(tid, Keeper::Thread { tid: keeper }));
        assert_eq!(find(threads.iter()), [vec![3, 5], vec![2]]);
        assert!(find([waiting(1, Keeper::Unknown)].iter()).is_empty());
    }
}
