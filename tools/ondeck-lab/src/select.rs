//! Choosing locks and workloads by the words of a command line.

mod absent;

pub use absent::{CPP_MUTEXES, CPP_RWLOCKS};

use ondeck_zoo::{Fairness, Kind, LockInfo, Origin};
use wildmatch::WildMatch;

use crate::workload::face::Group;
use crate::workload::{Subject, WORKLOADS, WorkloadInfo, waiters_sleep};

/// Why a word chooses nothing, in one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unknown(String);

/// A part of the suite that measures no locks, with its description.
pub const COSTS: (&str, &str) = ("costs", "Cost of the operations that locks are made of");

/// The chosen parts of the suite.
#[derive(Clone, Debug)]
pub struct Parts {
    /// The workloads, in the suite's order.
    pub workloads: Vec<WorkloadInfo>,
    /// Whether [`COSTS`] are measured too.
    pub costs: bool,
}

/// The locks of a suite for more threads than CPUs and for threads that wait for each other: a
/// spinlock for comparison, and locks in common use. Strict queues of spinners are left out: they
/// hand off to threads that are off their CPUs, for seconds.
const CROWD: &[&str] = &[
    "ondeck",
    "spinlock",
    "three_state_futex",
    "go_spinbit",
    "glibc",
    "std",
    "parking_lot",
    "usync",
    "abseil",
    "nsync",
];

/// The locks of `wait` and `idle` besides: those of their source. No other lock that serves
/// spinners in strict order: a single run of such a lock takes seconds where threads outnumber
/// CPUs.
const ALSO_RUNS: &[&str] = &["terrible_spinlock", "spinlock_amd", "ticket_spinlock"];

/// The locks of other workloads besides: those of the sources that show the most.
const ALSO_HEADLINE: &[&str] = &["mcs", "lockless_four_state"];

/// A pure spinner, which a suite also measures beside other work: it does the most harm.
const PURE_SPINNER: &str = "spinlock_amd";

/// The locks made against priority inversion, which a suite also measures there.
const INHERIT_PRIORITY: &[&str] = &["glibc_pi", "ondeck_pi"];

/// A group of locks that has a name.
#[derive(Clone, Copy, Debug)]
pub struct NamedGroup {
    /// Its name.
    pub name: &'static str,
    /// A description of its locks.
    pub about: &'static str,
    has: fn(&Subject) -> bool,
}

const fn named(name: &'static str, about: &'static str, has: fn(&Subject) -> bool) -> NamedGroup {
    NamedGroup { name, about, has }
}

/// The named groups of locks, those of suites first.
pub const GROUPS: &[NamedGroup] = &[
    named("all", "every lock", |lock| in_suite(&lock.info, Group::All)),
    named("headline", "the locks that a suite measures throughput of by default", |lock| {
        in_suite(&lock.info, Group::Headline)
    }),
    named("runs", "the locks that a suite measures wait and idle of by default", |lock| {
        in_suite(&lock.info, Group::Runs)
    }),
    named("crowd", "the locks that a suite measures the other workloads of by default", |lock| {
        in_suite(&lock.info, Group::Crowd)
    }),
    named("beside", "the locks of bystander by default", |lock| {
        in_suite(&lock.info, Group::Beside)
    }),
    named("inversion", "the locks of mixed_priority by default", |lock| {
        in_suite(&lock.info, Group::Inversion)
    }),
    named("sources", "the locks of the three texts this project began with", |lock| {
        lock.info.origin == Origin::Sources
    }),
    named("literature", "locks of papers and books", |lock| lock.info.origin == Origin::Literature),
    named("own", "this project's", |lock| lock.info.origin == Origin::Own),
    named("peers", "other libraries' own locks", |lock| lock.info.origin == Origin::Peer),
    named("spinning", "locks whose waiters never sleep", |lock| !waiters_sleep(&lock.info)),
    named("sleeping", "locks whose waiters sleep", |lock| waiters_sleep(&lock.info)),
    named("fifo", "locks that serve in order of arrival", |lock| {
        lock.info.fairness == Fairness::Fifo
    }),
    named("mutexes", "locks for mutual exclusion", |lock| lock.kind == Kind::Mutex),
    named("rwlocks", "reader-writer locks", |lock| lock.kind == Kind::RwLock),
];

