//! Which processes of a program have the library that records, and why others do not have it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use memchr::memmem;
use ondeck_profile::{Profile, Scope, unseen_of_languages};
use ondeck_record::layout::EXTENSION;

use super::library::Library;
use super::{Way, fitness, recording};

/// A program of a process that was seen.
#[derive(Default)]
struct Program {
    looks: u32,
    is_loaded: bool,
    /// Whether a recording is mapped: its own, or that of the process that it was forked from,
    /// until it records itself.
    has_recording: bool,
    /// Whether the process has the runtime of ThreadSanitizer, whose functions stand in front of
    /// the library's.
    has_sanitizer: bool,
}

/// The processes that were seen, by their number and the file of their program.
pub(super) struct Watched {
    library: &'static str,
    seen: HashMap<(u32, PathBuf), Program>,
    /// Their root folders, except this command's.
    roots: BTreeSet<PathBuf>,
}

impl Watched {
    pub(super) fn new(library: Library) -> Self {
        Self { library: library.name(), seen: HashMap::new(), roots: BTreeSet::new() }
    }

    /// Returns the folders in which the files of programs may be that have called chroot(2).
    pub(super) fn roots(&self) -> impl Iterator<Item = PathBuf> {
        self.roots.iter().cloned()
    }

    /// Looks whether a process has the library, until it has.
    pub(super) fn look_at(&mut self, pid: u32, process: &Path) {
        let Ok(file) = fs::read_link(process.join("exe")) else { return };
        let root = fs::read_link(process.join("root")).ok();
        self.roots.extend(root.filter(|root| root != Path::new("/")));
        let program = self.seen.entry((pid, file)).or_default();
        program.looks += 1;
        if !program.has_recording
            && let Ok(maps) = fs::read(process.join("maps"))
        {
            program.is_loaded = memmem::find(&maps, self.library.as_bytes()).is_some();
            program.has_recording = memmem::find(&maps, EXTENSION.as_bytes()).is_some();
            program.has_sanitizer = memmem::find(&maps, b"libtsan.so").is_some();
        }
    }

    /// Returns the programs that ran without the library, and the processes that have it and no
    /// recording.
    fn without(&self, profile: &Profile) -> (BTreeMap<&Path, usize>, BTreeSet<u32>) {
        /// A process that was seen more often is not just being loaded.
        const LOADED: u32 = 2;
        // By the file's name, because a process in another root folder has another path of it.
        let recorded: BTreeSet<(u32, Option<&OsStr>)> = profile
            .processes
            .iter()
            .map(|process| (process.pid, process.program.file_name()))
            .collect();
        let mut programs: BTreeMap<&Path, usize> = BTreeMap::new();
        let mut unrecorded = BTreeSet::new();
        for ((pid, file), program) in &self.seen {
            if recorded.contains(&(*pid, file.file_name()))
                || program.has_recording
                || program.looks < LOADED
            {
                continue;
            }
            if program.is_loaded {
                unrecorded.insert(*pid);
            } else {
                *programs.entry(file).or_default() += 1;
            }
        }
        (programs, unrecorded)
    }

    /// Returns what was seen of a program, and what was not.
    pub(super) fn scope(&self, way: &Way, profile: &Profile, folder: &Path) -> Scope {
        let mut scope = Scope { seen: seen(way, profile), unseen: unseen_of_languages(profile) };
        match way {
            Way::Alone { why } => {
                scope.unseen.push(format!("the locks of the program: {why}"));
            }
            Way::Notify { is_go, unrecorded, .. } => {
                if *is_go {
                    scope.unseen.push(
                        "goroutines that wait while their thread runs others; Go's own mutex profile has them"
                            .to_owned(),
                    );
                }
                if *unrecorded != 0 {
                    scope.unseen.push(format!(
                        "{unrecorded} of the processes: the kernel shows none of their memory, or there is no room for \
                         the recording in the folder that TMPDIR names"
                    ));
                }
                return scope;
            }
            _ => {}
        }
        let (programs, unrecorded) = self.without(profile);
        for (file, number) in programs {
            if matches!(way, Way::Alone { .. }) {
                continue;
            }
            let why = way.library().and_then(|library| fitness::reason(library, file));
            let unknown = || {
                "the loader did not find the library there: in another root folder it has to be copied to the same \
                 path, and a program that cleans its environment drops LD_PRELOAD"
                    .to_owned()
            };
            let why = why.map_or_else(unknown, |reason| reason.to_string());
            let processes = if number == 1 { "a process" } else { "processes" };
            scope.unseen.push(format!("{processes} of {}: {why}", file.display()));
        }
        if !unrecorded.is_empty() {
            let pids: Vec<String> = unrecorded.iter().map(u32::to_string).collect();
            scope.unseen.push(format!(
                "process {}: it could make no file for its recording; see the room in the folder that TMPDIR names, \
                 the user and the root folder of the process, and its limit of a file's size",
                pids.join(", ")
            ));
        }
        scope.unseen.extend(recording::say_left(&recording::left_behind(folder)));
        let is_checked = self.seen.values().any(|program| program.has_sanitizer);
        if is_checked && !matches!(way, Way::Alone { .. }) {
            scope.unseen.push(
                "pthread locks of a program with ThreadSanitizer, which calls the C library by itself; build it \
                 without"
                    .to_owned(),
            );
        }
        if profile.processes.is_empty() && scope.unseen.is_empty() {
            scope.unseen.push(format!(
                "the program: it has not loaded {}; does it run in another root folder, or end before it begins?",
                self.library
            ));
        }
        if let Way::Exchange(_) = way {
            scope.unseen.push(
                "locks that call futex(2) themselves, as those of Rust's standard library and parking_lot, and those \
                 made of semaphores or condition variables; leave out --lock ondeck"
                    .to_owned(),
            );
        }
        scope
    }
}

fn seen(way: &Way, profile: &Profile) -> String {
    let number = profile.processes.len();
    let processes = format!("{number} process{}", if number == 1 { "" } else { "es" });
    match way {
        Way::Observe(_) if number == 0 => "no process was observed".to_owned(),
        Way::Observe(_) => format!(
            "{processes} observed as deployed: pthread's objects, and futexes of locks that sleep by the function \
             syscall; calls that are inlined, as in malloc and Go, were only sampled"
        ),
        Way::Exchange(_) => {
            format!(
                "{processes} recorded with ondeck's locks in the place of pthread's, not as deployed"
            )
        }
        Way::Notify { why, .. } => format!(
            "{processes} observed as deployed by the kernel's notifications of futex(2) (seccomp), because {why}; a \
             wait ends with the wake that reaches it, which is inferred"
        ),
        Way::Alone { .. } => {
            "nothing was recorded; only the sleeps of threads were sampled".to_owned()
        }
    }
}
