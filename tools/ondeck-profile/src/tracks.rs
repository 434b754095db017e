//! The lock operations of threads, one by one, if they were recorded.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use ondeck_record::layout::{Action, OPERATIONS, TRACKS};

use crate::Error;
use crate::clock::Clock;
use crate::file::{Recording, get};
use crate::mappings::Mappings;
use crate::model::{Frame, Place};
use crate::names::Names;
use crate::reader::Reader;
use crate::trim::trim;

/// The operations of a process.
#[derive(Debug, Default)]
pub struct Tracks {
    /// The program's file.
    pub program: PathBuf,
    /// The length of the recording.
    pub length: Duration,
    /// Threads with lock operations.
    pub threads: Vec<Thread>,
    /// The number of threads for which the file had no place.
    pub dropped: u64,
    /// The places of locks and condition variables, by their addresses.
    pub objects: HashMap<u64, Place>,
    /// Functions that lock, with their lines.
    pub sites: Vec<Frame>,
}

/// A thread.
#[derive(Debug)]
pub struct Thread {
    /// Locks that it has acquired.
    pub acquisitions: u64,
    /// Its bursts, in the order of time.
    pub bursts: Vec<Burst>,
    /// All its long sections.
    pub long: Vec<Long>,
}

/// The long sections of a lock that a call site began.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    /// The address of the lock.
    pub object: u64,
    /// The call site, in [`Tracks::sites`].
    pub site: Option<usize>,
    /// What began them.
    pub action: Action,
    /// Their number.
    pub count: u64,
    /// Their work, in nanoseconds.
    pub worked: f64,
    /// The time in which the thread was blocked, in nanoseconds.
    pub blocked: f64,
}

/// Consecutive operations.
#[derive(Debug)]
pub struct Burst {
    /// Acquisitions of the thread before it.
    pub first: u64,
    /// When it began, relative to the beginning of the recording.
    pub begun: Duration,
    /// The operations.
    pub operations: Vec<Operation>,
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// The kind of operation.
    pub action: Action,
    /// Work before it, in nanoseconds.
    pub before: f64,
    /// Its duration, in nanoseconds.
    pub took: f64,
    /// The address of the lock or the condition variable.
    pub object: u64,
    /// Its call site, in [`Tracks::sites`].
    pub site: Option<usize>,
}

/// Reads the operations of all processes of a folder.
///
/// # Errors
///
/// As [`read`](crate::read), except that files that cannot be read are left out.
pub fn read(folder: &Path) -> Result<Vec<Tracks>, Error> {
    let mut reader = Reader::new(folder);
    let recordings = reader.paths()?.into_iter().filter_map(|path| Recording::open(&path).ok());
    Ok(recordings.map(|recording| of(&mut reader, &recording)).collect())
}

fn of(reader: &mut Reader, recording: &Recording) -> Tracks {
    let file = recording.file();
    let used = get(&file.header.tracks_used);
    let mappings = Mappings::parse(&recording.maps());
    let program = PathBuf::from(Recording::text(&file.header.program));
    let pid = file.header.pid.load(Ordering::Relaxed);
    let modules = reader.symbols.modules(&mappings, &program, pid);
    let mut names = Names::new(&mut reader.symbols, &modules, &mappings, pid);
    let clock = Clock::of(file);
    let mut tracks = Tracks {
        program,
        length: Duration::from_nanos(clock.nanos(clock.last) as u64),
        dropped: used.saturating_sub(TRACKS as u64),
        ..Tracks::default()
    };
    let mut sites = HashMap::new();
    let (mut known_sites, mut objects) = (Vec::new(), HashSet::new());
    let mut site_of = |stack: u32| {
        *sites.entry(stack.checked_sub(1)?).or_insert_with_key(|&stack| {
            let stack = trim(names.stack(&recording.stack(stack)), &modules);
            let frame = stack.first()?.frames.first()?.clone();
            let known = known_sites.iter().position(|site| *site == frame);
            Some(known.unwrap_or_else(|| {
                known_sites.push(frame);
                known_sites.len() - 1
            }))
        })
    };
    for track in &recording.tracks()[..(used as usize).min(TRACKS)] {
        let overhead = get(&track.overhead);
        let mut bursts = Vec::new();
        for burst in &track.bursts {
            let count = (get(&burst.used) as usize).min(OPERATIONS);
            let operations: Vec<Operation> = burst.operations[..count]
                .iter()
                .filter_map(|operation| {
                    let action = Action::of(operation.action.load(Ordering::Relaxed))?;
                    let object = get(&operation.object);
                    objects.insert(object);
                    Some(Operation {
                        action,
                        before: clock.nanos(get(&operation.before).saturating_sub(overhead)),
                        took: clock.nanos(get(&operation.took)),
                        object,
                        site: site_of(operation.site.load(Ordering::Relaxed)),
                    })
                })
                .collect();
            if !operations.is_empty() {
                bursts.push(Burst {
                    first: get(&burst.first),
                    begun: clock.since_start(get(&burst.begun)),
                    operations,
                });
            }
        }
        bursts.sort_by_key(|burst| burst.first);
        if !bursts.is_empty() {
            let long = track.long.iter().filter_map(|long| {
                let action = Action::of(get(&long.action) as u32)?;
                objects.insert(get(&long.object));
                Some(Long {
                    object: get(&long.object),
                    action,
                    site: site_of(get(&long.site) as u32),
                    count: get(&long.count),
                    worked: clock.nanos(get(&long.worked)),
                    blocked: clock.nanos(get(&long.blocked)),
                })
            });
            let (acquisitions, long) = (get(&track.acquisitions), long.collect());
            tracks.threads.push(Thread { acquisitions, bursts, long });
        }
    }
    tracks.sites = known_sites;
    tracks.objects = objects.into_iter().map(|object| (object, names.place(object))).collect();
    tracks
}
