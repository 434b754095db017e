//! What a run of the laboratory leaves behind: the document that JSON, CSV, HTML and the tables
//! are made of.
//!
//! The JSON form is an interface: its schema is generated from these types, carries
//! [`SCHEMA_VERSION`] and is described in `docs/json.md`. Field names and units do not change
//! within a version; new optional fields may appear.

pub mod episode;
mod evidence;
pub mod trace;
mod words;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use ondeck_zoo::{Kind, Origin};

pub use crate::disturbance::CpuTime;
pub use crate::pure_work::PureWork;
pub use evidence::{Evidence, Simulated};
pub use words::{Extent, FailureKind, Unit};

/// The version of the JSON document; a reader must refuse another one.
pub const SCHEMA_VERSION: u32 = 1;

/// A whole run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// [`SCHEMA_VERSION`] of the program that wrote it.
    pub schema: u32,
    /// Whether the numbers were measured or simulated.
    pub evidence: Evidence,
    /// What was simulated; absent if the numbers were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Simulated>,
    /// When the run began, RFC 3339 in UTC.
    pub started: String,
    /// How long the whole run took, in seconds.
    pub seconds: f64,
    /// True when the run was interrupted: the rounds measured until then are here, and series that
    /// lack some are marked too.
    pub partial: bool,
    /// The machine it ran on.
    pub machine: Machine,
    /// The program that ran.
    pub build: Build,
    /// What was asked for.
    pub settings: Settings,
    /// What a reader should know before trusting the numbers.
    pub warnings: Vec<Warning>,
    /// Locks that could not be measured, and why.
    pub failures: Vec<Failure>,
    /// The facts of every lock that appears.
    pub locks: Vec<LockRow>,
    /// The measurements, one series for each workload, lock, number of threads and parameters.
    pub series: Vec<Series>,
    /// What the machine's primitive operations cost, when that was measured.
    pub costs: Vec<Cost>,
    /// What an operation of each workload costs with a lock that does nothing.
    #[serde(default)]
    pub baselines: Vec<Baseline>,
    /// How the CPUs were used during the run; absent where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_time: Option<CpuTime>,
}

/// The machine a run was made on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Machine {
    /// The CPU's own name.
    pub cpu: String,
    /// The architecture, as Rust names it: `x86_64`, `aarch64`.
    pub architecture: String,
    /// Online logical CPUs.
    pub cpus: usize,
    /// Physical cores, where the kernel reports it.
    pub cores: Option<usize>,
    /// Whether cores run more than one thread.
    pub smt: Option<bool>,
    /// Logical CPUs this process may use: its affinity mask and control group quota.
    pub usable_cpus: usize,
    /// NUMA nodes, where the kernel reports it.
    pub numa_nodes: Option<usize>,
    /// Caches of CPU 0, nearest first, as "L1d 48 KiB".
    pub caches: Vec<String>,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Kernel name and release.
    pub kernel: String,
    /// The C library and its version.
    pub libc: String,
    /// The scheduling policy of the process, as `SCHED_OTHER`.
    pub scheduler: String,
    /// The hypervisor's name, or "unknown" for one that does not say; absent on bare metal.
    pub virtualized: Option<String>,
    /// The clock that times were taken with.
    pub clock: String,
    /// The kernel's own clock source.
    pub clock_source: String,
    /// The frequency governor of CPU 0, where the kernel reports it.
    pub governor: Option<String>,
    /// The range of frequencies of CPU 0 and what drives it, as "800 to 3600 MHz, intel_pstate",
    /// where the kernel reports it.
    #[serde(default)]
    pub frequency: Option<String>,
    /// The idle states of CPU 0 and how long leaving each takes, as "C6 133 µs", or what the kernel
    /// has instead, as "governor menu"; empty where it does not tell.
    #[serde(default)]
    pub idle_states: Vec<String>,
    /// The CPU quota of the control group, as "50 ms of each 100 ms"; absent if there is none.
    #[serde(default)]
    pub cpu_quota: Option<String>,
    /// What realtime threads may take, as "950 ms of each 1000 ms"; absent where the kernel does
    /// not tell.
    #[serde(default)]
    pub realtime_share: Option<String>,
    /// The time slice that the process has, in milliseconds; absent where the kernel does not tell.
    #[serde(default)]
    pub slice_milliseconds: Option<f64>,
    /// The load average of one minute when the run began; absent where the kernel does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_average: Option<f64>,
    /// How much pure work two threads did by what one does, before and behind the run; absent if
    /// there is one CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pure_work: Option<PureWork>,
}

