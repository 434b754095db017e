//! Bursts: the lock operations of a thread, one by one, for a replay of the program elsewhere.
//!
//! A burst is [`OPERATIONS`] consecutive operations of a thread with the work before each, whether
//! threads wait or not. Between bursts acquisitions are only counted. Waiting belongs to the
//! operation and not to the work, so a burst describes the behaviour of the thread on any machine
//! with any lock.
//!
//! * The next burst begins after a random number of acquisitions. The number is 0 for a thread
//!   whose operations are far apart, and grows if they are close together, so that reading the
//!   clock takes a small part of the time.
//! * [`BURSTS`] bursts of a thread are kept, each of those it has begun with the same probability
//!   (Vitter, "Random Sampling with a Reservoir", 1985, algorithm R). Each burst has the thread's
//!   count of acquisitions, which shows the reader the part of the program that it represents.
//! * Work of more than 20 µs is compared with the thread's CPU time: if the thread has blocked
//!   during that time, the time in which it used no CPU becomes a separate operation,
//!   [`Action::Blocked`].
//! * Sections are timed also outside of bursts. Those of more than 20 µs are counted with their
//!   time, because one that is long once in thousands may be in no burst.
//! * A call site is identified by its return address and its frame; the stack is recorded when a
//!   thread first sees it.
//!
//! An operation costs two readings of the clock, some 20 ns; outside of a burst a section does.

use core::ptr;
use core::sync::atomic::{AtomicU64, Ordering};

pub use crate::layout::Action;
use crate::layout::{
    BURSTS, Burst, File, Long, OPERATIONS, Operation, SITES, TRACKS, Track, Tracked, place_of,
};
use crate::{clock, room, samples, slot, state, sys, thread};

/// Nanoseconds of work or of an operation after which the thread's CPU time is read, which takes
/// some percent of this.
const LONG: u64 = 20_000;
/// The average number of nanoseconds between two operations from which on a thread is recorded
/// without a pause: recording an operation takes 2 % of it.
const SPARSE: u64 = 1_000;
/// The longest pause between two bursts, in lengths of a burst.
const LONGEST_PAUSE: u64 = 64;
/// The number of empty operations in a trial that measures their overhead, and the number of
/// trials.
const EMPTY: usize = 32;
const TRIALS: usize = 4;

/// The place of a call. Zeros if it is unknown: the depth of the stack alone then identifies a call
/// site.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caller {
    /// The return address of the function that was called.
    pub address: usize,
    /// A stack address that is the same for each call by the same caller.
    pub frame: usize,
}

/// An operation in progress.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Begun {
    /// Ticks; 0 outside of bursts and of sections.
    at: u64,
}

/// Called when the thread is about to lock, unlock, wait or notify.
#[inline]
pub fn begin() -> Begun {
    let is_timed = track().is_some_and(|track| get(&track.current) != 0 || get(&track.held) != 0);
    Begun { at: if is_timed { clock::ticks() } else { 0 } }
}

impl Begun {
    /// Called when the thread has locked, unlocked or notified.
    #[inline]
    pub fn end(self, action: Action, object: usize, caller: Caller) {
        self.end_without(action, object, caller, 0);
    }

    /// Called when the thread has waited for the condition, and then that long for the mutex.
    pub fn end_of_wait(self, mutex: usize, nanos: u64) {
        self.end_without(Action::Wait, mutex, Caller::default(), clock::ticks_in(nanos));
    }

    fn end_without(self, action: Action, object: usize, caller: Caller, waited: u64) {
        let Some(track) = track() else { return };
        let acquires = matches!(action, Action::Lock | Action::Read | Action::Write);
        let site = if acquires { site(track, caller) } else { 0 };
        if acquires {
            add(&track.acquisitions, 1);
        }
        let is_in_burst = get(&track.current) != 0;
        let ends = get(&track.held) == object as u64 && !acquires && object != 0;
        if ends && !is_in_burst {
            outside(track, self.at);
        }
        if is_in_burst && self.at != 0 {
            let took = clock::ticks().saturating_sub(self.at).saturating_sub(waited);
            note(track, self.at, took, action, object, site);
        } else if acquires && !is_in_burst {
            match get(&track.skip) {
                0 => start(track),
                left => set(&track.skip, left - 1),
            }
        }
        if ends {
            end_section(track, self.at);
            if action == Action::Wait {
                let site = get(&track.held_site) as u32;
                begin_section(track, Action::Lock, object, site);
            }
        } else if get(&track.held) != 0 {
            add(&track.held_other, clock::ticks().saturating_sub(self.at));
        } else if acquires {
            begin_section(track, action, object, site);
        }
    }
}

