//! Builds a profile from recordings.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, UNIX_EPOCH};

use ondeck_record::layout::{BUCKETS, EXTENSION, Lock as Entry, Role};

use crate::Error;
use crate::clock::Clock;
use crate::file::{Recording, get};
use crate::kinds::{self, Nature};
use crate::mappings::Mappings;
use crate::model::{Cost, Dropped, Frame, Kind, Location, Lock, Place, Process, Profile, Sample};
use crate::names::Names;
use crate::symbols::Symbols;
use crate::trim::trim;

/// Reads all recordings of a folder.
///
/// Symbols are read from the files of the programs, so this takes a second for large ones.
///
/// # Errors
///
/// [`Error::Io`] if the folder cannot be listed, [`Error::Empty`] if it has no recording, and the
/// first file's error if no file can be read. If only some of the files cannot be read, they are in
/// [`Profile::refused`].
pub fn read(folder: &Path) -> Result<Profile, Error> {
    Reader::new(folder).read()
}

/// Reads a folder repeatedly, and its programs' symbols once: for tables that are updated.
pub struct Reader {
    folder: PathBuf,
    pub(crate) symbols: Symbols,
}

impl Reader {
    /// Creates a reader of a folder, which need not have recordings yet.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), symbols: Symbols::default() }
    }

    /// Also searches these folders for files and debugging files, by build-id.
    #[must_use]
    pub fn with_symbols(self, folders: Vec<PathBuf>) -> Self {
        Self { symbols: Symbols::with(folders), ..self }
    }

    /// Reads the current recordings.
    ///
    /// # Errors
    ///
    /// As [`read`].
    pub fn read(&mut self) -> Result<Profile, Error> {
        let paths = self.paths()?;
        let mut profile = Profile::default();
        for path in &paths {
            match Recording::open(path) {
                Ok(recording) => profile.processes.push(self.process(&recording)),
                Err(error) => profile.refused.push(error),
            }
        }
        if profile.processes.is_empty() && !profile.refused.is_empty() {
            return Err(profile.refused.swap_remove(0));
        }
        profile.processes.sort_by_key(|process| process.started);
        Ok(profile)
    }

    /// Returns the recordings in the folder; at least one.
    pub(crate) fn paths(&self) -> Result<Vec<PathBuf>, Error> {
        let io = |source| Error::Io { path: self.folder.clone(), source };
        let mut paths: Vec<PathBuf> = std::fs::read_dir(&self.folder)
            .map_err(io)?
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == EXTENSION))
            .collect();
        paths.sort();
        if paths.is_empty() {
            return Err(Error::Empty { folder: self.folder.clone() });
        }
        Ok(paths)
    }

    fn process(&mut self, recording: &Recording) -> Process {
        let file = recording.file();
        let header = &file.header;
        let mappings = Mappings::parse(&recording.maps());
        let program = PathBuf::from(Recording::text(&header.program));
        let pid = header.pid.load(Relaxed);
        let modules = self.symbols.modules(&mappings, &program, pid);
        let clock = Clock::of(file);
        let mut names = Names::new(&mut self.symbols, &modules, &mappings, pid);
        let mut stacks = Stacks::default();
        let groups = names.groups(recording, &mut stacks);
        let mut locks: Vec<Lock> =
            groups.iter().map(|group| names.lock(recording, group, &clock)).collect();
        let group_of: HashMap<usize, usize> = groups
            .iter()
            .enumerate()
            .flat_map(|(at, group)| group.entries.iter().map(move |(number, _)| (*number, at)))
            .collect();
        for (number, role, stack, [count, ticks, longest]) in recording.samples() {
            let Some(lock) = group_of.get(&number).and_then(|at| locks.get_mut(*at)) else {
                continue;
            };
            let (nanos, longest) = (clock.nanos(ticks), clock.nanos(longest));
            if lock.kind == Kind::Go
                && role == Role::Holder
                && !kinds::unlocks_in_go(&names.stack(&recording.stack(stack)))
            {
                // A thread that has left a goroutine is also woken for another one.
                lock.kept_waiting -= nanos;
                continue;
            }
            let stack = Arc::clone(stacks.trimmed(&mut names, recording, stack));
            let samples = match role {
                Role::Holder => &mut lock.holders,
                Role::Waiter => &mut lock.waiters,
            };
            samples.push(Sample { stack: stack.to_vec(), count, nanos, longest });
        }
        let (events, passed) = counts(recording);
        let is_notice = |at: usize| groups[at].is_notice;
        let mut sorted: [Vec<Lock>; 2] = [Vec::new(), Vec::new()];
        for (at, mut lock) in locks.into_iter().enumerate() {
            for samples in [&mut lock.holders, &mut lock.waiters] {
                *samples = joined(std::mem::take(samples));
            }
            if lock.kind.is_observed() {
                lock.site = lock.waiters.first().and_then(|sample| sample.frames().next()).cloned();
            }
            sorted[usize::from(is_notice(at))].push(lock);
        }
        for locks in &mut sorted {
            locks.sort_by(|a, b| {
                b.wait.nanos.total_cmp(&a.wait.nanos).then(a.address.cmp(&b.address))
            });
        }
        let [locks, notices] = sorted;
        let stacks = get(&header.stacks_taken);
        let number =
            |field: &std::sync::atomic::AtomicU32| field.load(std::sync::atomic::Ordering::Relaxed);
        Process {
            pid,
            parent: number(&header.parent),
            program,
            arguments: Recording::texts(&header.arguments),
            started: UNIX_EPOCH + Duration::from_nanos(get(&header.start_realtime)),
            length: Duration::from_nanos(clock.nanos(clock.last) as u64),
            ended: number(&header.ended) != 0,
            threads: number(&header.threads),
            locks,
            notices,
            dropped: Dropped {
                locks: get(&header.dropped_locks),
                stacks: get(&header.dropped_stacks),
                samples: get(&header.dropped_samples),
                mappings: get(&header.dropped_maps),
                was_disk_full: get(&header.refused_pages) != 0,
            },
            cost: Cost {
                events,
                event_nanos: clock.nanos(event_ticks(recording)) / events.max(1) as f64,
                looks: passed,
                look_nanos: clock.nanos(get(&header.look_sixteenths)) / 16.0,
                stacks,
                stack_nanos: clock.nanos(get(&header.stack_ticks)) / stacks.max(1) as f64,
            },
            modules,
        }
    }
}

