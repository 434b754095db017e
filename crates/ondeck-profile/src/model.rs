//! What a profile is: processes, their locks, the stacks of holders and waiters.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ondeck_record::layout::{Role, kind};
use serde::Serialize;

/// Everything that was recorded in a folder.
#[derive(Debug, Default)]
pub struct Profile {
    /// One for each process image that can be read, by the time of their beginning.
    pub processes: Vec<Process>,
    /// What files could not be read, and why.
    pub refused: Vec<crate::Error>,
    /// Futexes that the programs waited at by themselves; none if the threads were not looked at.
    pub futexes: Option<Futexes>,
}

impl Profile {
    /// All locks with their process, worst first: by the time that threads waited for them.
    pub fn locks(&self) -> Vec<(&Process, &Lock)> {
        let mut locks: Vec<_> = self
            .processes
            .iter()
            .flat_map(|process| process.locks.iter().map(move |lock| (process, lock)))
            .collect();
        locks.sort_by(|a, b| b.1.wait.nanos.total_cmp(&a.1.wait.nanos));
        locks
    }
}

/// One process image: a program from its start, or from its `fork` or `exec`, to its end or until now.
#[derive(Debug)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its parent's number at the beginning.
    pub parent: u32,
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments, the name first; the end of many is missing.
    pub arguments: Vec<String>,
    /// When the recording began.
    pub started: SystemTime,
    /// From then until the last thing that was recorded.
    pub length: Duration,
    /// Whether it ended by `exit` or by returning from `main`, so that acquisitions are counted to the
    /// end. Else it runs, or was killed, or called `exec` or `_exit`.
    pub ended: bool,
    /// Threads that found a lock taken or kept others waiting.
    pub threads: u32,
    /// Its locks, worst first.
    pub locks: Vec<Lock>,
    /// What is mapped where, for later symbolization.
    pub modules: Vec<Module>,
    /// What found no room in the file.
    pub dropped: Dropped,
    /// What recording cost.
    pub cost: Cost,
}

/// A file that a process had mapped with code or data.
#[derive(Clone, Debug, Serialize)]
pub struct Module {
    /// Its path.
    pub path: PathBuf,
    /// Its build-id in hexadecimal digits; empty if it has none or cannot be read any more.
    pub build_id: String,
    /// The name that a library has in itself (`DT_SONAME`), however its file is called; empty if it has none.
    pub soname: String,
    /// The first address that it takes.
    pub start: u64,
    /// The first address behind it.
    pub end: u64,
    /// What to subtract from an address to have that of the file.
    pub bias: u64,
    /// Whether it has line numbers, itself or in a separate file.
    pub has_lines: bool,
}

/// What a full file could not take. Its totals are too small by as much.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Dropped {
    /// Waits and holds of locks without an entry.
    pub locks: u64,
    /// Stacks.
    pub stacks: u64,
    /// Samples.
    pub samples: u64,
    /// Snapshots of the mappings.
    pub mappings: u64,
}

impl Dropped {
    /// Whether anything was dropped.
    pub fn any(&self) -> bool {
        [self.locks, self.stacks, self.samples, self.mappings].iter().any(|count| *count != 0)
    }
}

/// What recording cost, by its own measurements.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Cost {
    /// Records of waits and holds.
    pub events: u64,
    /// What one of them cost on average without its stack, in nanoseconds.
    pub event_nanos: f64,
    /// Waits that were not recorded, because others stand for them.
    pub looks: u64,
    /// What one of them costs, in nanoseconds.
    pub look_nanos: f64,
    /// Stacks that were taken.
    pub stacks: u64,
    /// What one of them cost on average, in nanoseconds.
    pub stack_nanos: f64,
}

impl Cost {
    /// All of it, in nanoseconds of CPU time.
    pub fn nanos(&self) -> f64 {
        self.events as f64 * self.event_nanos
            + self.looks as f64 * self.look_nanos
            + self.stacks as f64 * self.stack_nanos
    }
}

/// What kind of lock it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A `pthread_mutex_t` of the default kind.
    Default,
    /// A recursive `pthread_mutex_t`.
    Recursive,
    /// A `pthread_mutex_t` that checks for errors.
    Errorcheck,
    /// An adaptive `pthread_mutex_t`.
    Adaptive,
    /// A mutex of the crate `ondeck`.
    Ondeck,
    /// A `pthread_rwlock_t`.
    Rwlock,
    /// A kind that this version does not know.
    Unknown,
}

impl Kind {
    pub(crate) fn of(number: u32) -> Self {
        match number {
            kind::DEFAULT => Self::Default,
            kind::RECURSIVE => Self::Recursive,
            kind::ERRORCHECK => Self::Errorcheck,
            kind::ADAPTIVE => Self::Adaptive,
            kind::ONDECK => Self::Ondeck,
            kind::RWLOCK => Self::Rwlock,
            _ => Self::Unknown,
        }
    }

