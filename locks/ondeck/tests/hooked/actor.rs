//! A thread that a test controls, on the machine of `steered.rs`.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use ondeck::platform::Timestamp;

use super::hooked_platform::{Gate, until};
use super::steered::{
    IS_POLLER, Lock, POLLERS, WOKE, lock, lock_until, poll, unlock, until_a_sleep_after,
};

type Work = Box<dyn FnOnce() -> u32 + Send>;

/// A thread that a test controls.
pub(super) struct Actor {
    works: mpsc::Sender<Work>,
    /// The number of unfinished tasks.
    left: Arc<AtomicU32>,
    result: Arc<AtomicU32>,
}

impl Actor {
    pub(super) fn new() -> Self {
        let (works, todo) = mpsc::channel::<Work>();
        let (left, result) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let own = (Arc::clone(&left), Arc::clone(&result));
        thread::spawn(move || {
            for work in todo {
                own.1.store(work(), Ordering::SeqCst);
                own.0.fetch_sub(1, Ordering::SeqCst);
            }
        });
        Self { works, left, result }
    }

    /// Creates several.
    pub(super) fn some<const COUNT: usize>() -> [Self; COUNT] {
        [(); COUNT].map(|()| Self::new())
    }

    /// Starts a task.
    pub(super) fn begins(&self, work: impl FnOnce() -> u32 + Send + 'static) {
        self.left.fetch_add(1, Ordering::SeqCst);
        self.works.send(Box::new(work)).expect("it works until the test ends");
    }

    pub(super) fn is_busy(&self) -> bool {
        self.left.load(Ordering::SeqCst) != 0
    }

    /// Waits until its task ends, and returns the result.
    #[track_caller]
    pub(super) fn ends(&self) -> u32 {
        until(|| !self.is_busy());
        self.result.load(Ordering::SeqCst)
    }

    /// Runs a task to its end.
    #[track_caller]
    pub(super) fn does(&self, work: impl FnOnce() -> u32 + Send + 'static) -> u32 {
        self.begins(work);
        self.ends()
    }

    /// Runs a task until it sleeps.
    #[track_caller]
    pub(super) fn sleeps_in(&self, work: impl FnOnce() -> u32 + Send + 'static) {
        until_a_sleep_after(|| self.begins(work));
    }

    /// Runs a task until it sleeps. It stops when it is woken.
    #[track_caller]
    pub(super) fn stops_when_woken_in(&self, work: impl FnOnce() -> u32 + Send + 'static) {
        self.sleeps_in(|| {
            WOKE.stop_me();
            work()
        });
    }

    /// Runs a task until its `time`th arrival at the gate.
    #[track_caller]
    pub(super) fn stops_at(
        &self,
        gate: &'static Gate,
        time: u32,
        work: impl FnOnce() -> u32 + Send + 'static,
    ) {
        self.begins(move || {
            gate.stop_me_at(time);
            work()
        });
        gate.until_reached();
    }

    /// Locks, until it sleeps.
    #[track_caller]
    pub(super) fn sleeps_for(&self, mutex: &'static Lock) {
        self.sleeps_in(|| lock(mutex));
    }

    /// Locks with a deadline, until it sleeps.
    #[track_caller]
    pub(super) fn sleeps_until(&self, mutex: &'static Lock, deadline: Timestamp) {
        self.sleeps_in(move || lock_until(mutex, deadline));
    }

    /// Runs a task until it polls as the heir, after the attempt of an arriving thread.
    #[track_caller]
    pub(super) fn polls_in(&self, work: impl FnOnce() -> u32 + Send + 'static) {
        let before = POLLERS.load(Ordering::SeqCst);
        self.polls_at_once_in(work);
        poll();
        until(|| POLLERS.load(Ordering::SeqCst) > before || !self.is_busy());
    }

    /// Runs a task until it polls, without another attempt.
    #[track_caller]
    pub(super) fn polls_at_once_in(&self, work: impl FnOnce() -> u32 + Send + 'static) {
        let before = POLLERS.load(Ordering::SeqCst);
        self.begins(|| {
            IS_POLLER.set(true);
            work()
        });
        until(|| POLLERS.load(Ordering::SeqCst) > before);
    }

    /// Locks, until it polls.
    #[track_caller]
    pub(super) fn polls_for(&self, mutex: &'static Lock) {
        self.polls_in(|| lock(mutex));
    }

    /// Unlocks the lock, which it has acquired. Returns the number of woken threads.
    #[track_caller]
    pub(super) fn unlocks(&self, mutex: &'static Lock) -> u32 {
        assert_eq!(self.ends(), 1, "it is the owner");
        self.does(|| unlock(mutex))
    }
}