/// Returns the numbers of records and of waits that were not recorded.
fn counts(recording: &Recording) -> (u64, u64) {
    recording.locks().fold((0, 0), |(events, looks), (_, lock)| {
        let recorded = get(&lock.events);
        let waits = get(&lock.waits).saturating_sub(recorded.saturating_sub(get(&lock.holds)));
        (events.saturating_add(recorded), looks.saturating_add(waits))
    })
}

/// Returns the ticks that all records took, without their stacks.
fn event_ticks(recording: &Recording) -> u64 {
    recording.locks().fold(0, |sum, (_, lock)| sum.saturating_add(get(&lock.event_ticks)))
}

impl Names<'_> {
    /// Returns the locks whose entries belong together.
    fn groups<'r>(&mut self, recording: &'r Recording, stacks: &mut Stacks) -> Vec<Group<'r>> {
        let mut groups: Vec<Group<'r>> = Vec::new();
        let mut known: HashMap<Key, usize> = HashMap::new();
        let mut of_address: HashMap<u64, usize> = HashMap::new();
        // A place that is not known, because a stack was not recorded, is that of other waits at
        // the word.
        let (placed, unplaced): (Vec<_>, Vec<_>) = recording.locks().partition(|(_, entry)| {
            Kind::of(entry.kind.load(Relaxed)) != Kind::Futex || entry.created.load(Relaxed) != 0
        });
        for (number, entry) in placed.into_iter().chain(unplaced) {
            let kind = Kind::of(entry.kind.load(Relaxed));
            let address = get(&entry.address);
            let mut nature = Nature { kind, is_notice: kind.is_notice(), is_of_thread: false };
            let mut key = Key::Entry(number);
            if matches!(kind, Kind::Futex | Kind::Yield) {
                let stack = entry.created.load(Relaxed).checked_sub(1).unwrap_or(u32::MAX);
                let whole = self.stack(&recording.stack(stack));
                let user = stacks.trimmed(self, recording, stack);
                nature = kinds::nature(kind, &whole, user);
                key = match user.first().and_then(|location| location.frames.first()) {
                    Some(site) if nature.is_of_thread => {
                        Key::Place(nature.kind, nature.is_notice, site.clone())
                    }
                    _ => Key::Word(nature.kind, nature.is_notice, address),
                };
            }
            let is_unplaced = kind == Kind::Futex && entry.created.load(Relaxed) == 0;
            if let Some(at) = of_address.get(&address).filter(|_| is_unplaced) {
                groups[*at].entries.push((number, entry));
                continue;
            }
            let at = *known.entry(key).or_insert_with(|| {
                groups.push(Group {
                    kind: nature.kind,
                    is_notice: nature.is_notice,
                    is_of_thread: nature.is_of_thread,
                    entries: Vec::new(),
                });
                groups.len() - 1
            });
            groups[at].entries.push((number, entry));
            of_address.entry(address).or_insert(at);
        }
        groups
    }

    fn lock(&mut self, recording: &Recording, group: &Group<'_>, clock: &Clock) -> Lock {
        let entries = || group.entries.iter().map(|(_, entry)| *entry);
        let sum = |field: fn(&Entry) -> &AtomicU64| -> u64 {
            entries().fold(0, |sum, entry| sum.saturating_add(get(field(entry))))
        };
        let most = |field: fn(&Entry) -> &AtomicU64| -> u64 {
            entries().map(|entry| get(field(entry))).max().unwrap_or(0)
        };
        let histogram = |field: fn(&Entry) -> &[AtomicU64; BUCKETS]| -> Vec<u64> {
            let mut all = vec![0_u64; BUCKETS];
            for entry in entries() {
                for (sum, count) in all.iter_mut().zip(field(entry)) {
                    *sum = sum.saturating_add(get(count));
                }
            }
            all
        };
        let mut words = vec![0; 4];
        for entry in entries() {
            for (all, word) in words.iter_mut().zip(&entry.threads) {
                *all |= get(word);
            }
        }
        let first = group.entries[0].1;
        let created = first
            .created
            .load(Relaxed)
            .checked_sub(1)
            .filter(|_| !group.kind.is_observed())
            .map(|stack| trim(self.stack(&recording.stack(stack)), self.modules))
            .unwrap_or_default();
        let (charged, rest) = (sum(|one| &one.charged), sum(|one| &one.rest));
        let address = get(&first.address);
        Lock {
            address,
            kind: group.kind,
            given_name: Recording::text(&first.name),
            place: if group.is_of_thread { Place::Waiters } else { self.place(address) },
            created,
            site: None,
            acquisitions: acquisitions(first),
            reused: first.reused.load(Relaxed),
            wait: clock.times(
                sum(|one| &one.waits),
                sum(|one| &one.wait_ticks),
                most(|one| &one.wait_longest),
                &histogram(|one| &one.wait_times),
            ),
            timeouts: sum(|one| &one.timeouts),
            hold: clock.times(
                sum(|one| &one.holds),
                sum(|one| &one.hold_ticks),
                most(|one| &one.hold_longest),
                &histogram(|one| &one.hold_times),
            ),
            kept_waiting: clock.nanos(charged.saturating_sub(rest)),
            free: clock.nanos(rest),
            threads: threads(&words, recording.file().header.threads.load(Relaxed)),
            waiting: sum(|one| &one.waiting),
            holders: Vec::new(),
            waiters: Vec::new(),
        }
    }
}

