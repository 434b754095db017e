//! A simulated thread: what it is doing, its clock, and what it was charged.

use corosensei::Yielder;
use fastrand::Rng;

use super::account::{Doing, Spent};
use super::bits::Set;
use crate::time::Time;

/// What a simulated thread is doing.
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
    /// The CPU that it runs on, is queued at, or ran on last.
    pub(super) cpu: usize,
    /// Its own time, never before that of the machine while it runs.
    pub(super) clock: Time,
    /// When it goes on, while it is suspended on its CPU.
    pub(super) resume_at: Time,
    /// What it had not done yet when it lost its CPU.
    pub(super) remaining: Time,
    /// An access is under way: it keeps its CPU until it goes on.
    pub(super) in_access: bool,
    /// Its last access was a write.
    pub(super) wrote: bool,
    pub(super) virtual_run_time: Time,
    pub(super) allowed: Option<Set>,
    /// Since when it is in its state; a thread that is ready and changes its queue stays so.
    pub(super) since: Time,
    /// Its stores are visible to all from then on.
    pub(super) visible_at: Time,
    /// Which of its waits the present one is.
    pub(super) wait: u32,
    pub(super) timed_out: bool,
    /// It waits for nothing but its deadline.
    pub(super) only_sleeps: bool,
    /// It waits for less than [`LONGEST_NAP`](super::futex::LONGEST_NAP): no wake is late because of its deadline.
    pub(super) naps: bool,
    /// The name of the word that it sleeps on.
    pub(super) sleeps_on: usize,
    pub(super) was_boosted: bool,
    pub(super) random: Rng,
    pub(super) usage: Usage,
    pub(super) spent: Spent,
    /// What its clock went on for last.
    pub(super) doing: Doing,
    pub(super) yielder: *const Yielder<(), ()>,
}

/// What a thread was charged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// On a CPU.
    pub cpu: Time,
    /// Ready, and without one.
    pub ready: Time,
    /// In the kernel, until it was woken.
    pub asleep: Time,
    /// It slept so often.
    pub voluntary: u64,
    /// It lost its CPU so often.
    pub involuntary: u64,
    /// It was put on another CPU than before so often.
    pub migrations: u64,
}
