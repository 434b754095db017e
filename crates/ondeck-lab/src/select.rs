//! Choosing locks and workloads by the words of a command line.

use ondeck_zoo::{Fairness, Origin, Waiting};
use wildmatch::WildMatch;

use crate::workload::{Subject, WORKLOADS, WorkloadInfo};

/// A word that chooses nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {kind} `{word}`{}; {help}", nearest.as_ref().map_or(String::new(), |near| format!(", did you mean `{near}`?")))]
pub struct Unknown {
    kind: &'static str,
    word: String,
    nearest: Option<String>,
    help: &'static str,
}

/// The locks that a suite measures when none are named: those of the sources that show the most,
/// and the peers that people use.
const HEADLINE: &[&str] = &[
    "terrible_spinlock",
    "spinlock_amd",
    "spinlock",
    "ticket_spinlock",
    "mcs",
    "three_state_futex",
    "lockless_four_state",
    "go_spinbit",
    "glibc",
    "std",
    "parking_lot",
    "usync",
    "abseil",
    "nsync",
];

/// The locks of `wait` and `idle` when none are named: the sources' five first, and no strict queue
/// of spinners, whose single run takes seconds on an oversubscribed machine.
const RUNS: &[&str] = &[
    "terrible_spinlock",
    "spinlock_amd",
    "spinlock",
    "ticket_spinlock",
    "glibc",
    "three_state_futex",
    "go_spinbit",
    "std",
    "parking_lot",
    "usync",
    "abseil",
    "nsync",
];

/// The groups of locks that have a name, and what is in them.
pub const GROUPS: &[(&str, &str)] = &[
    ("all", "every lock"),
    ("headline", "the locks that a suite measures throughput of by default"),
    ("runs", "the locks that a suite measures wait and idle of by default"),
    ("sources", "the locks of the three texts this project began with"),
    ("literature", "locks of papers and books"),
    ("peers", "other libraries' own locks"),
    ("spinning", "locks whose waiters never sleep"),
    ("sleeping", "locks whose waiters sleep"),
    ("fifo", "locks that serve in order of arrival"),
];

fn in_group(subject: &Subject, group: &str) -> bool {
    let info = &subject.info;
    let spins = matches!(info.waiting, Waiting::Spins | Waiting::Yields);
    match group {
        "all" => true,
        "headline" => HEADLINE.contains(&info.name),
        "runs" => RUNS.contains(&info.name),
        "sources" => info.origin == Origin::Sources,
        "literature" => info.origin == Origin::Literature,
        "peers" => info.origin == Origin::Peer,
        "spinning" => spins,
        "sleeping" => !spins,
        "fifo" => info.fairness == Fairness::Fifo,
        _ => false,
    }
}

/// The locks that the words choose, in the order of `subjects`, each once. A word is a name, a
/// pattern with `*` and `?`, or a [group](GROUPS).
///
/// # Errors
///
/// [`Unknown`] for the first word that chooses nothing.
pub fn locks(subjects: &[Subject], words: &[String]) -> Result<Vec<Subject>, Unknown> {
    let mut chosen = vec![false; subjects.len()];
    for word in words {
        let group = GROUPS.iter().any(|(group, _)| group == word);
        let pattern = WildMatch::new(word);
        let mut found = false;
        for (subject, chosen) in subjects.iter().zip(&mut chosen) {
            if if group { in_group(subject, word) } else { pattern.matches(subject.info.name) } {
                *chosen = true;
                found = true;
            }
        }
        if !found && !group {
            let names = subjects.iter().map(|subject| subject.info.name);
            return Err(Unknown {
                kind: "lock",
                word: word.clone(),
                nearest: nearest(word, names.chain(GROUPS.iter().map(|(group, _)| *group))),
                help: "`ondeck list` shows all of them",
            });
        }
    }
    Ok(subjects
        .iter()
        .zip(chosen)
        .filter(|(_, chosen)| *chosen)
        .map(|(subject, _)| subject.clone())
        .collect())
}

/// The workloads that the words choose, in the suite's order: names or patterns.
///
/// # Errors
///
/// [`Unknown`] for the first word that chooses nothing.
pub fn workloads(words: &[String]) -> Result<Vec<WorkloadInfo>, Unknown> {
    let mut chosen = vec![false; WORKLOADS.len()];
    for word in words {
        let pattern = WildMatch::new(word);
        let mut found = false;
        for (workload, chosen) in WORKLOADS.iter().zip(&mut chosen) {
            if pattern.matches(workload.name) || word == "all" {
                *chosen = true;
                found = true;
            }
        }
        if !found {
            return Err(Unknown {
                kind: "workload",
                word: word.clone(),
                nearest: nearest(word, WORKLOADS.iter().map(|workload| workload.name)),
                help: "`ondeck list` shows all of them",
            });
        }
    }
    Ok(WORKLOADS
        .iter()
        .zip(chosen)
        .filter(|(_, chosen)| *chosen)
        .map(|(workload, _)| *workload)
        .collect())
}

/// The name most like `word`, if any is like it at all.
fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    /// Below this two words have nothing to do with each other.
    const ALIKE: f64 = 0.7;
    names
        .map(|name| (strsim::jaro_winkler(word, name), name))
        .filter(|&(likeness, _)| likeness >= ALIKE)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, name)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(words: &[&str]) -> Result<Vec<&'static str>, Unknown> {
        let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
        Ok(locks(&Subject::all(), &words)?.iter().map(|subject| subject.info.name).collect())
    }

    #[test]
    fn names_patterns_and_groups_choose_each_lock_once() {
        assert_eq!(names(&["mcs", "mcs", "mc?"]), Ok(vec!["mcs"]));
        assert_eq!(names(&["all"]).expect("a group").len(), Subject::all().len());
        assert!(names(&["glibc*"]).expect("a pattern").len() >= 4);
        let (spinning, sleeping) = (names(&["spinning"]), names(&["sleeping"]));
        let together = spinning.expect("a group").len() + sleeping.expect("a group").len();
        assert_eq!(together, Subject::all().len());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = names(&["parkinglot"]).expect_err("no such lock").to_string();
        assert!(error.contains("`parkinglot`") && error.contains("`parking_lot`"), "{error}");
        let error = workloads(&["trouhgput".to_owned()]).expect_err("no such workload").to_string();
        assert!(error.contains("`throughput`"), "{error}");
        assert!(names(&["zzz"]).expect_err("no such lock").nearest.is_none());
    }

    #[test]
    fn the_locks_of_the_suite_exist() {
        let known: Vec<_> = Subject::all().iter().map(|subject| subject.info.name).collect();
        for name in HEADLINE.iter().chain(RUNS).filter(|name| !["abseil", "nsync"].contains(name)) {
            assert!(known.contains(name), "{name} is not in the registry");
        }
    }
}