/// The program that ran.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Build {
    /// The version of ondeck.
    pub version: String,
    /// The compiler.
    pub rustc: String,
    /// Cargo's profile: `release` or `debug`.
    pub profile: String,
    /// The optimization level it was built with.
    pub opt_level: String,
    /// RUSTFLAGS of the build, empty if there were none.
    pub rustflags: String,
    /// Target triple.
    pub target: String,
    /// Code generation features, from `-C target-cpu` and `-C target-feature`.
    pub target_features: String,
    /// The git commit, with "-dirty" when the tree had changes; absent outside a checkout.
    pub commit: Option<String>,
}

/// What was asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Settings {
    /// The command line, for repeating the run.
    pub command: String,
    /// How much to measure: `quick`, `suite` or `full`.
    pub extent: String,
    /// Rounds of each series, if that was asked for instead of left to the extent.
    pub rounds: Option<usize>,
    /// Length of a round in milliseconds, if that was asked for; each series tells its own.
    pub round_milliseconds: Option<f64>,
    /// Work in the section and outside of it, as `100,500` nanoseconds, if that was asked for.
    pub work: Option<String>,
    /// Cache lines that sections read and wrote, as `0,8`, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// How long no thread made progress before a lock counted as stuck, in seconds.
    pub stall_limit_seconds: f64,
    /// How threads were placed: `none`, `each`, `one`, or a list of CPUs; several with a blank
    /// between them if they were measured against each other.
    pub pinning: String,
    /// The scheduling policy that threads ran under, or several.
    pub policy: String,
    /// The time slice that threads were given, or several; absent if the kernel's own.
    #[serde(default)]
    pub slice: Option<String>,
    /// The CPUs of quota that threads were given, or several; absent if none was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<String>,
    /// Busy threads beside everything that was measured.
    #[serde(default)]
    pub background: usize,
    /// The seed of the order in which locks took turns.
    pub seed: u64,
}

/// Something a reader should know, with what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// A stable name: `virtual_machine`, `noisy`, `oversubscribed`, ...
    pub code: String,
    /// What is the matter.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

/// A lock that could not be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    /// The workload.
    pub workload: String,
    /// The lock.
    pub lock: String,
    /// How many threads used it.
    pub threads: usize,
    /// What happened: `deadlock`, `refused`, `crashed`, `broken`.
    pub kind: String,
    /// In words.
    pub message: String,
    /// For a deadlock: where each thread was.
    pub thread_states: Vec<String>,
}

/// The facts of a lock.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LockRow {
    /// Its name.
    pub name: String,
    /// `sources`, `literature`, `own` or `peer`.
    pub origin: String,
    /// What a waiter does.
    pub waiting: String,
    /// Which thread gets the lock next.
    pub fairness: String,
    /// What it is for: `mutex` or `rwlock`; absent in reports of earlier programs, where each is a
    /// mutex.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Which condition variable it has: `own` or `generic`, or `none` if it is no mutex.
    #[serde(default)]
    pub condvar: String,
    /// Bytes of one lock.
    pub size_bytes: usize,
    /// Bytes that each thread brings to it.
    pub context_bytes: usize,
    /// Whether an unlock may touch the lock after another thread could have it.
    pub touches_after_release: bool,
    /// Where it is from.
    pub source: String,
    /// What it shows.
    pub teaches: String,
}

