//! `ondeck run --deadlocks`: orders of locks that may become a deadlock, and deadlocks when they
//! happen.
//!
//! The observer notes what threads hold and want in a file ([`file`]). This process reads the files
//! of all processes now and then, and has the graph, the names and the reports, so that the program
//! has only the notes.

mod file;

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::ValueEnum;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use ondeck_deadlock::{Edge, Lock, LockKind, Orders, Report, Stack, Waiting, deadlocks};
use ondeck_profile::who::{Addresses, mappings};
use ondeck_text::functions::short;

use self::file::{Notes, Seen};
use super::supervise::Supervised;
use super::{Program, launch, not_started, recording};
use crate::ending::{Ending, Error};
use crate::outcome::Failure;
use crate::output;

/// The time between two looks. A deadlock that two of them see has come to stay.
const PAUSE: Duration = Duration::from_millis(100);
/// Functions that are shown of a stack.
const CALLERS: usize = 12;

/// What happens at a deadlock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Deadlocks {
    /// The process ends by SIGABRT
    Abort,
    /// The process goes on
    Report,
}

pub(super) fn run(
    words: &[OsString],
    symbols: &[PathBuf],
    then: Deadlocks,
) -> Result<Ending, Error> {
    super::profile::check_folders(symbols)?;
    let program = Program::find(words).map_err(Error::Start)?;
    let library = launch::observer_for(&program).map_err(Error::Start)?.map_err(|why| {
        let shown = program.path.display();
        Error::Start(Failure::unfit(format!("cannot see the locks of {shown}: {why}")))
    })?;
    let folder = recording::folder().map_err(|error| {
        Error::Start(Failure::own(format!("cannot make a folder for the notes: {error}")))
    })?;
    let mut command = launch::command(&program);
    launch::with_library(&mut command, &library);
    command.env(launch::DEADLOCKS, folder.path());
    let program =
        Supervised::start(command).map_err(|error| Error::Start(not_started(&words[0], &error)))?;
    let mut watch = Watch::new(folder.path(), symbols, then);
    let ended = program.wait(|| {
        watch.look();
        PAUSE
    });
    let status =
        ended.map_err(|error| Error::Start(Failure::own(format!("lost the program: {error}"))))?;
    watch.look();
    output::say(watch.summary());
    Ok(if watch.found == [0, 0] { Ending::AsProgram(status) } else { Ending::Deadlocked })
}

/// The processes of a program.
struct Watch<'a> {
    folder: &'a Path,
    symbols: &'a [PathBuf],
    then: Deadlocks,
    /// The namespace of the numbers of processes.
    namespace: u64,
    images: HashMap<PathBuf, Image>,
    /// Images that have ended, and notes that had no room in them.
    ended: usize,
    dropped: u32,
    /// Reports: of orders, of deadlocks.
    found: [usize; 2],
    /// The stacks of the reports on orders.
    told: HashSet<Vec<String>>,
}

/// A process image.
struct Image {
    notes: Notes,
    /// The mappings at the first look, with build-ids, if the process ran.
    mappings: String,
    orders: Orders,
    /// The waits that the last look saw: threads and their numbers.
    waits: HashSet<(u32, u32)>,
    told: HashSet<(u32, u32)>,
}

impl<'a> Watch<'a> {
    fn new(folder: &'a Path, symbols: &'a [PathBuf], then: Deadlocks) -> Self {
        let namespace = fs::metadata("/proc/self/ns/pid").map_or(0, |found| found.ino());
        Self {
            folder,
            symbols,
            then,
            namespace,
            images: HashMap::new(),
            ended: 0,
            dropped: 0,
            found: [0; 2],
            told: HashSet::new(),
        }
    }

