//! A simulated thread: its state, its clock, and its charges.

use corosensei::Yielder;
use fastrand::Rng;

use super::account::{Doing, Spent};
use super::bits::Set;
use crate::time::Time;

/// The state of a simulated thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Has a CPU.
    Running,
    /// Wants one.
    Ready,
    /// Sleeps in the kernel.
    Asleep,
    /// Its body has returned.
    Done,
}

/// A simulated thread.
#[expect(clippy::struct_excessive_bools, reason = "each is of another part of the engine")]
pub(crate) struct Thread {
    pub(super) state: State,
    /// The CPU that it runs on, is queued at, or last ran on.
    pub(super) cpu: usize,
    /// Its own time, never before the machine's while it runs.
    pub(super) clock: Time,
    /// When it continues, while it is suspended on its CPU.
    pub(super) resume_at: Time,
    /// The time that its current step still needed when it lost its CPU.
    pub(super) remaining: Time,
    /// An access is under way: the thread keeps its CPU until it continues.
    pub(super) in_access: bool,
    pub(super) virtual_run_time: Time,
    pub(super) allowed: Option<Set>,
    /// The start of its state; a ready thread that changes its queue keeps it.
    pub(super) since: Time,
    /// The time from which on its stores are visible to all.
    pub(super) visible_at: Time,
    /// The number of its current wait.
    pub(super) wait: u32,
    pub(super) timed_out: bool,
    /// It waits for its deadline only.
    pub(super) only_sleeps: bool,
    /// It waits for less than [`LONGEST_NAP`](super::futex::LONGEST_NAP): its deadline hides no
    /// late wake.
    pub(super) naps: bool,
    /// The name of the word that it sleeps on.
    pub(super) sleeps_on: usize,
    pub(super) random: Rng,
    pub(super) usage: Usage,
    pub(super) spent: Spent,
    /// Its last activity.
    pub(super) doing: Doing,
    pub(super) yielder: *const Yielder<(), ()>,
}

/// The charges of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time on a CPU.
    pub cpu: Time,
    /// Time ready without a CPU.
    pub ready: Time,
    /// Time asleep in the kernel.
    pub asleep: Time,
    /// Number of sleeps.
    pub voluntary: u64,
    /// Number of times that it lost its CPU.
    pub involuntary: u64,
    /// Number of moves to another CPU.
    pub migrations: u64,
}
