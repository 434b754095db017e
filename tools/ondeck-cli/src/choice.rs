//! Selects locks and situations: the common options of all commands that run workloads.

use clap::Args;
use ondeck_lab::environment::Refusal;
use ondeck_lab::plan::Request;
use ondeck_lab::results::Warning;
use ondeck_lab::select::{self, Parts};
use ondeck_lab::warnings;
use ondeck_lab::workload::face::Needs;
use ondeck_lab::workload::{Notify, WorkloadInfo, waiters_sleep};

use crate::ending::Error;
use crate::values::{LockNames, in_range, thread_count, work};

#[derive(Debug, Args)]
pub(crate) struct Choice {
    /// Locks to measure: names, patterns with `*` and `?`, or groups, separated by commas
    #[arg(
        short,
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        value_parser = LockNames,
        hide_possible_values = true
    )]
    pub(crate) locks: Option<Vec<String>>,

    /// Workloads to run: names or patterns, separated by commas; `ondeck list` shows them
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) workloads: Option<Vec<String>>,

    /// Numbers of threads, separated by commas; a workload that has roles divides them
    #[arg(short, long, value_name = "COUNTS", value_delimiter = ',', value_parser = thread_count)]
    pub(crate) threads: Option<Vec<usize>>,

    /// Work inside the critical section and outside of it, in nanoseconds, for throughput,
    /// oversubscribed, capture, starve, long_hold and bystander
    #[arg(long, value_name = "SECTION,OUTSIDE", value_parser = work)]
    pub(crate) work: Option<(u64, u64)>,

    /// Cache lines of data that the owner reads and writes in each section of throughput, several
    /// separated by commas
    #[arg(long, value_name = "LINES", value_delimiter = ',', value_parser = data_lines)]
    pub(crate) data: Option<Vec<usize>>,

    /// Capacities of the queue of producer_consumer and recovery, separated by commas
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', value_parser = capacity)]
    pub(crate) capacity: Option<Vec<usize>>,

    /// When threads of condvar, producer_consumer and recovery notify others: `inside` the critical
    /// section, `after` the unlock, or both
    #[arg(long, value_name = "WHEN", value_delimiter = ',')]
    pub(crate) notify: Option<Vec<Notify>>,
}

impl Choice {
    /// The requested data, in the form of settings.
    pub(crate) fn data_words(&self) -> Option<String> {
        let words = |data: &Vec<usize>| data.iter().map(usize::to_string).collect::<Vec<_>>();
        self.data.as_ref().map(|data| words(data).join(","))
    }

    /// The named parts of the suite; all if none is named.
    pub(crate) fn parts(&self) -> Result<Parts, Error> {
        let all = [String::from("all")];
        select::parts(self.workloads.as_deref().unwrap_or(&all)).map_err(Error::usage)
    }

    /// The request with the named situations.
    pub(crate) fn of(&self, request: Request) -> Request {
        Request {
            threads: self.threads.clone().map(in_order),
            work: self.work,
            data: self.data.clone().map(in_order),
            capacities: self.capacity.clone().map(in_order),
            notify: self.notify.clone().map(|moments| {
                Notify::BOTH.into_iter().filter(|moment| moments.contains(moment)).collect()
            }),
            ..request
        }
    }
}

/// Warns of workloads that measure a kind of which no lock was named.
pub(crate) fn unmatched(request: &Request) -> Vec<Warning> {
    let Some(locks) = &request.locks else { return Vec::new() };
    let has_no_lock =
        |workload: &&WorkloadInfo| locks.iter().all(|lock| lock.kind != workload.kind);
    let warning = |workload: &WorkloadInfo| {
        let (name, kind) = (workload.name, workload.kind);
        let reason =
            format!("workload {name} measures locks of the kind {kind}, and none is named");
        let fix = format!("choose locks of the kind {kind}, which `ondeck list` shows");
        warnings::left_out(&Refusal { reason, fix })
    };
    request.workloads.iter().filter(has_no_lock).map(warning).collect()
}

/// Warns of named locks that the plan does not measure, with the reason.
pub(crate) fn spinners_left_out(request: &Request) -> Option<Warning> {
    let locks = request.locks.as_ref()?;
    let parks = |workload: &&WorkloadInfo| workload.needs == Needs::SleepingWaiters;
    let name = request.workloads.iter().find(parks)?.name;
    let spin: Vec<&str> =
        locks.iter().filter(|lock| !waiters_sleep(&lock.info)).map(|lock| lock.info.name).collect();
    let reason = format!("workload {name} parks threads, and at {} none ever is", spin.join(", "));
    let fix = "choose locks of the group `sleeping`".to_owned();
    (!spin.is_empty()).then(|| warnings::left_out(&Refusal { reason, fix }))
}

/// Each number once, ascending.
fn in_order(mut numbers: Vec<usize>) -> Vec<usize> {
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// A section with more data is no critical section: this is a core's second-level cache.
fn data_lines(word: &str) -> Result<usize, String> {
    in_range(word, 0, 16_384, "lines of 64 bytes")
}

/// A queue for more items is practically unbounded.
fn capacity(word: &str) -> Result<usize, String> {
    in_range(word, 1, 1_000_000, "items")
}
