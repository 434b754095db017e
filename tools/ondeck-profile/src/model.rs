//! The data of a profile: processes, their locks, the stacks of holders and waiters.

mod frame;
mod futex;
mod kind;
mod place;
pub(crate) mod program;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use ondeck_record::layout::Role;
use ondeck_text::functions::short;
use serde::Serialize;

use crate::mappings::Source;
pub use frame::Frame;
pub use futex::{Futex, Futexes, Object};
pub use kind::Kind;
pub use place::Place;

/// Everything that was recorded in a folder.
#[derive(Debug, Default)]
pub struct Profile {
    /// One for each process image that can be read, in the order of their start.
    pub processes: Vec<Process>,
    /// The files that could not be read, and why.
    pub refused: Vec<crate::Error>,
    /// Futexes on which the programs waited without the recorder; none if the threads were not
    /// sampled.
    pub futexes: Option<Futexes>,
    /// What was seen, if the reader of the recordings knows it.
    pub scope: Option<Scope>,
}

/// What a run has seen of a program, and what it could not see.
#[derive(Debug, Default)]
pub struct Scope {
    /// One sentence without its end.
    pub seen: String,
    /// The same for each thing that was not seen, with what to do next.
    pub unseen: Vec<String>,
}

impl Profile {
    /// Returns all locks with their process, worst first: by the time that threads waited for them.
    pub fn locks(&self) -> Vec<(&Process, &Lock)> {
        self.sorted(|process| &process.locks)
    }

    /// Returns what threads waited at for notifications, the same way.
    pub fn notices(&self) -> Vec<(&Process, &Lock)> {
        self.sorted(|process| &process.notices)
    }

    fn sorted(&self, of: fn(&Process) -> &Vec<Lock>) -> Vec<(&Process, &Lock)> {
        let mut locks: Vec<_> = self
            .processes
            .iter()
            .flat_map(|process| of(process).iter().map(move |lock| (process, lock)))
            .collect();
        locks.sort_by(|a, b| b.1.wait.nanos.total_cmp(&a.1.wait.nanos));
        locks
    }
}

/// One process image: a program from its start, or from its `fork` or `exec`, to its end or until
/// now.
#[derive(Debug)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its parent's number at the beginning.
    pub parent: u32,
    /// The program's file.
    pub program: PathBuf,
    /// Its arguments, the name first; a long list is cut off.
    pub arguments: Vec<String>,
    /// When the recording began.
    pub started: SystemTime,
    /// From then until the last record.
    pub length: Duration,
    /// Whether it ended by `exit` or by returning from `main`, so that acquisitions are counted to
    /// the end. Otherwise it is still running, or was killed, or called `exec` or `_exit`.
    pub ended: bool,
    /// Threads that found a lock held or kept others waiting.
    pub threads: u32,
    /// Its locks, worst first.
    pub locks: Vec<Lock>,
    /// What its threads waited at for a notification, longest first: the holders are those that
    /// notified.
    pub notices: Vec<Lock>,
    /// Its mappings, for later symbolization.
    pub modules: Vec<Module>,
    /// Records that the file had no room for.
    pub dropped: Dropped,
    /// The cost of recording.
    pub cost: Cost,
}

impl Process {
    /// Returns the name by which it was started.
    pub fn name(&self) -> String {
        program::name(&self.program, &self.arguments)
    }
}

/// A file that a process had mapped, with code or data.
#[derive(Clone, Debug, Serialize)]
pub struct Module {
    /// Its path.
    pub path: PathBuf,
    /// Its build-id in hexadecimal digits; empty if it has none or can no longer be read.
    pub build_id: String,
    /// The name inside a library (`DT_SONAME`), which may differ from its file's; empty if it has
    /// none.
    pub soname: String,
    /// Its first address.
    pub start: u64,
    /// The first address after it.
    pub end: u64,
    /// The difference between an address in the process and the address in the file.
    pub bias: u64,
    /// Whether it has line numbers, itself or in a separate file.
    pub has_lines: bool,
    /// Why it has no names, and the remedy: the file that was mapped cannot be found.
    pub missing: Option<String>,
    #[serde(skip)]
    pub(crate) source: Source,
}

impl Module {
    /// Returns the line of a report on its having no names; `None` if it has some.
    pub(crate) fn nameless(&self) -> Option<String> {
        Some(format!("no names of {}: it {}", self.path.display(), self.missing.as_ref()?))
    }