    /// A word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Recursive => "recursive",
            Self::Errorcheck => "errorcheck",
            Self::Adaptive => "adaptive",
            Self::Ondeck => "ondeck",
            Self::Rwlock => "rwlock",
            Self::Unknown => "unknown",
        }
    }
}

/// Where a lock is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "in")]
pub enum Place {
    /// In a variable of the program or of a library.
    Static {
        /// The module's file name.
        module: String,
        /// The variable; empty if the module has no symbol there.
        symbol: String,
        /// How many bytes behind the variable's beginning.
        offset: u64,
        /// Where the variable is declared, if there is debugging information.
        file: Option<String>,
        /// The line there.
        line: Option<u64>,
    },
    /// On the heap, by brk(2).
    Heap,
    /// On the stack of the first thread.
    Stack,
    /// In other memory: the allocator's, a thread's stack, shared memory.
    Memory,
}

impl Place {
    /// The variable, and how far in it.
    pub fn symbol(&self) -> Option<String> {
        match self {
            Self::Static { symbol, offset: 0, .. } if !symbol.is_empty() => Some(symbol.clone()),
            Self::Static { symbol, offset, .. } if !symbol.is_empty() => {
                Some(format!("{symbol}+{offset:#x}"))
            }
            _ => None,
        }
    }
}

/// A lock, and what was recorded of it.
#[derive(Debug)]
pub struct Lock {
    /// Its address in the process.
    pub address: u64,
    /// Its kind.
    pub kind: Kind,
    /// Where it is.
    pub place: Place,
    /// The stack that initialized it, innermost first; empty if that is not known.
    pub created: Vec<Arc<Location>>,
    /// How often it was acquired while recording; `None` for a lock that does not count.
    pub acquisitions: Option<u64>,
    /// How often another lock was initialized at this address, as far as by a function call. What was recorded of
    /// them is together.
    pub reused: u32,
    /// Waits that have ended.
    pub wait: Times,
    /// Of those the ones that ended at a deadline, without the lock.
    pub timeouts: u64,
    /// Holds at whose end threads waited, as far as they were recorded.
    pub hold: Times,
    /// How long owners kept others waiting, all of these together, in nanoseconds.
    pub kept_waiting: f64,
    /// How long threads waited, all of these together, while no thread had the lock, as far as is known: a woken thread
    /// was not running yet, or a parked thread was not woken; of a `pthread_rwlock_t` also while threads read.
    pub free: f64,
    /// Threads that took part: exact up to 256 threads of the process, else about as many.
    pub threads: u32,
    /// Threads that waited when the file was read.
    pub waiting: u64,
    /// What threads did, by their stacks, worst first.
    pub holders: Vec<Sample>,
    /// How threads waited, by their stacks, worst first. A wait is recorded at the unlock that follows it,
    /// and has the stack of that, if the lock is a `pthread_mutex_t`.
    pub waiters: Vec<Sample>,
}

impl Lock {
    /// The part of acquisitions that had to wait; `None` if they are not counted.
    pub fn contention(&self) -> Option<f64> {
        let all = self.acquisitions.filter(|all| *all != 0)?;
        Some(((self.wait.count - self.timeouts.min(self.wait.count)) as f64 / all as f64).min(1.0))
    }

    /// The part of all waiting in which the lock was free.
    pub fn free_part(&self) -> f64 {
        self.free / (self.kept_waiting + self.free).max(1.0)
    }

    /// The samples of a role.
    pub fn samples(&self, role: Role) -> &[Sample] {
        match role {
            Role::Holder => &self.holders,
            Role::Waiter => &self.waiters,
        }
    }

    /// The lock in few words: its variable, the function that initialized it, or its address.
    pub fn name(&self) -> String {
        if let Some(symbol) = self.place.symbol() {
            return symbol;
        }
        match &self.place {
            Place::Static { module, .. } => format!("{module} {:#x}", self.address),
            _ => match self.created.first().and_then(|location| location.frames.first()) {
                Some(frame) => format!("of {} {:#x}", frame.function, self.address),
                None => format!("{:#x}", self.address),
            },
        }
    }

    /// Where it is declared or was initialized, `file:line` if that is known.
    pub fn origin(&self) -> String {
        match &self.place {
            Place::Static { file: Some(file), line: Some(line), .. } => format!("{file}:{line}"),
            Place::Static { module, .. } => module.clone(),
            place => {
                let word = match place {
                    Place::Heap => "heap",
                    Place::Stack => "stack",
                    _ => "memory",
                };
                match self.created.first().and_then(|location| location.frames.first()) {
                    Some(frame) => format!("{word}, {}", frame.short()),
                    None => word.to_owned(),
                }
            }
        }
    }
}

