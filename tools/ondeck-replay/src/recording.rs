//! The file of a recording, as `ondeck run --record` writes it: JSON.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The kind that the file states.
const KIND: &str = "ondeck recording";
/// The version of its format.
const VERSION: u32 = 2;
/// The advice for a file that cannot be replayed.
const NAME_ONE: &str = "name a file that `ondeck run --record FILE -- PROGRAM` wrote";

/// The recording of a program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// Always "ondeck recording".
    pub kind: String,
    /// The version of the format.
    pub version: u32,
    /// The program's name.
    pub program: String,
    /// The length of the recording.
    pub seconds: f64,
    /// Nanoseconds in which a cache line moved from one core to the next when the program had
    /// ended; none on one CPU.
    pub transfer: Option<f64>,
    /// Threads for which the recording had no room.
    pub dropped_threads: u64,
    /// Its locks.
    pub locks: Vec<Lock>,
    /// The functions that lock them.
    pub sites: Vec<Site>,
    /// Its threads.
    pub threads: Vec<Thread>,
}

/// A lock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Its variable, or a function that locks it.
    pub name: String,
    /// The place of that name, as `cache.cc:15`; empty if it is not known.
    pub at: String,
}

impl Lock {
    /// The name and the place.
    pub fn words(&self) -> String {
        if self.at.is_empty() {
            format!("`{}`", self.name)
        } else {
            format!("`{}` ({})", self.name, self.at)
        }
    }
}

/// A call site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The function.
    pub function: String,
    /// The line, as `cache.cc:22`; empty if it is not known.
    pub at: String,
}

/// A thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Thread {
    /// Acquisitions of the thread, recorded or not.
    pub acquisitions: u64,
    /// The recorded bursts, in the order of time.
    pub bursts: Vec<Burst>,
    /// All sections that were long, in a burst or not.
    pub long: Vec<Long>,
}

/// The long sections of one lock from one call site: each took more than [`LONG`](crate::LONG).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Long {
    /// The lock, in [`Recording::locks`].
    pub lock: usize,
    /// The action that began them.
    pub action: Action,
    /// The call site, in [`Recording::sites`].
    pub site: Option<usize>,
    /// How many there were.
    pub count: u64,
    /// Nanoseconds of their work.
    pub work: f64,
    /// Nanoseconds in which the thread was blocked in them.
    pub blocked: f64,
}

/// Consecutive operations of a thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Burst {
    /// The number of the thread's acquisitions before it.
    pub first: u64,
    /// When it began, in seconds since the beginning.
    pub begun: f64,
    /// The operations.
    pub operations: Vec<Operation>,
}

/// An action of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Locks a mutex.
    Lock,
    /// Locks a reader-writer lock to read.
    Read,
    /// Locks a reader-writer lock to write.
    Write,
    /// Unlocks any of these.
    Unlock,
    /// Unlocks a mutex, waits for a notification, locks it again.
    Wait,
    /// Notifies waiters.
    Notify,
    /// Is blocked elsewhere.
    Blocked,
    /// Yields its CPU, once or several times.
    Yield,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Row", into = "Row")]
pub struct Operation {
    /// The action.
    pub action: Action,
    /// Work before it, in nanoseconds.
    pub work: f64,
    /// Its duration in nanoseconds, including waits.
    pub took: f64,
    /// The lock, in [`Recording::locks`].
    pub lock: Option<usize>,
    /// The call site, in [`Recording::sites`].
    pub site: Option<usize>,
}

/// An operation in the file: action, work, time, lock, site.
type Row = (Action, f64, f64, Option<usize>, Option<usize>);

impl From<Row> for Operation {
    fn from((action, work, took, lock, site): Row) -> Self {
        Self { action, work, took, lock, site }
    }
}

impl From<Operation> for Row {
    fn from(it: Operation) -> Self {
        let tenths = |nanos: f64| (nanos * 10.0).round() / 10.0;
        (it.action, tenths(it.work), tenths(it.took), it.lock, it.site)
    }
}

/// Why a file cannot be replayed, and the advice.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

/// The kind and the version of a file, in any format.
#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
    version: Option<u64>,
}