    /// Reads what is new, and reports it.
    fn look(&mut self) {
        let files = fs::read_dir(self.folder).into_iter().flatten().flatten();
        for path in files.map(|file| file.path()) {
            if path.extension().is_some_and(|end| end == "order")
                && !self.images.contains_key(&path)
                && let Some(notes) = Notes::open(&path)
            {
                let (mappings, orders, waits, told) = Default::default();
                let mut image = Image { notes, mappings, orders, waits, told };
                image.mappings = image.running_mappings(self.namespace);
                self.images.insert(path, image);
            }
        }
        let mut images = std::mem::take(&mut self.images);
        images.retain(|_, image| {
            let runs = image.runs(self.namespace);
            self.look_at(image, runs);
            if runs == Some(false) {
                self.ended += 1;
                self.dropped += image.notes.dropped();
                // What cannot be removed now goes with the folder.
                _ = fs::remove_file(&image.notes.path);
                _ = fs::remove_file(image.notes.mappings());
            }
            runs != Some(false)
        });
        self.images = images;
    }

    fn look_at(&mut self, image: &mut Image, runs: Option<bool>) {
        let mut reports = Vec::new();
        let mut orders = image.notes.orders();
        if runs == Some(false) {
            // Those after one that was not whole.
            orders.extend(image.notes.orders());
        }
        for seen in orders {
            reports.extend(image.orders.learn(seen.thread(), &seen.held, seen.wanted));
        }
        let threads = if runs == Some(false) { Vec::new() } else { image.notes.threads() };
        let waits = threads.iter().filter(|seen| seen.wait != 0);
        let waits: HashSet<(u32, u32)> = waits.map(|seen| (seen.tid, seen.wait)).collect();
        let lasts = |seen: &Seen| image.waits.contains(&(seen.tid, seen.wait));
        let pid = image.notes.pid;
        let found = deadlocks(threads.iter().map(|seen| {
            let waiting = || {
                let (lock, want, stack) = seen.wanted;
                let thread = if runs.is_some() { seen.named(pid) } else { seen.thread() };
                Waiting { thread, lock, want, stack }
            };
            (&seen.held[..], lasts(seen).then(waiting))
        }));
        let wait_of = |edge: &Edge| waits.iter().find(|wait| wait.0 == edge.thread.tid).copied();
        reports.extend(found.into_iter().filter(|report| {
            let members = report.edges.iter().filter_map(wait_of);
            members.filter(|wait| image.told.insert(*wait)).count() != 0
        }));
        image.waits = waits;
        if reports.is_empty() {
            return;
        }
        let mut text = Text::new(image, self.symbols);
        for report in &reports {
            let is_deadlock = report.has_come_about();
            let mut stacks: Vec<String> =
                report.edges.iter().map(|edge| text.stacks(edge)).collect();
            // The same circle may be closed by any of its orders.
            stacks.sort_unstable();
            if !is_deadlock && !self.told.insert(stacks) {
                continue;
            }
            self.found[usize::from(is_deadlock)] += 1;
            output::say(text.of(report).trim_end());
            if is_deadlock && self.then == Deadlocks::Abort && runs == Some(true) {
                // One that has ended in between needs no signal.
                _ = kill(Pid::from_raw(pid.cast_signed()), Signal::SIGABRT);
            }
        }
    }

    fn summary(&self) -> String {
        let [orders, deadlocks] = self.found;
        let seen = self.ended + self.images.len();
        let mut text = match seen {
            0 => format!(
                "ondeck: nothing was checked: the program used no pthread lock while it had two threads. Locks of Rust's \
                 std, of Go and of ondeck are no pthread locks. If it did use one, it could not write to {}",
                self.folder.display()
            ),
            1 => "ondeck: 1 process checked".to_owned(),
            _ => format!("ondeck: {seen} processes checked"),
        };
        if seen != 0 {
            let of = |count: usize, one: &str| match count {
                0 => format!("no {one}"),
                1 => format!("1 {one}"),
                several => format!("{several} {one}s"),
            };
            _ = write!(
                text,
                ": {}, {} of pthread's mutexes and reader-writer locks; no other locks were seen",
                of(orders, "lock-order inversion"),
                of(deadlocks, "deadlock")
            );
        }
        let dropped = self.images.values().fold(self.dropped, |sum, it| sum + it.notes.dropped());
        if dropped != 0 {
            _ = write!(text, "\nondeck: incomplete: {dropped} notes had no room");
        }
        if let Some(left) = recording::say_left(&recording::left_behind(self.folder)) {
            _ = write!(text, "\nondeck: not checked: {left}");
        }
        text
    }
}

