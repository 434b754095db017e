//! The stage of a check: the lock, the data that it guards, its threads, and their watchdog.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Barrier};
use std::thread;

use ondeck::platform::Native;
use ondeck_zoo::RawLock;

use super::Limits;

/// Memory without synchronization. Volatile, so that the threads' accesses really happen, and show
/// if a lock fails to exclude.
pub struct Plain<T>(UnsafeCell<T>);

// SAFETY: touched only inside the sections of the checked lock. The check tests just that: if it is
// untrue, the race is on plain numbers, and the check fails.
unsafe impl<T: Send> Sync for Plain<T> {}

impl<T: Copy> Plain<T> {
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    pub fn get(&self) -> T {
        // SAFETY: always initialized; see `Sync` on races.
        unsafe { self.0.get().read_volatile() }
    }

    pub fn set(&self, value: T) {
        // SAFETY: as above.
        unsafe { self.0.get().write_volatile(value) }
    }
}

/// A lock, the data that it guards, and a sign of life for the watchdog.
pub struct Stage<L, T> {
    pub lock: L,
    pub guarded: T,
    progress: AtomicU64,
}

impl<L: RawLock<Native>, T> Stage<L, T> {
    pub fn new(guarded: T) -> Arc<Self> {
        Arc::new(Self { lock: L::new(), guarded, progress: AtomicU64::new(0) })
    }

    pub fn with<R>(&self, context: &L::Context, section: impl FnOnce(&T) -> R) -> R {
        // SAFETY: the callers' contexts are their own and stay where they are.
        unsafe { self.lock.lock(context) };
        let result = section(&self.guarded);
        // SAFETY: locked above with this context.
        unsafe { self.lock.unlock(context) };
        result
    }

    pub fn try_with<R>(&self, context: &L::Context, section: impl FnOnce(&T) -> R) -> Option<R> {
        // SAFETY: as in `with`.
        unsafe { self.lock.try_lock(context) }.then(|| {
            let result = section(&self.guarded);
            // SAFETY: locked above with this context.
            unsafe { self.lock.unlock(context) };
            result
        })
    }

    pub fn got_on(&self) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }
}

impl<L: RawLock<Native>, T: Send + Sync + 'static> Stage<L, T> {
    /// Runs `body` in `threads` threads that start together, and returns the first error of any. A
    /// hang is an error, and abandons the threads.
    pub fn run(
        self: &Arc<Self>,
        threads: usize,
        limits: Limits,
        body: fn(&Self, usize, Limits) -> Result<(), String>,
    ) -> Result<(), String> {
        let stage = Arc::clone(self);
        let thread = Arc::new(move |index| body(&stage, index, limits));
        watched(threads, limits, &|| self.progress.load(Ordering::Relaxed), thread)
    }
}

/// Runs the threads, and watches their progress. Compiled once, and not for each lock in each check.
fn watched(
    threads: usize,
    limits: Limits,
    progress: &dyn Fn() -> u64,
    thread: Arc<dyn Fn(usize) -> Result<(), String> + Send + Sync>,
) -> Result<(), String> {
    let start = Arc::new(Barrier::new(threads));
    // Nothing is ever sent: the channel closes when the last thread has ended.
    let (alive, all_ended) = mpsc::channel::<()>();
    let handles: Vec<_> = (0..threads)
        .map(|index| {
            let (thread, start, alive) = (Arc::clone(&thread), Arc::clone(&start), alive.clone());
            thread::spawn(move || {
                let _alive = alive;
                start.wait();
                thread(index)
            })
        })
        .collect();
    // The stage is only the caller's when all threads have ended.
    drop(thread);
    drop(alive);
    let mut seen = progress();
    while all_ended.recv_timeout(limits.hang_after) == Err(RecvTimeoutError::Timeout) {
        let now = progress();
        if now == seen {
            let ended = handles.iter().filter(|handle| handle.is_finished()).count();
            return Err(format!(
                "no progress for {:?} after {now} steps, {ended} threads have ended",
                limits.hang_after
            ));
        }
        seen = now;
    }
    handles
        .into_iter()
        .try_for_each(|handle| handle.join().unwrap_or_else(|_| Err("a thread panicked".into())))
}