/// The thread has acquired a lock, and has held none.
#[inline]
fn begin_section(track: &Track, action: Action, object: usize, site: u32) {
    let mut now = clock::ticks();
    if now.saturating_sub(get(&track.released)) > clock::ticks_in(LONG) && get(&track.current) == 0
    {
        // So that the time without a CPU is known of the section alone.
        look_at_cpu(track);
        now = clock::ticks();
    }
    set(&track.held_site, site.into());
    set(&track.held_action, action as u64);
    for of_section in [&track.held_other, &track.held_worked, &track.held_blocked] {
        set(of_section, 0);
    }
    set(&track.held_since, now);
    set(&track.held, object as u64);
}

/// The section ends at `at`, outside of bursts: finds out what it was spent on.
#[inline]
fn outside(track: &Track, at: u64) {
    let all = at.saturating_sub(get(&track.held_since)).saturating_sub(get(&track.held_other));
    if all > clock::ticks_in(LONG) {
        let preempted = get(&track.preempted);
        let (worked, rest) = split(track, at, all);
        // A thread that lost its CPU meanwhile may have been without it in the section.
        let blocked = if get(&track.preempted) == preempted { rest } else { 0 };
        set(&track.held_worked, worked);
        set(&track.held_blocked, blocked);
    }
}

/// The section has ended at `at`: counts it if it was long.
#[inline]
fn end_section(track: &Track, at: u64) {
    let (worked, blocked) = (get(&track.held_worked), get(&track.held_blocked));
    if worked + blocked > clock::ticks_in(LONG) {
        let (object, site) = (get(&track.held), get(&track.held_site));
        let is_its =
            |it: &&Long| get(&it.object) == 0 || get(&it.object) == object && get(&it.site) == site;
        if let Some(long) = track.long.iter().find(is_its) {
            set(&long.site, site);
            set(&long.action, get(&track.held_action));
            add(&long.count, 1);
            add(&long.worked, worked);
            add(&long.blocked, blocked);
            set(&long.object, object);
        }
    }
    set(&track.released, at);
    set(&track.held, 0);
}

/// Relaxed throughout: only one thread writes a track, and the reader reads it after the end.
#[inline]
fn get(field: &AtomicU64) -> u64 {
    field.load(Ordering::Relaxed)
}

#[inline]
fn set(field: &AtomicU64, value: u64) {
    field.store(value, Ordering::Relaxed);
}

#[inline]
fn add(field: &AtomicU64, value: u64) {
    set(field, get(field).wrapping_add(value));
}

/// Returns the calling thread's track in the current file; none if there is no room for it.
#[inline]
fn track() -> Option<&'static Track> {
    let file = state::file()?;
    let [known_file, known] = slot::track();
    if known_file.load(Ordering::Relaxed) != thread::address_of(file) {
        return new(file);
    }
    let track = ptr::with_exposed_provenance::<Track>(known.load(Ordering::Relaxed));
    // SAFETY: null, or points to a track of a file that is never unmapped.
    unsafe { track.as_ref() }
}

