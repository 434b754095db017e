//! What threads did with locks, operation by operation, if that was recorded.

use std::collections::HashMap;
use std::time::Duration;

use ondeck_record::layout::{Action, BURSTS, OPERATIONS, TRACKS};

use crate::file::{Recording, get};
use crate::model::{Frame, Module, Place};
use crate::reader::{Clock, Names};
use crate::trim::trim;

/// The operations of a process.
#[derive(Debug, Default)]
pub struct Tracks {
    /// Threads that did anything with a lock.
    pub threads: Vec<Thread>,
    /// Threads that found no place in the file.
    pub dropped: u64,
    /// Locks by their addresses: the first and most frequent caller's function stands for a lock that has no name.
    pub objects: HashMap<u64, Place>,
    /// Functions that lock, with their lines.
    pub sites: Vec<Frame>,
}

/// A thread.
#[derive(Debug)]
pub struct Thread {
    /// Locks that it has acquired.
    pub acquisitions: u64,
    /// What was recorded, in the order of time.
    pub bursts: Vec<Burst>,
}

/// Consecutive operations.
#[derive(Debug)]
pub struct Burst {
    /// Acquisitions of the thread before it.
    pub first: u64,
    /// When it began, since the beginning of the recording.
    pub begun: Duration,
    /// The operations.
    pub operations: Vec<Operation>,
}

/// One operation.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// What it was.
    pub action: Action,
    /// Work before it, in nanoseconds.
    pub before: f64,
    /// How long it took, in nanoseconds.
    pub took: f64,
    /// The address of the lock or the condition variable.
    pub object: u64,
    /// Where it was called, in [`Tracks::sites`].
    pub site: Option<usize>,
}

/// Reads them.
pub(crate) fn read(
    recording: &Recording,
    clock: &Clock,
    names: &mut Names<'_>,
    modules: &[Module],
) -> Tracks {
    let file = recording.file();
    let used = get(&file.header.tracks_used);
    let mut tracks = Tracks { dropped: used.saturating_sub(TRACKS as u64), ..Tracks::default() };
    let mut sites = HashMap::new();
    for track in &file.tracks[..(used as usize).min(TRACKS)] {
        let overhead = get(&track.overhead);
        let mut bursts = Vec::new();
        for burst in &track.bursts[..BURSTS] {
            let count = (get(&burst.used) as usize).min(OPERATIONS);
            let operations: Vec<Operation> = burst.operations[..count]
                .iter()
                .filter_map(|operation| {
                    use std::sync::atomic::Ordering::Relaxed;
                    let action = Action::of(operation.action.load(Relaxed))?;
                    let site = operation.site.load(Relaxed).checked_sub(1).and_then(|stack| {
                        *sites.entry(stack).or_insert_with(|| {
                            let stack = trim(names.stack(&recording.stack(stack)), modules);
                            let frame = stack.first()?.frames.first()?.clone();
                            let known = tracks.sites.iter().position(|site| *site == frame);
                            Some(known.unwrap_or_else(|| {
                                tracks.sites.push(frame);
                                tracks.sites.len() - 1
                            }))
                        })
                    });
                    let object = get(&operation.object);
                    tracks.objects.entry(object).or_insert_with(|| names.place(object));
                    Some(Operation {
                        action,
                        before: clock.nanos(get(&operation.before).saturating_sub(overhead)),
                        took: clock.nanos(get(&operation.took)),
                        object,
                        site,
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
            tracks.threads.push(Thread { acquisitions: get(&track.acquisitions), bursts });
        }
    }
    tracks
}