/// Times in nanoseconds, as a histogram.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// All together.
    pub nanos: f64,
    /// The longest.
    pub longest: f64,
    /// Buckets that are not empty: from, to, how many.
    pub buckets: Vec<(f64, f64, u64)>,
}

impl Times {
    /// The time that a part of all of them, 0.99 for instance, is at most: the upper end of its bucket,
    /// which is at most 1/8 wide. 0 if there are none.
    pub fn quantile(&self, part: f64) -> f64 {
        let all: f64 = self.buckets.iter().map(|bucket| bucket.2 as f64).sum();
        let wanted = (part * all).ceil().max(1.0);
        let mut seen = 0.0;
        for (_, to, count) in &self.buckets {
            seen += *count as f64;
            if seen >= wanted {
                return to.min(self.longest);
            }
        }
        0.0
    }

    /// The mean; 0 if there are none.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.nanos / self.count as f64 }
    }
}

/// What threads with the same stack did.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The stack, innermost first; without the frames of ondeck.
    pub stack: Vec<Arc<Location>>,
    /// How often.
    pub count: u64,
    /// For how long, in nanoseconds: of a waiter its waits, of a holder the waits of others.
    pub nanos: f64,
    /// The longest single wait, or the longest single hold, in nanoseconds.
    pub longest: f64,
}

impl Sample {
    /// Its functions, innermost first, inlined ones included.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &Frame> {
        self.stack.iter().flat_map(|location| location.frames.iter())
    }
}

/// An address of code, and what is there.
#[derive(Debug, Serialize)]
pub struct Location {
    /// The address: of a call, not of what it returns to.
    pub address: u64,
    /// Its module in [`Process::modules`].
    pub module: Option<usize>,
    /// Functions: the innermost inlined one first, at least one.
    pub frames: Vec<Frame>,
}

/// A function, and a line of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Frame {
    /// The name, demangled; the module and an offset if there is none.
    pub function: String,
    /// The source file.
    pub file: Option<String>,
    /// The line.
    pub line: Option<u32>,
}

impl Frame {
    /// The function, and where it is: `work (hot.c:12)`.
    pub fn short(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => {
                let name = file.rsplit('/').next().unwrap_or(file);
                format!("{} ({name}:{line})", self.function)
            }
            _ => self.function.clone(),
        }
    }
}

/// Futexes that programs waited at by themselves, found by looking at their threads.
#[derive(Debug)]
pub struct Futexes {
    /// How often threads were looked at.
    pub looks: u64,
    /// Whether all threads could be looked at.
    pub is_whole: bool,
    /// By how often threads slept there, most first.
    pub found: Vec<Futex>,
}

impl Futexes {
    /// How often a thread was found asleep.
    pub fn samples(&self) -> u64 {
        self.found.iter().map(|futex| futex.samples).sum()
    }
}

/// A futex that threads slept at.
#[derive(Debug)]
pub struct Futex {
    /// The process.
    pub pid: u32,
    /// Its address.
    pub address: u64,
    /// Where that is.
    pub place: Place,
    /// How often a thread was found there.
    pub samples: u64,
    /// The most threads at the same time.
    pub threads: u32,
    /// Their stacks, as far as they are certain, innermost first, and how often each was found; most first.
    pub stacks: Vec<(Vec<Arc<Location>>, u64)>,
}

impl Futex {
    /// The variable, or the address.
    pub fn name(&self) -> String {
        self.place.symbol().unwrap_or_else(|| format!("{:#x}", self.address))
    }

    /// Which function waited there most often, with its callers: without the frames of the lock, if that leaves any.
    pub fn frames(&self) -> Vec<&Frame> {
        let Some((stack, _)) = self.stacks.first() else { return Vec::new() };
        let all: Vec<&Frame> = stack.iter().flat_map(|location| &location.frames).collect();
        let own = all.iter().take_while(|frame| is_of_lock(frame)).count();
        if own == all.len() { all } else { all[own..].to_vec() }
    }
}

/// Begins of functions that wait for others.
const LOCKS: [&str; 13] = [
    "syscall",
    "std::sys::",
    "<std::sys::",
    "<std::sync::",
    "std::sync::",
    "std::thread::",
    "core::",
    "parking_lot",
    "<parking_lot",
    "lock_api::",
    "<lock_api",
    "runtime.",
    "sync.",
];

/// Parts of the paths of their sources, where inlined functions have lost the names of their modules.
const SOURCES: [&str; 5] =
    ["/library/std/src/", "/library/core/src/", "/parking_lot", "/lock_api-", "/go/src/sync/"];

fn is_of_lock(frame: &Frame) -> bool {
    LOCKS.iter().any(|start| frame.function.starts_with(start))
        || frame.file.as_ref().is_some_and(|file| SOURCES.iter().any(|part| file.contains(part)))
}
