//! The conditions of a rule, as a file spells them.

use serde::Deserialize;

use super::use_case::{Company, Language, Users};

/// A condition on the situation: all of what it names has to hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct When {
    /// More threads than this use the lock.
    pub threads_above: Option<usize>,
    /// No more threads than this use the lock.
    pub threads_at_most: Option<usize>,
    /// More threads want a CPU than this times the CPUs, other work included.
    pub runnable_per_cpu_above: Option<f64>,
    /// No more threads want a CPU than this times the CPUs.
    pub runnable_per_cpu_at_most: Option<f64>,
    /// Above 1 there is always a thread that waits.
    pub demand_above: Option<f64>,
    /// Far below 1 there is hardly ever a thread that waits.
    pub demand_at_most: Option<f64>,
    /// The section is longer than this.
    pub section_ns_above: Option<u64>,
    /// The section is no longer than this.
    pub section_ns_at_most: Option<u64>,
    /// How users come to it is one of these.
    pub used_by: Option<Vec<Users>>,
    /// The need for fairness is one of these: `none`, `some`, `strict`, or `bound` for a longest wait.
    pub fairness: Option<Vec<String>>,
    /// Priorities count.
    pub realtime: Option<bool>,
    /// A lock may take so many bytes, and the number was given.
    pub bytes_at_most: Option<usize>,
    /// What else runs is one of these.
    pub company: Option<Vec<Company>>,
    /// Threads also wait for conditions.
    pub condvar: Option<bool>,
    /// The language is one of these.
    pub language: Option<Vec<Language>>,
    /// The lock may be freed right after an unlock.
    pub freed: Option<bool>,
    /// Locks of texts are welcome.
    pub specimens: Option<bool>,
    /// The program is to run on another number of CPUs than were measured.
    pub other_machine: Option<bool>,
    /// What was measured is a virtual machine.
    pub virtual_machine: Option<bool>,
}

/// A condition on the facts of a lock, in the words of `ondeck list`: all of what it names has to hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    /// Its name is one of these, or matches one of these patterns.
    pub names: Option<Vec<String>>,
    /// Its name is none of these.
    pub not_names: Option<Vec<String>>,
    /// What a waiter does is one of these.
    pub waiting: Option<Vec<String>>,
    /// The order in which it serves is one of these.
    pub fairness: Option<Vec<String>>,
    /// Where it comes from is one of these.
    pub origin: Option<Vec<String>>,
    /// The condition variable that it has.
    pub condvar: Option<String>,
    /// Whether an unlock touches it after others could have it.
    pub touches_after_release: Option<bool>,
    /// It has more bytes than this.
    pub bytes_above: Option<usize>,
    /// It has no more bytes than this.
    pub bytes_at_most: Option<usize>,
    /// It has more bytes than the user allows.
    pub over_budget: Option<bool>,
}

/// A condition on what was measured in the situation. It does not hold if nothing was measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The metric.
    pub metric: String,
    /// Its median is below.
    pub below: Option<f64>,
    /// Its median is above.
    pub above: Option<f64>,
    /// Its greatest value is above the longest wait that the user allows; milliseconds.
    pub above_bound: Option<bool>,
    /// Its median is so many times the least of all locks, or more.
    pub times_least: Option<f64>,
}
