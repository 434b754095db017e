//! The sections of a machine file: a struct for each, and the only definition of the keys, with
//! their ranges and units.
//!
//! Times are nanoseconds in a file, and picoseconds here.

use std::fmt;

use super::key::{Key, Range, Value};
use super::leaf::Leaves;
use crate::time::{Time, of_nanos};

/// The type of a section's field. The value is in its key's range.
trait FromValue {
    fn from_value(value: &Value) -> Self;
}

impl FromValue for f64 {
    fn from_value(value: &Value) -> Self {
        value.number().unwrap_or_else(|| unreachable!("{value} has passed for a number"))
    }
}

impl FromValue for Time {
    fn from_value(value: &Value) -> Self {
        of_nanos(f64::from_value(value))
    }
}

impl FromValue for usize {
    fn from_value(value: &Value) -> Self {
        f64::from_value(value) as Self
    }
}

impl FromValue for String {
    fn from_value(value: &Value) -> Self {
        match value {
            Value::Word(word) => word.clone(),
            other => unreachable!("{other} has passed for a word"),
        }
    }
}

/// Reads one field of the section at that path.
fn read<T: FromValue>(leaves: &Leaves, path: &str, name: &str) -> T {
    T::from_value(&leaves[&format!("{path}.{name}")].value)
}