/// The name of every lock, whether or not this build has it.
pub fn lock_names() -> Vec<&'static str> {
    let built = Subject::of_every_kind();
    let missing = absent::locks().filter(|name| built.iter().all(|lock| lock.info.name != *name));
    built.iter().map(|lock| lock.info.name).chain(missing).collect()
}

fn in_suite(lock: &LockInfo, group: Group) -> bool {
    match group {
        Group::All => true,
        Group::Headline => in_suite(lock, Group::Runs) || ALSO_HEADLINE.contains(&lock.name),
        Group::Runs => in_suite(lock, Group::Crowd) || ALSO_RUNS.contains(&lock.name),
        Group::Crowd => CROWD.contains(&lock.name),
        Group::Beside => in_suite(lock, Group::Crowd) || lock.name == PURE_SPINNER,
        Group::Inversion => in_suite(lock, Group::Beside) || INHERIT_PRIORITY.contains(&lock.name),
    }
}

/// The locks of this group that a suite measures.
pub(crate) fn group(subjects: &[Subject], group: Group) -> Vec<Subject> {
    subjects.iter().filter(|subject| in_suite(&subject.info, group)).cloned().collect()
}

/// The locks that the words select, in the order of `subjects`, each once. A word is a name, a
/// pattern with `*` and `?`, or a [group](GROUPS), in upper or lower case. The name of a mutex also
/// selects the locks of other kinds whose names begin with it: `std` also selects `std_rwlock`.
///
/// # Errors
///
/// [`Unknown`] for the first word that selects nothing.
pub fn locks(subjects: &[Subject], words: &[String]) -> Result<Vec<Subject>, Unknown> {
    let mut chosen = vec![false; subjects.len()];
    for word in words {
        let word = tidy("lock", word)?;
        let group = GROUPS.iter().find(|group| group.name == word);
        let pattern = WildMatch::new(&word);
        let mutex =
            subjects.iter().any(|other| other.kind == Kind::Mutex && other.info.name == word);
        let mut found = false;
        for (subject, chosen) in subjects.iter().zip(&mut chosen) {
            let sibling = || mutex && is_sibling(subject, &word);
            let matches = || pattern.matches(subject.info.name) || sibling();
            if group.map_or_else(matches, |group| (group.has)(subject)) {
                *chosen = true;
                found = true;
            }
        }
        if !found {
            if let Some(why) = absent::why(&word) {
                return Err(why);
            }
            let names = subjects.iter().map(|subject| subject.info.name);
            return Err(unknown("lock", &word, names.chain(GROUPS.iter().map(|group| group.name))));
        }
    }
    Ok(subjects
        .iter()
        .zip(chosen)
        .filter(|(_, chosen)| *chosen)
        .map(|(subject, _)| subject.clone())
        .collect())
}

/// Whether this lock is not a mutex and its name begins with the mutex's.
fn is_sibling(subject: &Subject, mutex: &str) -> bool {
    let rest = subject.info.name.strip_prefix(mutex);
    subject.kind != Kind::Mutex && rest.is_some_and(|rest| rest.starts_with('_'))
}

/// The parts of the suite that the words select: names or patterns, or `all`.
///
/// # Errors
///
/// [`Unknown`] for the first word that selects nothing.
pub fn parts(words: &[String]) -> Result<Parts, Unknown> {
    let names = || WORKLOADS.iter().map(|workload| workload.name).chain([COSTS.0]);
    let mut chosen = vec![false; names().count()];
    for word in words {
        let word = tidy("workload", word)?;
        let pattern = WildMatch::new(&word);
        let mut found = false;
        for (name, chosen) in names().zip(&mut chosen) {
            if word == "all" || pattern.matches(name) {
                *chosen = true;
                found = true;
            }
        }
        if !found {
            return Err(unknown("workload", &word, names().chain(["all"])));
        }
    }
    let costs = chosen.pop().unwrap_or(false);
    let workloads = WORKLOADS.iter().zip(chosen).filter(|(_, chosen)| *chosen);
    Ok(Parts { workloads: workloads.map(|(workload, _)| *workload).collect(), costs })
}

