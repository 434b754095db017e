//! What the threads of a team and its coordinator share: the start, the stop, and the progress of each thread.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crossbeam_utils::CachePadded;
use ondeck::platform::{AtomicInt, Native};

use super::Teams;
use crate::usage::Usage;

/// A thread's view of its team.
#[derive(Debug)]
pub struct Member<M: Teams = Native> {
    /// Which thread of the team this is, from 0.
    pub index: usize,
    shared: Arc<Shared<M>>,
    usage_at_start: Usage,
}

/// What the threads of a team share with the coordinator, the part of the machine that watches them.
///
/// The steps of a round: the coordinator makes it for a number of threads and has each of them
/// [work](Self::work). When all [have arrived](Self::arrived), it [opens the gate](Self::open), or
/// [gives up](Self::give_up). It takes a snapshot of the [progress](Self::progress) when
/// [all run](Self::all_run), and another when it [stops](Self::stop) them. When all
/// [have ended](Self::ended), the two are what an [`Outcome`](super::Outcome) is made of.
///
/// But for the word on which threads await their start, it is made of ordinary atomics: on a machine of virtual
/// time what the harness does takes no time.
pub struct Shared<M: Teams = Native> {
    gate: Mutex<Gate>,
    changed: Condvar,
    /// What the threads wait on for their start: `CLOSED`, then `OPEN` or `GIVEN_UP` for ever. A word
    /// of its own, because at a mutex they would start one after the other: each would leave
    /// only when the one before it had unlocked, and had its CPU taken away.
    start: M::AtomicU32,
    stop: CachePadded<AtomicBool>,
    threads: Vec<CachePadded<Lane>>,
    /// The progress of all threads when the first one ended.
    first_end: OnceLock<Vec<u64>>,
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const GIVEN_UP: u32 = 2;

/// How many threads have come to the start, and how many have ended.
#[derive(Default)]
pub(super) struct Gate {
    ready: usize,
    ended: usize,
}

impl Gate {
    /// Threads that came to the start, or ended without.
    pub(super) fn came(&self) -> usize {
        self.ready + self.ended
    }

    /// Threads that ended.
    pub(super) fn ended(&self) -> usize {
        self.ended
    }
}

/// The progress that one thread reports to the coordinator.
#[derive(Default)]
struct Lane {
    pairs: AtomicU64,
    /// It has run since the start.
    running: AtomicBool,
    number: AtomicI32,
    ended: AtomicBool,
}

impl<M: Teams> Shared<M> {
    /// For a team of `threads` threads, which has not begun.
    pub fn new(threads: usize) -> Arc<Self> {
        Arc::new(Self {
            gate: Mutex::default(),
            changed: Condvar::new(),
            start: AtomicInt::new(CLOSED),
            stop: CachePadded::new(AtomicBool::new(false)),
            threads: (0..threads).map(|_| CachePadded::default()).collect(),
            first_end: OnceLock::new(),
        })
    }

    /// The whole life of a thread of the team, on that thread: it does `body`, and records its end, also if
    /// it panics. Returns the body's result, and what the thread was charged from its start on.
    pub fn work<T>(
        self: &Arc<Self>,
        index: usize,
        body: impl Fn(&mut Member<M>) -> T,
    ) -> (T, Usage) {
        let _ended = Ended(self, index);
        self.threads[index].number.store(M::thread_number(), Ordering::Relaxed);
        let mut member =
            Member { index, shared: Arc::clone(self), usage_at_start: Usage::default() };
        let result = body(&mut member);
        self.first_end.get_or_init(|| self.progress());
        (result, M::usage().since(member.usage_at_start))
    }

    /// How many threads wait for their start, or have ended without one.
    pub fn arrived(&self) -> usize {
        self.gate().came()
    }

    /// Lets the threads go from their start.
    pub fn open(&self) {
        self.release(OPEN);
    }

    /// Lets the threads end from their start, without having worked.
    pub fn give_up(&self) {
        self.release(GIVEN_UP);
    }

    /// Whether each thread has run since the start.
    pub fn all_run(&self) -> bool {
        self.threads.iter().all(|lane| lane.running.load(Ordering::Relaxed))
    }

    /// Tells the threads to stop: each ends with what it is about.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// How many threads have ended.
    pub fn ended(&self) -> usize {
        self.gate().ended()
    }

    /// Whether the thread of that index has ended.
    pub fn has_ended(&self, index: usize) -> bool {
        self.threads[index].ended.load(Ordering::Acquire)
    }

    /// The [number](Teams::thread_number) of the thread of that index; 0 if it has none yet.
    pub fn number(&self, index: usize) -> i32 {
        self.threads[index].number.load(Ordering::Relaxed)
    }

    /// Pairs of each thread by now.
    pub fn progress(&self) -> Vec<u64> {
        self.threads.iter().map(|lane| lane.pairs.load(Ordering::Relaxed)).collect()
    }

    /// Pairs of each thread when the first one ended; nothing before.
    pub fn first_end(&self) -> Option<&[u64]> {
        self.first_end.get().map(Vec::as_slice)
    }

    pub(super) fn gate(&self) -> MutexGuard<'_, Gate> {
        // A thread that panics in its work does not hold this lock.
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a thread has arrived or ended, or for so long.
    pub(super) fn await_change<'a>(
        &'a self,
        gate: MutexGuard<'a, Gate>,
        time: Duration,
    ) -> MutexGuard<'a, Gate> {
        self.changed.wait_timeout(gate, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Lets the threads go, or end, from their start.
    fn release(&self, word: u32) {
        self.start.store(word, Ordering::Release);
        M::futex_wake(&raw const self.start, u32::MAX);
    }
}

impl<M: Teams> std::fmt::Debug for Shared<M> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Shared").field("progress", &self.progress()).finish_non_exhaustive()
    }
}

impl<M: Teams> Member<M> {
    /// Waits until the whole team is ready, then starts the clock of this thread.
    ///
    /// False if the team is given up: the thread must return at once.
    #[must_use]
    pub fn start(&mut self) -> bool {
        let shared = &self.shared;
        shared.gate().ready += 1;
        shared.changed.notify_all();
        while shared.start.load(Ordering::Acquire) == CLOSED {
            // Every outcome means the same: look again.
            let _ = M::futex_wait(&shared.start, CLOSED, None);
        }
        self.usage_at_start = M::usage();
        shared.threads[self.index].running.store(true, Ordering::Relaxed);
        shared.start.load(Ordering::Relaxed) == OPEN
    }

    /// What each thread of the team has done by now.
    pub fn progress(&self) -> Vec<u64> {
        self.shared.progress()
    }

    /// Whether the time is over.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Says how many pairs this thread has done, by a store to a cache line of its own.
    #[inline]
    pub fn done(&self, pairs: u64) {
        self.shared.threads[self.index].pairs.store(pairs, Ordering::Relaxed);
    }
}

/// Marks a thread's end, also when it panics.
struct Ended<'a, M: Teams>(&'a Shared<M>, usize);

impl<M: Teams> Drop for Ended<'_, M> {
    fn drop(&mut self) {
        self.0.threads[self.1].ended.store(true, Ordering::Release);
        self.0.gate().ended += 1;
        self.0.changed.notify_all();
    }
}
