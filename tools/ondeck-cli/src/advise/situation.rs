//! The situation that flags and a recording describe.

use std::fmt::Display;

use ondeck_advise::profile::Recorded;
use ondeck_advise::{Language, Reads, UseCase};
use ondeck_lab::results::Machine;
use ondeck_lab::select;

use super::options::{Limit, Options};
use crate::ending::Error;

/// A program that has no lock yet.
const NO_LOCK_NOW: &str = "none";

/// The assumed parts of a situation, as flags.
#[derive(Default)]
struct Assumed(Vec<String>);

impl Assumed {
    /// Returns the given part, otherwise the default.
    fn part<T: Display>(&mut self, given: Option<T>, flag: &str, default: T) -> T {
        given.unwrap_or_else(|| {
            self.0.push(format!("--{flag}={default}"));
            default
        })
    }

    /// Returns a yes-or-no part; the default is no.
    fn yes(&mut self, given: Option<bool>, flag: &str) -> bool {
        given.unwrap_or_else(|| {
            self.0.push(format!("--{flag}=no"));
            false
        })
    }
}

/// The situation, and its assumed parts.
pub(super) fn situation(
    options: &Options,
    here: &Machine,
    recorded: Option<&Recorded>,
) -> Result<(UseCase, Vec<String>), Error> {
    let mut assumed = Assumed::default();
    let cpus = here.usable_cpus.max(1);
    let threads = options.threads.or(recorded.map(|recorded| recorded.threads));
    let threads = assumed.part(threads, "threads", cpus);
    let usual = UseCase::usual(threads, cpus);
    // A single thread never waits, however long its sections are.
    let (section_ns, outside_ns) = match (options.work, threads) {
        (Some(work), _) => work,
        (None, 1) => (0, 0),
        (None, _) => {
            let section = recorded.and_then(|recorded| recorded.section_ns);
            let outside = recorded.and_then(|recorded| recorded.outside_ns);
            let work = (section.unwrap_or(usual.section_ns), outside.unwrap_or(usual.outside_ns));
            if section.is_none() || outside.is_none() {
                assumed.0.push(format!("--work={},{}", work.0, work.1));
            }
            work
        }
    };
    // A single thread needs no lock that admits several readers.
    let reads = if threads == 1 {
        Reads::NONE
    } else {
        let reads = options.reads.or(recorded.map(|recorded| recorded.reads));
        assumed.part(reads, "reads", usual.reads)
    };
    let used_by = options.used_by.or(recorded.map(|recorded| recorded.used_by));
    let used_by = assumed.part(used_by, "used-by", usual.used_by);
    let fairness = assumed.part(options.fairness, "fairness", usual.fairness);
    let realtime = assumed.yes(options.realtime, "realtime");
    let bytes = assumed.part(options.bytes, "bytes", Limit(usual.bytes));
    let company = assumed.part(options.company, "company", usual.company);
    let condvar = assumed.yes(options.condvar, "condvar");
    let language = options.language.or(recorded.map(|recorded| recorded.language));
    let language = assumed.part(language, "language", usual.language);
    let offered = if language == Language::Rust { "std" } else { "glibc" };
    let given = options.now.as_deref().or(recorded.map(|recorded| recorded.now));
    let now = assumed.part(given.map(str::trim), "now", offered);
    if now != NO_LOCK_NOW && !select::lock_names().contains(&now) {
        return Err(Error::Usage(format!(
            "no lock `{now}`; use a name of `ondeck list`, or `{NO_LOCK_NOW}`"
        )));
    }
    let freed = assumed.yes(options.freed, "freed");
    let situation = UseCase {
        threads,
        cpus: options.cpus.map_or(usual.cpus, |cpus| cpus.max(1)),
        section_ns,
        outside_ns,
        reads,
        used_by,
        fairness,
        realtime,
        bytes: bytes.0,
        company,
        condvar,
        language,
        now: (now != NO_LOCK_NOW).then(|| now.to_owned()),
        freed,
        specimens: options.specimens,
        virtual_machine: here.virtualized.is_some(),
        ..usual
    };
    Ok((situation, assumed.0))
}