/// All rounds of one lock in one situation.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// The workload.
    pub workload: String,
    /// The lock.
    pub lock: String,
    /// How many threads used it, in all roles together.
    pub threads: usize,
    /// The workload's parameters, as `section_ns` → `100`.
    pub params: BTreeMap<String, String>,
    /// Fewer rounds than planned.
    pub partial: bool,
    /// How many runs were stopped before their end because they took too long: their length is a
    /// lower bound.
    #[serde(default)]
    pub cut_runs: usize,
    /// How long a round was meant to be, in milliseconds; absent where rounds end by count.
    #[serde(default)]
    pub round_milliseconds: Option<f64>,
    /// The metrics, in the workload's order.
    pub metrics: Vec<Metric>,
    /// The distribution of single times, for workloads that record them.
    pub distribution: Option<Distribution>,
}

/// One metric over the rounds of a series.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// Its name: `throughput`, `cpu_per_op`, `longest`, ...
    pub name: String,
    /// Its unit: `ops/s`, `ns`, `1/op`, `ratio`.
    pub unit: String,
    /// Which direction is better.
    pub better: Better,
    /// Median over rounds.
    pub median: f64,
    /// Lower quartile.
    pub p25: f64,
    /// Upper quartile.
    pub p75: f64,
    /// Least.
    pub min: f64,
    /// Greatest.
    pub max: f64,
    /// How many samples there are.
    pub n: usize,
    /// One sample a round, in the order of the rounds.
    pub samples: Vec<f64>,
}

/// Which direction of a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither by itself.
    Neither,
}

/// How single times were distributed over all rounds of a series.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Distribution {
    /// What was timed: `wait`, `idle`, `handoff`.
    pub what: String,
    /// How many times were taken.
    pub count: u64,
    /// The shortest, in nanoseconds.
    pub min_ns: u64,
    /// The longest, in nanoseconds.
    pub max_ns: u64,
    /// Percentile and value in nanoseconds, ascending.
    pub percentiles: Vec<(f64, u64)>,
    /// The histogram: each bucket's upper bound in nanoseconds and how many times fell into it.
    /// Bounds ascend, three significant bits wide; empty buckets are left out.
    pub buckets: Vec<(u64, u64)>,
}

/// What one primitive operation costs on the machine.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cost {
    /// `waiting`, `atomics`, `fences`, `clocks`, `futex`, `cache`.
    pub group: String,
    /// The operation.
    pub operation: String,
    /// Nanoseconds: the median over rounds.
    pub median: f64,
    /// Lower quartile.
    pub p25: f64,
    /// Upper quartile.
    pub p75: f64,
    /// How many rounds.
    pub n: usize,
    /// Why it could not be measured, if it could not: the numbers are then zero.
    pub refused: Option<String>,
}

/// What tells a series from all others of a report: workload, lock, threads, parameters.
pub type SeriesKey<'a> = (&'a str, &'a str, usize, &'a BTreeMap<String, String>);

/// What one operation of a workload costs with a lock that does nothing: the harness's own part.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// The workload.
    pub workload: String,
    /// Its parameters, as a series has them.
    pub params: BTreeMap<String, String>,
    /// How many threads there were.
    pub threads: usize,
    /// CPU time of one operation in nanoseconds: the median over rounds.
    pub median: f64,
    /// Lower quartile.
    pub p25: f64,
    /// Upper quartile.
    pub p75: f64,
    /// How many rounds.
    pub n: usize,
    /// Why there is none, if there is none: the numbers are then zero.
    pub missing: Option<String>,
}

impl Baseline {
    /// Returns the values that distinguish it from all others of a report.
    pub fn key(&self) -> (&str, usize, &BTreeMap<String, String>) {
        (&self.workload, self.threads, &self.params)
    }
}

impl Series {
    /// Returns the values that distinguish it from all others.
    pub fn key(&self) -> SeriesKey<'_> {
        (&self.workload, &self.lock, self.threads, &self.params)
    }

    /// The metric of that name, if the workload has it.
    pub fn metric(&self, name: &str) -> Option<&Metric> {
        self.metrics.iter().find(|metric| metric.name == name)
    }

    /// The parameters as one word, `section_ns=100;outside_ns=500`; empty if there are none.
    pub fn params_word(&self) -> String {
        let pairs: Vec<_> =
            self.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        pairs.join(";")
    }
}