/// Normalizes a word as names are written: lower case, with underscores.
fn tidy(kind: &str, word: &str) -> Result<String, Unknown> {
    let word = word.trim().to_lowercase().replace('-', "_");
    if word.is_empty() {
        // A word without a letter, as after the comma of `std,`.
        let empty =
            format!("an empty name among the {kind}s; take away the comma that is too many");
        return Err(Unknown(empty));
    }
    Ok(word)
}

fn unknown<'a>(kind: &str, word: &str, names: impl Iterator<Item = &'a str>) -> Unknown {
    let near = nearest(word, names).map(|near| format!("did you mean `{near}`? "));
    let near = near.unwrap_or_default();
    Unknown(format!("unknown {kind} `{word}`; {near}`ondeck list` shows all of them"))
}

/// The name most similar to `word`, if any is similar enough.
fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<String> {
    /// Below this similarity two words are unrelated.
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
    fn the_name_of_a_mutex_chooses_its_siblings_of_other_kinds() {
        let names = |word: &str| {
            let chosen = locks(&Subject::of_every_kind(), &[word.to_owned()]).expect(word);
            chosen.iter().map(|subject| subject.info.name).collect::<Vec<_>>()
        };
        assert_eq!(names("std"), ["std", "std_rwlock"]);
        assert_eq!(names("std_rwlock"), ["std_rwlock"]);
        // `spin` is a mutex; `spinlock` is not its sibling, because a mutex never is.
        assert_eq!(names("spin"), ["spin", "spin_rwlock"]);
        assert!(!names("glibc").contains(&"glibc_pi"));
        assert!(locks(&Subject::of_every_kind(), &["phase".to_owned()]).is_err());
    }

    #[test]
    fn a_group_of_a_kind_has_no_lock_of_another() {
        for (group, kind) in [("mutexes", Kind::Mutex), ("rwlocks", Kind::RwLock)] {
            let chosen = locks(&Subject::of_every_kind(), &[group.to_owned()]).expect(group);
            assert!(!chosen.is_empty() && chosen.iter().all(|lock| lock.kind == kind), "{group}");
        }
        // Where there are mutexes only, the group of another kind is unknown.
        assert!(locks(&Subject::all(), &["rwlocks".to_owned()]).is_err());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = names(&["parkinglot"]).expect_err("no such lock").to_string();
        assert!(error.contains("`parkinglot`") && error.contains("`parking_lot`"), "{error}");
        for (word, near) in [("trouhgput", "`throughput`"), ("cost", "`costs`")] {
            let error = parts(&[word.to_owned()]).expect_err("no such workload").to_string();
            assert!(error.contains(near), "{error}");
        }
        let error = names(&["zzz"]).expect_err("no such lock").to_string();
        assert_eq!(error, "unknown lock `zzz`; `ondeck list` shows all of them");
    }

    #[test]
    fn capitals_and_blanks_do_not_matter_but_nothing_is_no_name() {
        assert_eq!(names(&["MCS", " Mc? "]), Ok(vec!["mcs"]));
        let error = names(&["mcs", ""]).expect_err("no name").to_string();
        assert!(error.starts_with("an empty name among the locks;"), "{error}");
        assert!(parts(&["Wait".to_owned()]).is_ok_and(|parts| parts.workloads.len() == 1));
        assert!(parts(&[String::new()]).is_err());
    }

    #[test]
    fn costs_are_chosen_as_the_workloads_are() {
        let chosen = |word: &str| {
            let parts = parts(&[word.to_owned()]).expect(word);
            (parts.workloads.len(), parts.costs)
        };
        assert_eq!(chosen("all"), (WORKLOADS.len(), true));
        assert_eq!(chosen("cost*"), (0, true));
        assert_eq!(chosen("wait"), (1, false));
    }

    #[test]
    fn the_locks_of_the_suite_exist() {
        let known: Vec<_> = Subject::all().iter().map(|subject| subject.info.name).collect();
        for name in CROWD
            .iter()
            .chain(ALSO_RUNS)
            .chain(ALSO_HEADLINE)
            .chain(INHERIT_PRIORITY)
            .chain([&PURE_SPINNER])
            .filter(|name| !absent::CPP_MUTEXES.contains(name))
        {
            assert!(known.contains(name), "{name} is not in the registry");
        }
    }
}