impl Recording {
    /// An empty recording.
    pub fn new(program: String, seconds: f64) -> Self {
        Self {
            kind: KIND.to_owned(),
            version: VERSION,
            program,
            seconds,
            transfer: None,
            dropped_threads: 0,
            locks: Vec::new(),
            sites: Vec::new(),
            threads: Vec::new(),
        }
    }

    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is not a recording, or has nothing to replay.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = std::fs::read(path)
            .map_err(|error| Error(format!("cannot read {name}: {error}; {NAME_ONE}")))?;
        Self::parse(&name, &text)
    }

    fn parse(name: &str, text: &[u8]) -> Result<Self, Error> {
        let foreign =
            |detail| Error(format!("{name} is no recording of a program: {detail}; {NAME_ONE}"));
        let head: Head =
            serde_json::from_slice(text).map_err(|error| foreign(error.to_string()))?;
        if head.kind.as_deref() != Some(KIND) {
            let kind = head.kind.map_or("missing".to_owned(), |kind| format!("{kind:?}"));
            return Err(foreign(format!("its `kind` is {kind}, not \"{KIND}\"")));
        }
        if head.version != Some(VERSION.into()) {
            let found = head.version.unwrap_or(0);
            return Err(Error(format!(
                "{name} is of version {found}, and this command reads version {VERSION}; record the program again"
            )));
        }
        let recording: Self =
            serde_json::from_slice(text).map_err(|error| foreign(error.to_string()))?;
        if let Some(wrong) = recording.wrong() {
            return Err(foreign(wrong));
        }
        if recording.operations().all(|operation| !operation.acquires()) {
            return Err(Error(format!(
                "{name} has no acquisition of a lock: {} locked nothing that is recorded; record a longer run, \
                 or a program with pthread mutexes or reader-writer locks",
                recording.program
            )));
        }
        Ok(recording)
    }

    /// Describes an impossible number, if there is one.
    fn wrong(&self) -> Option<String> {
        // Bounded so that sums do not overflow.
        let most = 1 << 50;
        let count =
            |it: &&Thread| it.acquisitions > most || it.bursts.iter().any(|it| it.first > most);
        if let Some(thread) = self.threads.iter().find(count) {
            return Some(format!("{} acquisitions of a thread cannot be", thread.acquisitions));
        }
        let is_time = |time: f64| time.is_finite() && (0.0..1e15).contains(&time);
        let longs = self.threads.iter().flat_map(|thread| &thread.long);
        let is_wrong = |it: &&Long| {
            it.lock >= self.locks.len()
                || it.site.is_some_and(|site| site >= self.sites.len())
                || it.count > most
                || !is_time(it.work)
                || !is_time(it.blocked)
        };
        if let Some(long) = longs.clone().find(is_wrong) {
            return Some(format!("long sections {long:?} have a number that cannot be"));
        }
        self.operations().find_map(|it| {
            let is_right = is_time(it.work)
                && is_time(it.took)
                && it.lock.is_none_or(|lock| lock < self.locks.len())
                && it.site.is_none_or(|site| site < self.sites.len())
                && (it.lock.is_some()
                    || matches!(it.action, Action::Notify | Action::Blocked | Action::Yield));
            (!is_right).then(|| format!("operation {it:?} has a number that cannot be"))
        })
    }

    fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.threads.iter().flat_map(|thread| &thread.bursts).flat_map(|burst| &burst.operations)
    }

    /// Serializes the recording.
    ///
    /// # Errors
    ///
    /// Never expected: it is a tree of strings and numbers.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self).map(|text| text + "\n")
    }
}

impl Operation {
    /// Whether the thread holds a lock afterwards that it did not hold before.
    pub fn acquires(&self) -> bool {
        matches!(self.action, Action::Lock | Action::Read | Action::Write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded() -> Recording {
        let mut recording = Recording::new("app".to_owned(), 1.5);
        recording.locks.push(Lock { name: "cache".to_owned(), at: "cache.cc:15".to_owned() });
        recording.sites.push(Site { function: "get".to_owned(), at: String::new() });
        let operation =
            |action, work, site| Operation { action, work, took: 20.04, lock: Some(0), site };
        let operations =
            vec![operation(Action::Lock, 100.26, Some(0)), operation(Action::Unlock, 50.0, None)];
        recording.threads.push(Thread {
            acquisitions: 10,
            bursts: vec![Burst { first: 3, begun: 0.25, operations }],
            long: vec![Long {
                lock: 0,
                action: Action::Lock,
                site: Some(0),
                count: 2,
                work: 80_000.0,
                blocked: 0.0,
            }],
        });
        recording
    }

    fn parse(text: &str) -> Result<Recording, String> {
        Recording::parse("a.json", text.as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_written_is_read_again() {
        let text = recorded().to_json().expect("a tree");
        assert!(text.contains("[\"lock\",100.3,20.0,0,0],[\"unlock\",50.0,20.0,0,null]"), "{text}");
        let read = parse(&text).expect("it was just written");
        assert_eq!(read.locks, recorded().locks);
        assert_eq!(read.sites, recorded().sites);
        assert_eq!(read.to_json().expect("a tree"), text);
        assert_eq!(recorded().locks[0].words(), "`cache` (cache.cc:15)");
    }

    #[test]
    fn what_is_no_recording_is_named_with_the_fix() {
        let text = recorded().to_json().expect("a tree");
        let mut empty = recorded();
        empty.threads[0].bursts[0].operations.clear();
        for (text, parts) in [
            ("", &["a.json", "EOF", "--record"][..]),
            ("{\"series\":[]}", &["`kind` is missing", "--record"]),
            (&text.replace("\"version\":2", "\"version\":7"), &["version 7", "again"]),
            (&text.replace("\"count\":2", "\"count\":9999999999999999"), &["cannot be"]),
            (&text.replace("\"lock\",100.3", "\"look\",100.3"), &["look"]),
            (&text.replace("100.3", "-100.3"), &["cannot be"]),
            (
                &text.replace("\"acquisitions\":10", "\"acquisitions\":18446744073709551615"),
                &["cannot be"],
            ),
            (&text.replace("20.0,0,0]", "20.0,1,0]"), &["cannot be"]),
            (&text.replace("20.0,0,null]", "20.0,null,null]"), &["cannot be"]),
            (&empty.to_json().expect("a tree"), &["no acquisition", "app", "longer"]),
        ] {
            let error = parse(text).expect_err("it is wrong");
            for part in parts {
                assert!(error.contains(part), "{part}: {error}");
            }
        }
    }
}