/// Finds the track if the thread is new, or is in the child of a fork, or if another recording has
/// begun.
#[cold]
#[inline(never)]
fn new(file: &'static File) -> Option<&'static Track> {
    let [known_file, known] = slot::track();
    known.store(0, Ordering::Relaxed);
    known_file.store(thread::address_of(file), Ordering::Relaxed);
    let number = file.header.tracks_used.fetch_add(1, Ordering::Relaxed) as usize;
    let track = tracks(file)?.get(number)?;
    room::reach(file, &track.acquisitions)?;
    set(
        &track.random,
        clock::ticks() ^ (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
    );
    known.store(ptr::from_ref(track).expose_provenance(), Ordering::Relaxed);
    measure(file, track);
    start(track);
    Some(track)
}

/// Returns the tracks after the file, which has them if bursts are wanted.
fn tracks(file: &'static File) -> Option<&'static [Track; TRACKS]> {
    let tracked = ptr::with_exposed_provenance::<Tracked>(thread::address_of(file));
    // SAFETY: whether bursts are wanted is known before the first file is created, so this file was
    // mapped with its tracks. No file is ever unmapped, and zeros are valid for atomics.
    state::wants_bursts().then(|| unsafe { &(*tracked).tracks })
}

/// Measures the overhead of consecutive empty operations. Their burst is discarded.
fn measure(file: &'static File, track: &'static Track) {
    let Some(burst) = room::reach(file, &track.bursts[0]) else { return };
    set(&track.current, 1);
    set(&track.last, clock::ticks());
    for _ in 0..TRIALS * EMPTY {
        begin().end(Action::Notify, 0, Caller::default());
    }
    // The mean of a trial, because the clock may tick rarely; the smallest mean, because the thread
    // may lose its CPU.
    let sum =
        |trial: &[Operation]| trial.iter().map(|operation| get(&operation.before)).sum::<u64>();
    let least = burst.operations[..TRIALS * EMPTY].chunks_exact(EMPTY).map(sum).min();
    set(&track.overhead, least.unwrap_or(0) / EMPTY as u64);
    set(&burst.used, 0);
    set(&track.current, 0);
}

/// Begins a burst, if there is room for it.
#[cold]
#[inline(never)]
fn start(track: &'static Track) {
    let Some(file) = state::file() else { return };
    let number = get(&track.begun);
    set(&track.begun, number + 1);
    let place = if number < BURSTS as u64 { number } else { random(track, number + 1) };
    let Some(burst) = track.bursts.get(place as usize) else {
        // Pauses for the length of the burst that is not kept.
        set(&track.skip, OPERATIONS as u64 / 2 + pause(track));
        return;
    };
    if room::reach(file, burst).is_none() {
        set(&track.skip, u64::MAX);
        return;
    }
    let now = clock::ticks();
    set(&burst.used, 0);
    set(&burst.first, get(&track.acquisitions));
    set(&burst.begun, now);
    look_at_cpu(track);
    set(&track.last, clock::ticks());
    set(&track.current, place + 1);
}

/// Writes an operation that began at `at`. The last operation ends the burst.
fn note(track: &'static Track, at: u64, took: u64, action: Action, object: usize, site: u32) {
    let Some(burst) = current(track) else { return };
    let long = clock::ticks_in(LONG);
    let mut before = at.saturating_sub(get(&track.last));
    if before > long {
        let (worked, blocked) = split(track, at, before);
        before = worked;
        add(&track.held_worked, worked);
        add(&track.held_blocked, blocked);
        if blocked > long {
            push(burst, before, blocked, Action::Blocked, 0, 0);
            before = 0;
        }
    } else {
        add(&track.held_worked, before);
    }
    let last = (get(&burst.used) as usize).checked_sub(1).and_then(|it| burst.operations.get(it));
    match last {
        // A thread that waits by yielding would fill the burst.
        Some(last) if action == Action::Yield && is_yield(last) => {
            add(&last.took, before + took);
        }
        _ => push(burst, before, took, action, object, site),
    }
    if took > long {
        // The thread may have slept in the operation, which must not count towards the work after
        // it.
        look_at_cpu(track);
    }
    set(&track.last, clock::ticks());
    // One place is left for blocked time.
    if get(&burst.used) as usize + 2 > OPERATIONS {
        set(&track.current, 0);
        set(&track.skip, pause_after(track, burst));
    }
}

fn is_yield(operation: &Operation) -> bool {
    operation.action.load(Ordering::Relaxed) == Action::Yield as u32
}

fn current(track: &'static Track) -> Option<&'static Burst> {
    track.bursts.get((get(&track.current) as usize).checked_sub(1)?)
}

fn push(burst: &Burst, before: u64, took: u64, action: Action, object: usize, site: u32) {
    let used = get(&burst.used);
    let Some(Operation {
        before: to_before,
        took: to_took,
        object: to_object,
        action: to_action,
        site: to_site,
    }) = burst.operations.get(used as usize)
    else {
        return;
    };
    set(to_before, before);
    set(to_took, took);
    set(to_object, object as u64);
    to_action.store(action as u32, Ordering::Relaxed);
    to_site.store(site, Ordering::Relaxed);
    // Release: a reader that reads while the program runs sees the counted operations.
    burst.used.store(used + 1, Ordering::Release);
}

/// Splits the `before` ticks until `at`, in which nothing was recorded, into the work of the thread
/// and its blocked time. The rest is time in which another thread had its CPU.
#[cold]
fn split(track: &Track, at: u64, before: u64) -> (u64, u64) {
    let (cpu, cpu_at, times) = (get(&track.cpu), get(&track.cpu_at), get(&track.blocked));
    look_at_cpu(track);
    let used = clock::ticks_in(get(&track.cpu).saturating_sub(cpu));
    // The thread ran until the work began.
    let earlier = at.saturating_sub(before).saturating_sub(cpu_at);
    let worked = used.saturating_sub(earlier).min(before);
    let has_blocked = get(&track.blocked) != times;
    (worked, if has_blocked { before - worked } else { 0 })
}

fn look_at_cpu(track: &Track) {
    // Not read by getrusage(2), which is only as recent as the last timer tick.
    set(&track.cpu, clock::nanos_of(libc::CLOCK_THREAD_CPUTIME_ID));
    let [blocked, preempted] = sys::switches();
    set(&track.blocked, blocked);
    set(&track.preempted, preempted);
    set(&track.cpu_at, clock::ticks());
}

/// Returns the number of acquisitions that are not recorded after a burst.
fn pause_after(track: &Track, burst: &Burst) -> u64 {
    let each = clock::ticks().saturating_sub(get(&burst.begun)) / OPERATIONS as u64;
    let sparse = clock::ticks_in(SPARSE);
    set(&track.pause, (sparse / each.max(1)).min(LONGEST_PAUSE));
    pause(track)
}

/// Returns [`pause_after`] for the last burst that was recorded.
fn pause(track: &Track) -> u64 {
    // Half of a burst's operations acquire, and the mean is half of the maximum.
    random(track, get(&track.pause) * OPERATIONS as u64 + 1)
}

/// Returns a random number below `end`: Marsaglia's xorshift with Vigna's multiplication
/// (xorshift64*).
fn random(track: &Track, end: u64) -> u64 {
    let mut random = get(&track.random);
    random ^= random >> 12;
    random ^= random << 25;
    random ^= random >> 27;
    set(&track.random, random);
    let drawn = random.wrapping_mul(0x2545_F491_4F6C_DD1D);
    ((u128::from(drawn) * u128::from(end)) >> 64) as u64
}

/// Returns the number of that caller's stack, plus 1; 0 if it cannot be recorded. Outside of bursts
/// a new stack is not, if new ones are frequent: a recursion has more call sites than there is room
/// for.
fn site(track: &Track, caller: Caller) -> u32 {
    let here = 0_u8;
    let frame = if caller.frame == 0 { ptr::from_ref(&here).addr() } else { caller.frame };
    let key = (caller.address as u64).rotate_left(20) ^ frame as u64 | 1;
    let known = &track.sites[place_of(key, SITES)];
    if get(&known.key) != key {
        let Some(file) = state::file() else { return 0 };
        // A signal handler that locks in here has no stack.
        let keep = || samples::keep_stack(file, 0);
        let is_in_burst = get(&track.current) != 0;
        let take = |local: &mut thread::Local| {
            if is_in_burst { keep() } else { local.sites.take(keep) }
        };
        let stack = thread::of(file, take).flatten();
        if stack.is_none() && !is_in_burst {
            return 0;
        }
        set(&known.stack, stack.map_or(0, |stack| u64::from(stack) + 1));
        set(&known.key, key);
    }
    get(&known.stack) as u32
}