impl Notes {
    /// The file with the mappings that the process has noted.
    fn mappings(&self) -> PathBuf {
        self.path.with_extension("order.maps")
    }
}

impl Image {
    /// Whether the process still runs this image; `None` if its number is of another namespace.
    fn runs(&self, namespace: u64) -> Option<bool> {
        (namespace == self.notes.namespace).then(|| {
            let maps = fs::read(format!("/proc/{}/maps", self.notes.pid)).unwrap_or_default();
            let name = self.notes.path.file_name().unwrap_or_default().as_encoded_bytes();
            memchr::memmem::find(&maps, name).is_some()
        })
    }
}

impl Image {
    /// Its mappings now, with build-ids; empty if the process does not run.
    fn running_mappings(&self, namespace: u64) -> String {
        let pid = self.notes.pid;
        if self.runs(namespace) == Some(true) { mappings(pid) } else { String::new() }
    }
}

impl Seen {
    /// The thread, with the name that it has now.
    fn named(&self, pid: u32) -> ondeck_deadlock::Thread {
        let mut name = [0; 16];
        let read = fs::read(format!("/proc/{pid}/task/{}/comm", self.tid)).unwrap_or_default();
        for (place, byte) in name.iter_mut().zip(read.trim_ascii_end()) {
            *place = *byte;
        }
        ondeck_deadlock::Thread::of(self.tid, name)
    }
}

/// Puts reports on a process into words.
struct Text {
    pid: u32,
    addresses: Addresses,
    locks: HashMap<usize, u64>,
}

impl Text {
    fn new(image: &Image, symbols: &[PathBuf]) -> Self {
        let pid = image.notes.pid;
        let mut mappings = fs::read_to_string(image.notes.mappings()).unwrap_or_default();
        mappings += &image.mappings;
        mappings += &image.running_mappings(image.notes.namespace);
        let addresses = Addresses::new(pid, &mappings, symbols.to_vec());
        Self { pid, addresses, locks: image.notes.addresses.clone() }
    }

    fn of(&mut self, report: &Report) -> String {
        let mut text = format!("ondeck: process {}: {}\n", self.pid, report.headline());
        for edge in &report.edges {
            _ = writeln!(text, "  thread {} \"{}\"", edge.thread.tid, edge.thread.name());
            if let Some(holds) = &edge.holds {
                let how = if holds.held == ondeck_deadlock::Held::Read { " to read" } else { "" };
                _ = writeln!(text, "    has {}, locked{how} at", self.lock(holds.lock));
                text += &self.stack(&holds.stack);
            }
            let aim = if edge.want.held() == ondeck_deadlock::Held::Read { "read" } else { "lock" };
            _ = writeln!(text, "    wants to {aim} {} at", self.lock(edge.wants));
            text += &self.stack(&edge.stack);
        }
        text
    }

    fn lock(&mut self, lock: Lock) -> String {
        let address = self.locks.get(&lock.address).copied().unwrap_or_default();
        let place = self.addresses.place(address);
        let kind = if lock.kind == LockKind::RwLock { "rwlock" } else { "mutex" };
        let name = place.symbol().map_or_else(|| format!("{address:#x}"), |name| short(&name));
        let origin = place.origin().map_or(String::new(), |origin| format!(", {origin}"));
        format!("{kind} {name}{origin}")
    }

    fn stack(&mut self, stack: &Stack) -> String {
        let returns: Vec<u64> = stack.addresses().iter().map(|address| *address as u64).collect();
        let mut text = String::new();
        for caller in self.addresses.callers(&returns).iter().take(CALLERS) {
            _ = writeln!(text, "        {}", caller.short());
        }
        if text.is_empty() {
            text.push_str("        an unknown place\n");
        }
        text
    }

    /// The stacks of an edge, without its locks.
    fn stacks(&mut self, edge: &Edge) -> String {
        let held = edge.holds.map(|holds| self.stack(&holds.stack)).unwrap_or_default();
        held + &self.stack(&edge.stack)
    }
}
