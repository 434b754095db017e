//! The names and values of parameters that reports use: they distinguish the situations of a
//! workload.

use std::collections::BTreeMap;

/// Work in the critical section, in nanoseconds.
pub const SECTION: &str = "section_ns";

/// Work between an unlock and the next lock, in nanoseconds.
pub const OUTSIDE: &str = "outside_ns";

/// Cache lines of data that each section reads and writes; absent if there are none.
pub const DATA: &str = "data_lines";

/// What kind of process the lock is in: [`SEVERAL_THREADS`] or [`ONE_THREAD`].
pub const PROCESS: &str = "process";

/// A process that also has other threads.
pub const SEVERAL_THREADS: &str = "multi-threaded";

/// A process that has one thread.
pub const ONE_THREAD: &str = "single-threaded";

/// The pattern of a handoff.
pub const PATTERN: &str = "pattern";

/// How many items a queue has room for.
pub const CAPACITY: &str = "capacity";

/// The program that contains the lock.
pub const APP: &str = "app";

/// The percentage of operations that write.
pub const WRITES: &str = "writes_percent";

/// The kind of the thread that is alone among threads of the other kind: `writer` or `reader`.
pub const ALONE: &str = "alone";

/// Parameters of one workload each, and their words in a heading; `{}` stands for the value.
const WORDED: &[(&str, &str)] =
    &[(WRITES, "{} % writes"), (ALONE, "one {}"), (DATA, "lines of data: {}")];

/// The words in a heading for the parameters that one workload has.
pub fn worded(params: &BTreeMap<String, String>) -> impl Iterator<Item = String> + '_ {
    WORDED.iter().filter_map(|(name, words)| Some(words.replace("{}", params.get(*name)?)))
}

/// Whether [`worded`] covers it.
pub fn is_worded(name: &str) -> bool {
    WORDED.iter().any(|(known, _)| *known == name)
}
