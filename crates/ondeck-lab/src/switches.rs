//! The context switches that a thread records of itself while it makes its pairs. This file has the data
//! only: the caller passes the function that records them, so that the loop that stamps does not depend on a
//! method.

/// A context switch of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switched {
    /// When, by the kernel's `CLOCK_MONOTONIC_RAW`.
    pub nanos: u64,
    /// On which CPU.
    pub cpu: u32,
    /// What it did.
    pub how: How,
}

/// What a switch did to the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It was given a CPU.
    In,
    /// It left its CPU voluntarily.
    Out,
    /// Its CPU was taken away.
    Preempted,
}

/// The switches of a thread over a run.
#[derive(Clone, Debug, Default)]
pub struct SwitchLog {
    /// In their order.
    pub switches: Vec<Switched>,
    /// If some did not fit: the time of the last one before the loss.
    pub lost: Option<u64>,
}

/// Ends a recording and returns it. Called on the thread that began it.
pub type EndOfSwitches = Box<dyn FnOnce() -> SwitchLog>;

/// How a thread records its switches.
#[derive(Clone, Copy, Debug)]
pub struct SwitchRecorder {
    /// Bytes for the records of each thread.
    pub bytes: usize,
    /// Begins recording on the calling thread, with a ring of the given number of bytes; `None` where the
    /// kernel refuses.
    pub begin: fn(usize) -> Option<EndOfSwitches>,
}