    /// Returns the same for a file that was found, and names not all of its functions.
    pub(crate) fn stripped(&self) -> Option<String> {
        let place = match self.build_id.split_at_checked(2) {
            _ if self.missing.is_some() => return None,
            Some((first, rest)) => format!("FOLDER/.build-id/{first}/{rest}.debug"),
            None => "its debugging file, or the file before `strip`, in FOLDER".to_owned(),
        };
        Some(format!(
            "few names of {}: it is stripped; `--symbols FOLDER` with {place}, or the distribution's package of debug \
             symbols, names its functions",
            self.path.display()
        ))
    }
}

#[cfg(test)]
impl Module {
    /// A module of which tests need no more than its names.
    pub(crate) fn named(path: &str, soname: &str) -> Self {
        Self {
            path: path.into(),
            build_id: String::new(),
            soname: soname.to_owned(),
            start: 0,
            end: 0,
            bias: 0,
            has_lines: false,
            missing: None,
            source: Source::default(),
        }
    }
}

/// Records that a full file had no room for. Totals are too small by these numbers.
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
    /// Whether the disk was full, and not a table of the file.
    pub was_disk_full: bool,
}

impl Dropped {
    /// Returns whether anything was dropped.
    pub fn any(&self) -> bool {
        [self.locks, self.stacks, self.samples, self.mappings].iter().any(|count| *count != 0)
    }
}

/// The cost of recording, as the recorder measured it.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Cost {
    /// Records of waits and holds.
    pub events: u64,
    /// The average cost of one of them without its stack, in nanoseconds.
    pub event_nanos: f64,
    /// Waits that were not recorded, because others represent them.
    pub looks: u64,
    /// The cost of one of them, in nanoseconds.
    pub look_nanos: f64,
    /// Stacks that were recorded.
    pub stacks: u64,
    /// The average cost of one of them, in nanoseconds.
    pub stack_nanos: f64,
}

impl Cost {
    /// Returns the total cost, in nanoseconds of CPU time.
    pub fn nanos(&self) -> f64 {
        self.events as f64 * self.event_nanos
            + self.looks as f64 * self.look_nanos
            + self.stacks as f64 * self.stack_nanos
    }
}

/// A lock, and what was recorded about it.
#[derive(Debug)]
pub struct Lock {
    /// Its address in the process.
    pub address: u64,
    /// Its kind.
    pub kind: Kind,
    /// The name that the program gave it; empty if it gave none.
    pub given_name: String,
    /// Where it is.
    pub place: Place,
    /// The stack that initialized it, innermost first; empty if that is not known.
    pub created: Vec<Arc<Location>>,
    /// The place that waited for it most, of an observed lock.
    pub site: Option<Frame>,
    /// The number of acquisitions during the recording; `None` for a lock that does not count them.
    pub acquisitions: Option<u64>,
    /// The number of times that another lock was initialized at this address by a function call.
    /// The records of these locks are not separated.
    pub reused: u32,
    /// Waits that have ended.
    pub wait: Times,
    /// The waits among them that ended at a deadline, without the lock.
    pub timeouts: u64,
    /// Recorded holds at whose end threads waited.
    pub hold: Times,
    /// The total time that owners kept others waiting, in nanoseconds.
    pub kept_waiting: f64,
    /// The total time that threads waited while no thread is known to have held the lock: a woken
    /// thread was not running yet, or a parked thread was not woken. For a `pthread_rwlock_t` it
    /// includes waits during reads.
    pub free: f64,
    /// Threads that took part: exact up to 256 threads of the process, an estimate above.
    pub threads: u32,
    /// Threads that waited when the file was read.
    pub waiting: u64,
    /// The holds of threads, by their stacks, worst first.
    pub holders: Vec<Sample>,
    /// The waits of threads, by their stacks, worst first. If the lock is a `pthread_mutex_t`, a
    /// wait is recorded at the unlock that follows it, with the stack of that unlock.
    pub waiters: Vec<Sample>,
}

impl Lock {
    /// Returns the part of acquisitions that had to wait; `None` if they are not counted.
    pub fn contention(&self) -> Option<f64> {
        let all = self.acquisitions.filter(|all| *all != 0)?;
        Some(((self.wait.count - self.timeouts.min(self.wait.count)) as f64 / all as f64).min(1.0))
    }

