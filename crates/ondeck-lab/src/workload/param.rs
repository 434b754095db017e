//! The names and words of parameters that reports look at: they tell the situations of a workload apart.

/// Work in the critical section, in nanoseconds.
pub const SECTION: &str = "section_ns";

/// Work between an unlock and the next lock, in nanoseconds.
pub const OUTSIDE: &str = "outside_ns";

/// What kind of process the lock is in: [`SEVERAL_THREADS`] or [`ONE_THREAD`].
pub const PROCESS: &str = "process";

/// A process that has other threads, too.
pub const SEVERAL_THREADS: &str = "multi-threaded";

/// A process that has one thread.
pub const ONE_THREAD: &str = "single-threaded";

/// The pattern of a handoff.
pub const PATTERN: &str = "pattern";

/// How many items a queue has room for.
pub const CAPACITY: &str = "capacity";

/// The priority of work beside the lock.
pub const PRIORITY: &str = "priority";

/// The program that the lock is in.
pub const APP: &str = "app";

/// How many locks an array has.
pub const LOCKS: &str = "locks";

/// Whether the locks of an array have cache lines of their own: [`YES`] or [`NO`].
pub const PADDED: &str = "padded";

/// They have.
pub const YES: &str = "yes";

/// They have not.
pub const NO: &str = "no";