/// The keys of one table, with their ranges and units.
macro_rules! keys {
    ($path:literal { $( $(#[doc = $doc:literal])+ $name:ident = $range:expr, $unit:literal; )+ }) => {
        &[
            $( Key {
                section: $path,
                name: stringify!($name),
                range: $range,
                unit: $unit,
                about: concat!($($doc),+),
            }, )+
        ]
    };
}

/// Declares sections: the struct that the engine reads, and the keys with ranges and units, of one
/// table.
macro_rules! sections {
    ($(
        $(#[doc = $about:literal])+
        $(#[derive($Copy:ident)])?
        $Section:ident $path:literal {
            $( $(#[doc = $doc:literal])+ $field:ident: $Type:ty = $range:expr, $unit:literal; )+
        }
    )+) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone, Debug, PartialEq)]
            $(#[derive($Copy)])?
            pub struct $Section {
                $( $(#[doc = $doc])+ pub $field: $Type, )+
            }

            impl $Section {
                /// Reads the section at that path. Every leaf of it exists and is in its range.
                pub(super) fn read(leaves: &Leaves, path: &str) -> Self {
                    Self {
                        $( $field: read(leaves, path, stringify!($field)), )+
                    }
                }
            }
        )+

        /// All keys that a machine file can have, section by section.
        ///
        /// `name`, `about` and `base` are not among them: they are plain strings at the top of the
        /// file.
        pub fn keys() -> impl Iterator<Item = &'static Key> {
            const KEYS: &[&[Key]] = &[
                TOPOLOGY,
                $( keys!($path { $( $(#[doc = $doc])+ $field = $range, $unit; )+ }) ),+
            ];
            KEYS.iter().copied().flatten()
        }
    };
}

use Range::{Count, Number, Word};

/// The section `topology`: a machine of equal clusters, written as a [`Cluster`] each.
const TOPOLOGY: &[Key] = keys!("topology" {
    /// Sockets; dies, where crossing dies costs as much as crossing sockets.
    sockets = Count(1, 16), "count";
    /// Clusters of a socket: groups of cores that share a last-level cache.
    clusters_per_socket = Count(1, 64), "count";
    /// Cores of a cluster.
    cores_per_cluster = Count(1, 512), "count";
    /// Hardware threads of a core.
    smt = Count(1, 2), "count";
});

sections! {
    /// A group of cores that share a last-level cache: a CCX, a whole socket, a cluster of
    /// efficiency cores.
    Cluster "cluster[]" {
        /// The socket that the cluster is in, from 0.
        socket: usize = Count(0, 15), "number";
        /// The class of its cores: the name of a `[class.NAME]`.
        class: String = Range::Class, "";
        /// Its cores.
        cores: usize = Count(1, 512), "count";
        /// Hardware threads of each of its cores.
        smt: usize = Count(1, 2), "count";
    }

    /// Cores of one kind, and what they need for operations on cache lines that they own.
    #[derive(Copy)]
    Class "class.*" {
        /// One turn of a waiting loop's hint: PAUSE, YIELD or ISB, as compilers emit it for the
        /// processor.
        pause: Time = Number(0.1, 10_000.0), "ns";
        /// Nanoseconds of work, as workloads count it, that a core does in a nanosecond.
        speed: f64 = Number(0.01, 10.0), "ratio";
        /// Speed of a hardware thread while its sibling runs too, of its speed alone.
        smt_speed: f64 = Number(0.5, 1.0), "ratio";
        /// A load or store of a line that is in the core's own cache in the state needed.
        hit: Time = Number(0.1, 20.0), "ns";
        /// An atomic read-modify-write of a line that the core owns.
        rmw: Time = Number(0.5, 200.0), "ns";
        /// A full fence with an empty store buffer.
        fence: Time = Number(0.0, 200.0), "ns";
        /// One read of the counter of ticks.
        tsc_read: Time = Number(0.5, 500.0), "ns";
    }

    /// How long it takes to move a cache line between two hardware threads, one way, on an idle
    /// machine.
    #[derive(Copy)]
    Transfer "transfer" {
        /// Between the two hardware threads of a core.
        smt_sibling: Time = Number(0.5, 1000.0), "ns";
        /// Between cores of a cluster.
        same_cluster: Time = Number(1.0, 5000.0), "ns";
        /// Between clusters of a socket.
        same_socket: Time = Number(1.0, 5000.0), "ns";
        /// Between sockets.
        cross_socket: Time = Number(1.0, 10000.0), "ns";
        /// From memory: a line that no cache has.
        memory: Time = Number(10.0, 10000.0), "ns";
        /// What a write costs more for each further core that shares the line.
        invalidate: Time = Number(0.0, 1000.0), "ns";
        /// How long a line that many cores read is busy with one of them, before it serves the
        /// next.
        read_occupancy: Time = Number(0.0, 1000.0), "ns";
        /// How far one transfer may be off its mean, as a part of it.
        jitter: f64 = Number(0.0, 0.5), "fraction";
        /// For how long the home of a line does not know that the line has come, as a part of its
        /// way.
        turnaround: f64 = Number(0.0, 2.0), "fraction";
    }

    /// What a core has stored and not published yet.
    #[derive(Copy)]
    StoreBuffer "store_buffer" {
        /// Stores that wait for their lines while the core goes on; 0 makes each store wait.
        entries: usize = Count(0, 512), "count";
    }

    /// The futex system call.
    #[derive(Copy)]
    Futex "futex" {
        /// The system call in and out, without what it does.
        entry: Time = Number(10.0, 100_000.0), "ns";
        /// Buckets of the kernel's hash table for each CPU.
        hash_buckets_per_cpu: usize = Count(1, 65536), "count";
        /// How long one operation on a queue holds the lock of its bucket.
        bucket_hold: Time = Number(0.0, 100_000.0), "ns";
        /// What the waking thread pays for each thread that it wakes.
        wake: Time = Number(0.0, 1e6), "ns";
        /// How much later than asked a timed wait may end.
        timer_slack: Time = Number(0.0, 1e9), "ns";
    }

    /// The system call membarrier(2), the heavy fence.
    #[derive(Copy)]
    Membarrier "membarrier" {
        /// The call if no other CPU is interrupted.
        base: Time = Number(10.0, 1e6), "ns";
        /// What the caller pays more for each CPU that is interrupted.
        per_cpu: Time = Number(0.0, 1e6), "ns";
        /// What an interrupted CPU loses.
        interrupted: Time = Number(0.0, 1e6), "ns";
    }

    /// The kernel's scheduler.
    #[derive(Copy)]
    Scheduler "scheduler" {
        /// How it chooses the next thread of a CPU.
        policy: Policy = Word(Policy::WORDS), "";
        /// How long a thread may run while others want its CPU, before it is switched out at a
        /// tick.
        slice: Time = Number(10_000.0, 1e9), "ns";
        /// Time between two ticks of a busy CPU.
        tick: Time = Number(10_000.0, 1e8), "ns";
        /// A woken thread takes the CPU at once if it is behind the running one by more than this.
        wakeup_granularity: Time = Number(0.0, 1e9), "ns";
        /// How far a woken thread is put behind the threads that have run meanwhile, at most.
        sleeper_credit: Time = Number(0.0, 1e9), "ns";
        /// A context switch.
        switch: Time = Number(0.0, 1e6), "ns";
        /// What a thread loses more when it runs on another CPU than before.
        migration: Time = Number(0.0, 1e7), "ns";
        /// From a wake to the woken thread's first instruction on an idle CPU that polls.
        wake_latency: Time = Number(0.0, 1e7), "ns";
        /// How far the time of a wake to an idle CPU may be from its value, either way, as a part
        /// of it.
        wake_jitter: f64 = Number(0.0, 1.0), "fraction";
        /// What sched_yield does while other threads wait for the CPU: `next` runs the next of
        /// them, `last` puts the caller behind all of them, `nothing` returns.
        yield_to: Yield = Word(Yield::WORDS), "";
        /// A sched_yield that returns to its caller.
        yield_cost: Time = Number(0.0, 1e6), "ns";
        /// How often a busy CPU looks for threads to take from or give to other CPUs.
        balance_interval: Time = Number(10_000.0, 1e11), "ns";
    }

    /// An idle state of a CPU; the list goes from shallow to deep.
    #[derive(Copy)]
    Idle "idle[]" {
        /// A CPU is in this state when it has been idle for at least this long.
        after: Time = Number(0.0, 1e11), "ns";
        /// What a wake takes more because the CPU has to come back from this state.
        exit: Time = Number(0.0, 1e8), "ns";
    }

    /// The clocks.
    #[derive(Copy)]
    Clock "clock" {
        /// Ticks of the counter (TSC, CNTVCT) in a nanosecond.
        tsc_ghz: f64 = Number(0.001, 10.0), "GHz";
        /// One read of the monotonic clock.
        monotonic_read: Time = Number(1.0, 100_000.0), "ns";
    }
}

/// Declares a value that is one of some words.
macro_rules! words {
    ($( $(#[doc = $about:literal])+ $Name:ident { $( $(#[doc = $doc:literal])+ $Word:ident = $word:literal, )+ } )+) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum $Name {
                $( $(#[doc = $doc])+ $Word, )+
            }

            impl $Name {
                /// The words of machine files.
                pub const WORDS: &[&str] = &[$($word),+];

                /// The word of machine files.
                pub fn word(self) -> &'static str {
                    match self {
                        $( Self::$Word => $word, )+
                    }
                }
            }

            impl fmt::Display for $Name {
                fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                    out.write_str(self.word())
                }
            }

            impl FromValue for $Name {
                fn from_value(value: &Value) -> Self {
                    match value {
                        $( Value::Word(word) if word == $word => Self::$Word, )+
                        other => unreachable!("{other} has passed its range"),
                    }
                }
            }
        )+
    };
}

words! {
    /// How the scheduler chooses the next thread of a CPU.
    Policy {
        /// Linux since 6.6: earliest eligible virtual deadline first.
        Eevdf = "eevdf",
        /// Linux 2.6.23 to 6.5: least virtual run time first, woken threads with credit.
        Cfs = "cfs",
        /// Each thread in turn, a slice each.
        RoundRobin = "round_robin",
    }

    /// What a yield does while other threads wait for the CPU.
    Yield {
        /// The next of them runs.
        Next = "next",
        /// The caller runs again after all of them.
        Last = "last",
        /// It returns, and the caller runs on.
        Nothing = "nothing",
    }
}

impl Clock {
    /// Ticks of the counter in a second.
    pub fn tsc_hertz(&self) -> u64 {
        (self.tsc_ghz * 1e9).round() as u64
    }
}

impl Policy {
    /// Whether the thread with the least virtual run time is next.
    pub(crate) fn is_fair(self) -> bool {
        matches!(self, Self::Eevdf | Self::Cfs)
    }
}
