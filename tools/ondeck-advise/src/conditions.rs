//! The conditions of a rule, in the form of a file.

use serde::Deserialize;

use super::use_case::{Company, Language, Users};

/// A condition on the situation: every field that is set has to hold.
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
    /// Above 1, a thread always waits.
    pub demand_above: Option<f64>,
    /// Far below 1, hardly any thread waits.
    pub demand_at_most: Option<f64>,
    /// The section is longer than this.
    pub section_ns_above: Option<u64>,
    /// The section is no longer than this.
    pub section_ns_at_most: Option<u64>,
    /// The kind of users is one of these.
    pub used_by: Option<Vec<Users>>,
    /// The need for fairness is one of these: `none`, `some`, `strict`, or `bound` for a longest
    /// wait.
    pub fairness: Option<Vec<String>>,
    /// Priorities count.
    pub realtime: Option<bool>,
    /// A lock may take at most this number of bytes, and the user gave a number.
    pub bytes_at_most: Option<usize>,
    /// The other work is one of these.
    pub company: Option<Vec<Company>>,
    /// Threads also wait for conditions.
    pub condvar: Option<bool>,
    /// The language is one of these.
    pub language: Option<Vec<Language>>,
    /// The lock may be freed right after an unlock.
    pub freed: Option<bool>,
    /// Locks from texts are acceptable.
    pub specimens: Option<bool>,
    /// The program will run on another number of CPUs than the measured machine has.
    pub other_machine: Option<bool>,
    /// The measured machine is virtual.
    pub virtual_machine: Option<bool>,
}

/// A condition on the facts of a lock, in the words of `ondeck list`: every field that is set has
/// to hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    /// Its name is one of these, or matches one of these patterns.
    pub names: Option<Vec<String>>,
    /// Its name is none of these.
    pub not_names: Option<Vec<String>>,
    /// The activity of a waiter is one of these.
    pub waiting: Option<Vec<String>>,
    /// Its order of service is one of these.
    pub fairness: Option<Vec<String>>,
    /// Its origin is one of these.
    pub origin: Option<Vec<String>>,
    /// Its condition variable.
    pub condvar: Option<String>,
    /// Whether an unlock touches it after other threads could have it.
    pub touches_after_release: Option<bool>,
    /// It has more bytes than this.
    pub bytes_above: Option<usize>,
    /// It has no more bytes than this.
    pub bytes_at_most: Option<usize>,
    /// It has more bytes than the user allows.
    pub over_budget: Option<bool>,
}

/// A condition on the measurements in the situation. It does not hold without measurements.
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
    /// Its median is at least this multiple of the least of all locks.
    pub times_least: Option<f64>,
}