    /// Returns the part of all waiting during which the lock was free.
    pub fn free_part(&self) -> f64 {
        self.free / self.all_waiting()
    }

    /// Returns the waiting without a known owner, in nanoseconds, and its part of all: the waits
    /// that began at a notification.
    pub fn unexplained(&self) -> (f64, f64) {
        let nanos = (self.wait.nanos - self.kept_waiting - self.free).max(0.0);
        (nanos, nanos / self.all_waiting())
    }

    fn all_waiting(&self) -> f64 {
        self.wait.nanos.max(self.kept_waiting + self.free).max(1.0)
    }

    /// Returns the samples of a role.
    pub fn samples(&self, role: Role) -> &[Sample] {
        match role {
            Role::Holder => &self.holders,
            Role::Waiter => &self.waiters,
        }
    }

    /// Returns a name of the lock: the given one, its variable, the function that initialized it,
    /// or its address.
    pub fn name(&self) -> String {
        self.named(str::to_owned)
    }

    /// Returns it with short names of functions, for people.
    pub fn short_name(&self) -> String {
        self.named(short)
    }

    fn named(&self, name: fn(&str) -> String) -> String {
        if !self.given_name.is_empty() {
            return self.given_name.clone();
        }
        if let Some(symbol) = self.place.symbol() {
            return name(&symbol);
        }
        match &self.place {
            Place::Static { module, .. } => format!("{module} {:#x}", self.address),
            Place::Waiters => match &self.site {
                Some(site) => format!("of {}", name(&site.function)),
                None => "unknown".to_owned(),
            },
            _ => match self.maker() {
                Some(frame) => format!("of {} {:#x}", name(&frame.function), self.address),
                None => format!("{:#x}", self.address),
            },
        }
    }

    /// Returns the function that initialized it, otherwise the one that waited for it most.
    fn maker(&self) -> Option<&Frame> {
        let created = self.created.first().and_then(|location| location.frames.first());
        created.or(self.site.as_ref())
    }

    /// Returns where it is declared or was initialized, as `file:line` if that is known.
    pub fn origin(&self) -> String {
        match &self.place {
            Place::Static { file: Some(file), line: Some(line), .. } => format!("{file}:{line}"),
            Place::Static { module, .. } => module.clone(),
            place => {
                let word = match place {
                    Place::Heap => "heap",
                    Place::Stack => "stack",
                    Place::Waiters => "awaited in",
                    _ => "memory",
                };
                match self.maker() {
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
    /// The number of times.
    pub count: u64,
    /// Their sum.
    pub nanos: f64,
    /// The longest.
    pub longest: f64,
    /// Buckets that are not empty: from, to, count.
    pub buckets: Vec<(f64, f64, u64)>,
}

impl Times {
    /// Returns the quantile for a part of all times, such as 0.99: the upper end of its bucket,
    /// which is at most 1/8 wide. 0 if there are no times.
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

    /// Returns the mean; 0 if there are no times.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.nanos / self.count as f64 }
    }
}

/// The samples with the same stack.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The stack, innermost first, without the frames of ondeck.
    pub stack: Vec<Arc<Location>>,
    /// The number of events.
    pub count: u64,
    /// The time in nanoseconds: for a waiter its waits, for a holder the waits of others.
    pub nanos: f64,
    /// The longest single wait, or the longest single hold, in nanoseconds.
    pub longest: f64,
}

impl Sample {
    /// Returns its functions, innermost first, inlined ones included.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &Frame> {
        self.stack.iter().flat_map(|location| location.frames.iter())
    }

    /// Returns them without those of the language's library, for people; all if there are no
    /// others.
    pub fn shown(&self) -> impl DoubleEndedIterator<Item = &Frame> {
        let has_others = self.frames().any(|frame| !frame.is_of_language());
        self.frames().filter(move |frame| !has_others || !frame.is_of_language())
    }
}

/// A code address, and the functions there.
#[derive(Debug, Serialize)]
pub struct Location {
    /// The address of the call, not of the instruction to which it returns.
    pub address: u64,
    /// Its module in [`Process::modules`].
    pub module: Option<usize>,
    /// Functions: the innermost inlined one first, at least one.
    pub frames: Vec<Frame>,
}
