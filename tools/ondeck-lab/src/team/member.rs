//! State shared by the threads of a team and its coordinator: the start, the stop, and the progress
//! of each thread.

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

/// The state that the threads of a team share with the coordinator, the part of the machine that
/// watches them.
///
/// The steps of a round: the coordinator creates the state for a number of threads and runs
/// [`work`](Self::work) on each. When all [have arrived](Self::arrived), it
/// [opens the gate](Self::open), or [gives up](Self::give_up). It takes a snapshot of the
/// [progress](Self::progress) when [all run](Self::all_run), and another when it
/// [stops](Self::stop) them. When all [have ended](Self::ended), it computes an
/// [`Outcome`](super::Outcome) from the two snapshots.
///
/// Except for the word on which threads await their start, it consists of ordinary atomics: the
/// harness takes no time on a machine of virtual time.
pub struct Shared<M: Teams = Native> {
    gate: Mutex<Gate>,
    changed: Condvar,
    /// The word on which threads wait for their start: `CLOSED`, then `OPEN` or `GIVEN_UP` for
    /// ever. It is not a mutex, because threads would leave a mutex one after the other: each only
    /// after the one before it had unlocked and lost its CPU.
    start: M::AtomicU32,
    stop: CachePadded<AtomicBool>,
    threads: Vec<CachePadded<Lane>>,
    /// The progress of all threads when the first one ended.
    first_end: OnceLock<Vec<u64>>,
}

const CLOSED: u32 = 0;
const OPEN: u32 = 1;
const GIVEN_UP: u32 = 2;

/// The numbers of threads that have come to the start and that have ended.
#[derive(Default)]
pub(super) struct Gate {
    ready: usize,
    ended: usize,
}

impl Gate {
    /// Threads that came to the start, or ended before it.
    pub(super) fn came(&self) -> usize {
        self.ready + self.ended
    }

    /// Threads that have ended.
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
    /// Makes the state of a team of `threads` threads that has not begun.
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

    /// Runs on a thread of the team for its whole life: calls `body`, and records the end, even
    /// after a panic. Returns the body's result, and the charge of the thread since its start.
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

    /// The number of threads that wait for their start, or have ended before it.
    pub fn arrived(&self) -> usize {
        self.gate().came()
    }

    /// Lets the threads start.
    pub fn open(&self) {
        self.release(OPEN);
    }

    /// Makes the threads end without working.
    pub fn give_up(&self) {
        self.release(GIVEN_UP);
    }

    /// Whether each thread has run since the start.
    pub fn all_run(&self) -> bool {
        self.threads.iter().all(|lane| lane.running.load(Ordering::Relaxed))
    }

    /// Requests that the threads stop: each ends after its current operation.
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

    /// Pairs of each thread so far.
    pub fn progress(&self) -> Vec<u64> {
        self.threads.iter().map(|lane| lane.pairs.load(Ordering::Relaxed)).collect()
    }

    /// Pairs of each thread when the first one ended; `None` before.
    pub fn first_end(&self) -> Option<&[u64]> {
        self.first_end.get().map(Vec::as_slice)
    }

    pub(super) fn gate(&self) -> MutexGuard<'_, Gate> {
        // A thread that panics in its work does not hold this lock.
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a thread has arrived or ended, or until the time is over.
    pub(super) fn await_change<'a>(
        &'a self,
        gate: MutexGuard<'a, Gate>,
        time: Duration,
    ) -> MutexGuard<'a, Gate> {
        self.changed.wait_timeout(gate, time).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Wakes the threads at their start, to run or to end.
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
    /// Returns `None` if the team is given up: the thread must then return at once.
    #[must_use]
    pub fn start(&mut self) -> Option<()> {
        let shared = &self.shared;
        shared.gate().ready += 1;
        shared.changed.notify_all();
        while shared.start.load(Ordering::Acquire) == CLOSED {
            // Every result means the same: reread the word.
            let _ = M::futex_wait(&shared.start, CLOSED, None);
        }
        self.usage_at_start = M::usage();
        shared.threads[self.index].running.store(true, Ordering::Relaxed);
        (shared.start.load(Ordering::Relaxed) == OPEN).then_some(())
    }

    /// Pairs of each thread of the team so far.
    pub fn progress(&self) -> Vec<u64> {
        self.shared.progress()
    }

    /// Whether the time is over.
    #[inline]
    pub fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Repeats `operation` until the time is over, publishes how often, and calls `after` with each
    /// result.
    #[inline(always)]
    pub(crate) fn repeat<T>(&self, mut operation: impl FnMut() -> T, mut after: impl FnMut(T)) {
        let mut operations = 0;
        while !self.stopped() {
            let result = operation();
            operations += 1;
            self.done(operations);
            after(result);
        }
    }

    /// Publishes the number of pairs that this thread has done, by a store to its own cache line.
    #[inline]
    pub fn done(&self, pairs: u64) {
        self.shared.threads[self.index].pairs.store(pairs, Ordering::Relaxed);
    }
}

/// Records a thread's end, even after a panic.
struct Ended<'a, M: Teams>(&'a Shared<M>, usize);

impl<M: Teams> Drop for Ended<'_, M> {
    fn drop(&mut self) {
        self.0.threads[self.1].ended.store(true, Ordering::Release);
        self.0.gate().ended += 1;
        self.0.changed.notify_all();
    }
}
