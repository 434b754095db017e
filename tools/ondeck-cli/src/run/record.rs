//! Writes the file of `--record` for `ondeck sim --replay`: the threads' operations on locks.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ondeck_lab::costs::hardware;
use ondeck_profile::tracks::{Burst, Long, Operation, Thread, Tracks};
use ondeck_profile::{Place, tracks};
use ondeck_record::layout::Action;
use ondeck_replay as replay;

use crate::ending::Error;
use crate::files::Prepared;

/// Why a recording is empty, and what to do.
const NOTHING: &str = "\
    the program has locked nothing that is recorded: pthread mutexes and reader-writer locks, and locks of ondeck with the \
    feature `profile`. A lock of Rust's standard library, of parking_lot or of Go that is free is taken by one instruction of \
    the program, which no recorder sees from outside. A program with parking_lot is recorded when it has been built \
    again with
    [dependencies]
    ondeck = { path = \"ondeck/locks/ondeck\", features = [\"profile\"] }
    [patch.crates-io]
    parking_lot = { path = \"ondeck/drop-in/parking_lot-0.12\" }
one with std::sync when it uses ondeck::poison in its place and the first of these; of others `ondeck run --profile` has the waits";

/// Checks the file, before anything runs.
pub(super) fn prepare(name: Option<&Path>) -> Result<Prepared<()>, Error> {
    Prepared::of([((), name)])
}

/// Writes the recording of the process that made most acquisitions; returns whether there was one,
/// and the file is complete.
pub(super) fn write(prepared: Prepared<()>, folder: &Path) -> bool {
    let acquisitions = |process: &&Tracks| -> u64 {
        process.threads.iter().map(|thread| thread.acquisitions).sum()
    };
    let written = prepared.write_by(|()| {
        let processes = tracks::read(folder).map_err(|error| error.to_string())?;
        let process = processes.iter().max_by_key(acquisitions);
        match process.filter(|process| acquisitions(process) != 0) {
            Some(process) => recording(process).to_json().map_err(|error| error.to_string()),
            None => Err(NOTHING.to_owned()),
        }
    });
    written.tell()
}

fn recording(tracks: &Tracks) -> replay::Recording {
    let program = tracks.program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut recording = replay::Recording::new(program, tracks.length.as_secs_f64());
    recording.dropped_threads = tracks.dropped;
    recording.transfer = hardware::transfer().ok();
    let site = |frame: &ondeck_profile::Frame| replay::Site {
        function: frame.function.clone(),
        at: frame
            .file
            .as_deref()
            .map(|file| place(file, frame.line.map(u64::from)))
            .unwrap_or_default(),
    };
    recording.sites = tracks.sites.iter().map(site).collect();
    let numbers = name_locks(tracks, &mut recording);
    let action = |action| match action {
        Action::Lock => replay::Action::Lock,
        Action::Read => replay::Action::Read,
        Action::Write => replay::Action::Write,
        Action::Unlock => replay::Action::Unlock,
        Action::Wait => replay::Action::Wait,
        Action::Notify => replay::Action::Notify,
        Action::Blocked => replay::Action::Blocked,
        Action::Yield => replay::Action::Yield,
    };
    let operation = |it: &Operation| replay::Operation {
        action: action(it.action),
        work: it.before,
        took: it.took,
        lock: numbers.get(&it.object).copied(),
        site: it.site,
    };
    let burst = |it: &Burst| replay::Burst {
        first: it.first,
        begun: it.begun.as_secs_f64(),
        operations: it.operations.iter().map(operation).collect(),
    };
    let long = |it: &Long| {
        Some(replay::Long {
            lock: *numbers.get(&it.object)?,
            action: action(it.action),
            site: it.site,
            count: it.count,
            work: it.worked,
            blocked: it.blocked,
        })
    };
    recording.threads = tracks
        .threads
        .iter()
        .map(|thread: &Thread| replay::Thread {
            acquisitions: thread.acquisitions,
            bursts: thread.bursts.iter().map(burst).collect(),
            long: thread.long.iter().filter_map(long).collect(),
        })
        .collect();
    recording
}

/// Numbers the locks by acquisitions, most first.
fn name_locks(tracks: &Tracks, recording: &mut replay::Recording) -> HashMap<u64, usize> {
    #[derive(Default)]
    struct Use {
        count: u64,
        sites: HashMap<usize, u64>,
    }
    let mut uses: HashMap<u64, Use> = HashMap::new();
    for long in tracks.threads.iter().flat_map(|thread| &thread.long) {
        let its = uses.entry(long.object).or_default();
        if let Some(site) = long.site {
            *its.sites.entry(site).or_default() += 1;
        }
    }
    let operations = tracks.threads.iter().flat_map(|thread| &thread.bursts);
    for operation in operations.flat_map(|burst| &burst.operations) {
        if matches!(operation.action, Action::Notify | Action::Blocked | Action::Yield) {
            continue;
        }
        let its = uses.entry(operation.object).or_default();
        its.count += 1;
        if let Some(site) = operation.site {
            *its.sites.entry(site).or_default() += 1;
        }
    }
    let mut order: Vec<(u64, Use)> = uses.into_iter().collect();
    order.sort_by_key(|(address, its)| (std::cmp::Reverse(its.count), *address));
    let mut numbers = HashMap::new();
    for (address, its) in order {
        let most =
            its.sites.iter().max_by_key(|(site, count)| (**count, std::cmp::Reverse(**site)));
        let lock = match tracks.objects.get(&address) {
            Some(found) if found.symbol().is_some() => {
                replay::Lock { name: found.symbol().unwrap_or_default(), at: declared(found) }
            }
            // Without a name: the place of most acquisitions.
            _ => match most.and_then(|(site, _)| recording.sites.get(*site)) {
                Some(site) => replay::Lock {
                    name: format!("{address:#x} of {}", site.function),
                    at: site.at.clone(),
                },
                None => replay::Lock { name: format!("{address:#x}"), at: String::new() },
            },
        };
        numbers.insert(address, recording.locks.len());
        recording.locks.push(lock);
    }
    numbers
}

fn declared(found: &Place) -> String {
    match found {
        Place::Static { file: Some(file), line, .. } => place(file, *line),
        _ => String::new(),
    }
}

/// The file without its folder, and the line.
fn place(file: &str, line: Option<u64>) -> String {
    let name = PathBuf::from(file);
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    line.map_or_else(|| name.to_string(), |line| format!("{name}:{line}"))
}
