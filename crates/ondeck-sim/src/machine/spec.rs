//! What the engine reads: plain numbers, a struct for each section of a machine file.
//!
//! This file is the only place that says which keys there are, with their ranges and units.

use std::fmt;

use super::key::{Key, Range};
use super::leaves::{FromValue, Leaves, Value};

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

/// Declares sections: the struct that the engine reads, and the keys with ranges and units, of one table.
macro_rules! sections {
    ($(
        $(#[doc = $about:literal])+
        $Section:ident $path:literal $KEYS:ident {
            $( $(#[doc = $doc:literal])+ $field:ident: $Type:ty = $range:expr, $unit:literal; )+
        }
    )+) => {
        $(
            $(#[doc = $about])+
            #[derive(Clone, Debug, PartialEq)]
            pub struct $Section {
                $(
                    $(#[doc = $doc])+
                    #[doc = ""]
                    #[doc = concat!("Unit: ", $unit)]
                    pub $field: $Type,
                )+
            }

            impl $Section {
                /// Reads the section at that path; every leaf of it is there and in its range.
                pub(super) fn read(leaves: &Leaves, path: &str) -> Self {
                    Self {
                        $( $field: FromValue::from_value(leaves.get(path, stringify!($field))), )+
                    }
                }
            }

            pub(super) const $KEYS: &[Key] =
                keys!($path { $( $(#[doc = $doc])+ $field = $range, $unit; )+ });
        )+

        /// All keys, a slice for each section.
        pub(super) const KEYS: &[&[Key]] = &[TOPOLOGY, $($KEYS),+];
    };
}

use Range::{Count, Number, Word};

/// The section `topology`: a machine of equal clusters, written as a [`Cluster`] each.
pub(super) const TOPOLOGY: &[Key] = keys!("topology" {
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
    /// A group of cores that share a last-level cache: a CCX, a whole socket, a cluster of efficiency cores.
    Cluster "cluster[]" CLUSTER {
        /// The socket that the cluster is in, from 0.
        socket: u32 = Count(0, 15), "number";
        /// The class of its cores: the name of a `[class.NAME]`.
        class: String = Range::Class, "";
        /// Its cores.
        cores: u32 = Count(1, 512), "count";
        /// Hardware threads of each of its cores.
        smt: u32 = Count(1, 2), "count";
    }

    /// Cores of one kind, and what they need for operations on cache lines that they own.
    Class "class.*" CLASS {
        /// One turn of a waiting loop's hint: PAUSE, YIELD or ISB, as compilers emit it for the processor.
        pause: f64 = Number(0.1, 10_000.0), "ns";
        /// Nanoseconds of work, as workloads count it, that a core does in a nanosecond.
        speed: f64 = Number(0.01, 10.0), "ratio";
        /// Speed of a hardware thread while its sibling runs too, of its speed alone.
        smt_speed: f64 = Number(0.5, 1.0), "ratio";
        /// A load or store of a line that is in the core's own cache in the state needed.
        hit: f64 = Number(0.1, 20.0), "ns";
        /// An atomic read-modify-write of a line that the core owns.
        rmw: f64 = Number(0.5, 200.0), "ns";
        /// A full fence with an empty store buffer.
        fence: f64 = Number(0.0, 200.0), "ns";
        /// One read of the counter of ticks.
        tsc_read: f64 = Number(0.5, 500.0), "ns";
    }

    /// How long it takes to move a cache line between two hardware threads, one way, on an idle machine.
    Transfer "transfer" TRANSFER {
        /// Between the two hardware threads of a core.
        smt_sibling: f64 = Number(0.5, 1000.0), "ns";
        /// Between cores of a cluster.
        same_cluster: f64 = Number(1.0, 5000.0), "ns";
        /// Between clusters of a socket.
        same_socket: f64 = Number(1.0, 5000.0), "ns";
        /// Between sockets.
        cross_socket: f64 = Number(1.0, 10000.0), "ns";
        /// From memory: a line that no cache has.
        memory: f64 = Number(10.0, 10000.0), "ns";
        /// What a write costs more for each further core that shares the line.
        invalidate: f64 = Number(0.0, 1000.0), "ns";
        /// How long a line that many cores read is busy with one of them, before it serves the next.
        read_occupancy: f64 = Number(0.0, 1000.0), "ns";
        /// How far one transfer may be off its mean, as a part of it.
        jitter: f64 = Number(0.0, 0.5), "fraction";
        /// For how long the home of a line does not know that the line has come, as a part of its way.
        turnaround: f64 = Number(0.0, 2.0), "fraction";
    }

    /// What a core has stored and not published yet.
    StoreBuffer "store_buffer" STORE_BUFFER {
        /// Stores that wait for their lines while the core goes on; 0 makes each store wait.
        entries: u32 = Count(0, 512), "count";
    }

    /// The futex system call.
    Futex "futex" FUTEX {
        /// The system call in and out, without what it does.
        entry: f64 = Number(10.0, 100_000.0), "ns";
        /// Buckets of the kernel's hash table for each CPU.
        hash_buckets_per_cpu: u32 = Count(1, 65536), "count";
        /// How long one operation on a queue holds the lock of its bucket.
        bucket_hold: f64 = Number(0.0, 100_000.0), "ns";
        /// What the waking thread pays for each thread that it wakes.
        wake: f64 = Number(0.0, 1e6), "ns";
        /// How much later than asked a timed wait may end.
        timer_slack: f64 = Number(0.0, 1e9), "ns";
    }

    /// The system call membarrier(2), the heavy fence.
    Membarrier "membarrier" MEMBARRIER {
        /// The call if no other CPU is interrupted.
        base: f64 = Number(10.0, 1e6), "ns";
        /// What the caller pays more for each CPU that is interrupted.
        per_cpu: f64 = Number(0.0, 1e6), "ns";
        /// What an interrupted CPU loses.
        interrupted: f64 = Number(0.0, 1e6), "ns";
    }

    /// The kernel's scheduler.
    Scheduler "scheduler" SCHEDULER {
        /// How it chooses the next thread of a CPU.
        policy: Policy = Word(Policy::WORDS), "";
        /// How long a thread may run while others want its CPU, before it is switched out at a tick.
        slice: f64 = Number(10_000.0, 1e9), "ns";
        /// Time between two ticks of a busy CPU.
        tick: f64 = Number(10_000.0, 1e8), "ns";
        /// A woken thread takes the CPU at once if it is behind the running one by more than this.
        wakeup_granularity: f64 = Number(0.0, 1e9), "ns";
        /// How far a woken thread is put behind the threads that have run meanwhile, at most.
        sleeper_credit: f64 = Number(0.0, 1e9), "ns";
        /// A context switch.
        switch: f64 = Number(0.0, 1e6), "ns";
        /// What a thread loses more when it runs on another CPU than before.
        migration: f64 = Number(0.0, 1e7), "ns";
        /// From a wake to the woken thread's first instruction on an idle CPU that polls.
        wake_latency: f64 = Number(0.0, 1e7), "ns";
        /// What sched_yield does while other threads wait for the CPU: `next` runs the next of them, `last` puts
        /// the caller behind all of them, `nothing` returns.
        yield_to: Yield = Word(Yield::WORDS), "";
        /// A sched_yield that returns to its caller.
        yield_cost: f64 = Number(0.0, 1e6), "ns";
        /// How often a busy CPU looks for threads to take from or give to other CPUs.
        balance_interval: f64 = Number(10_000.0, 1e11), "ns";
    }

    /// An idle state of a CPU; the list goes from shallow to deep.
    Idle "idle[]" IDLE {
        /// A CPU is in this state when it has been idle for at least this long.
        after: f64 = Number(0.0, 1e11), "ns";
        /// What a wake takes more because the CPU has to come back from this state.
        exit: f64 = Number(0.0, 1e8), "ns";
    }

    /// The clocks.
    Clock "clock" CLOCK {
        /// Ticks of the counter (TSC, CNTVCT) in a nanosecond.
        tsc_ghz: f64 = Number(0.001, 10.0), "GHz";
        /// One read of the monotonic clock.
        monotonic_read: f64 = Number(1.0, 100_000.0), "ns";
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
        /// Each thread until it sleeps or yields.
        Fifo = "fifo",
        /// Windows: round robin with long slices and a boost of priority for woken threads.
        Windows = "windows",
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

/// A simulated machine: what the engine reads.
///
/// Times are nanoseconds. Values that came from a [`MachineFile`](super::MachineFile) are in the ranges of
/// [`keys`](super::keys); a value that is made by hand is not checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The machine's name, as of its file.
    pub name: String,
    /// What machine it is, in a sentence.
    pub about: String,
    /// Its clusters, in the order of the file.
    pub clusters: Vec<Cluster>,
    /// Its classes of cores by name, in the order of their names.
    pub classes: Vec<(String, Class)>,
    /// What moving a cache line costs.
    pub transfer: Transfer,
    /// What a core has stored and not published yet.
    pub store_buffer: StoreBuffer,
    /// The futex system call.
    pub futex: Futex,
    /// The system call membarrier(2).
    pub membarrier: Membarrier,
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Idle states, shallow to deep, `after` rising; none means that idle CPUs poll.
    pub idle: Vec<Idle>,
    /// The clocks.
    pub clock: Clock,
}