/// The entries of a lock.
struct Group<'r> {
    kind: Kind,
    is_notice: bool,
    is_of_thread: bool,
    /// With their numbers; at least one.
    entries: Vec<(usize, &'r Entry)>,
}

/// What the entries of a lock have in common.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Entry(usize),
    /// A futex that belongs to the lock.
    Word(Kind, bool, u64),
    /// Futexes of threads that wait in the same place.
    Place(Kind, bool, Frame),
}

/// The stacks of a recording without the functions of locks, each made once.
#[derive(Default)]
struct Stacks {
    known: HashMap<u32, Arc<[Arc<Location>]>>,
}

impl Stacks {
    fn trimmed(
        &mut self,
        names: &mut Names<'_>,
        recording: &Recording,
        number: u32,
    ) -> &Arc<[Arc<Location>]> {
        self.known
            .entry(number)
            .or_insert_with(|| trim(names.stack(&recording.stack(number)), names.modules).into())
    }
}

/// Returns samples with one for each stack, worst first.
fn joined(samples: Vec<Sample>) -> Vec<Sample> {
    let mut places: HashMap<Vec<u64>, usize> = HashMap::new();
    let mut all: Vec<Sample> = Vec::new();
    for sample in samples {
        let key = sample.stack.iter().map(|location| location.address).collect();
        let at = *places.entry(key).or_insert(all.len());
        match all.get_mut(at) {
            Some(known) => {
                known.count += sample.count;
                known.nanos += sample.nanos;
                known.longest = known.longest.max(sample.longest);
            }
            None => all.push(sample),
        }
    }
    all.sort_by(|a, b| b.nanos.total_cmp(&a.nanos));
    all
}

/// Returns the count of a lock that counts its acquisitions. Returns none if more threads have
/// waited for it: another lock was then created at its address, without an initialization that the
/// recorder could see, and its count began at 0.
fn acquisitions(entry: &Entry) -> Option<u64> {
    let counted = get(&entry.acquisitions).wrapping_sub(get(&entry.acquisitions_before));
    // Large numbers of waits are estimates, with an error of some percent.
    let least = get(&entry.waits).saturating_sub(get(&entry.timeouts)) / 2;
    (counted != 0 && counted.cast_signed() > 0 && counted >= least).then_some(counted)
}

/// Estimates the number of threads in a set of bits, in which each of `all` threads sets the bit of
/// its number modulo the size of the set: linear counting (Whang, Vander-Zanden, Taylor 1990).
fn threads(words: &[u64], all: u32) -> u32 {
    let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
    let size = 64 * words.len() as u32;
    if all <= size {
        return ones;
    }
    if ones == size {
        return all;
    }
    let estimate = -f64::from(size) * (1.0 - f64::from(ones) / f64::from(size)).ln();
    (estimate.round() as u32).clamp(ones, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_counted_exactly_while_they_are_few() {
        assert_eq!(threads(&[0b1011, 0, 0, 1], 200), 4);
        assert_eq!(threads(&[u64::MAX; 4], 4_000), 4_000);
        assert_eq!(threads(&[u64::MAX, u64::MAX, 0, 0], 4_000), 177);
    }
}
