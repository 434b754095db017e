//! The result of a run: how it ended, what threads were charged, which lines moved.

use std::fmt;

use super::account::Spent;
use super::memory::Traffic;
use super::run::End;
use super::thread::{State, Usage};
use super::world::World;
use crate::time::{Time, in_nanos};

/// The result of a run.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// The virtual time of its end.
    pub time: Time,
    /// The charges of each thread.
    pub usages: Vec<Usage>,
    /// The time of each thread by activity.
    pub spent: Vec<Spent>,
    /// Time in which CPUs had no thread, summed over all.
    pub idle: Time,
    /// The traffic of each line that moved, the most time under way first.
    pub traffic: Vec<Traffic>,
    /// The number of acquisitions of futex buckets' locks, and the time spent waiting for them.
    pub buckets: (u64, Time),
    /// Threads that had not ended.
    pub stuck: Vec<Stuck>,
    /// Accesses and other steps of threads.
    pub events: u64,
}

/// A thread that had not ended.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// Its number.
    pub thread: usize,
    /// Its state.
    pub state: State,
    /// Its CPU, or the one where it last ran.
    pub cpu: usize,
    /// Its own time.
    pub clock: Time,
    /// If it sleeps: the line and the byte of the word that it sleeps on.
    pub sleeps_on: (usize, usize),
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (thread, cpu, at) = (self.thread, self.cpu, in_nanos(self.clock));
        match self.state {
            State::Asleep => {
                let (line, byte) = self.sleeps_on;
                write!(f, "thread {thread} sleeps on byte {byte} of line {line} since {at} ns")
            }
            State::Running => write!(f, "thread {thread} runs on CPU {cpu} at {at} ns"),
            State::Ready => write!(f, "thread {thread} waits for CPU {cpu}"),
            State::Done => write!(f, "thread {thread} is done"),
        }
    }
}

impl Ran {
    pub(super) fn of(world: &mut World, end: End) -> Self {
        let lines = world.memory.lines().iter().map(|line| line.traffic);
        let mut traffic: Vec<_> = lines.filter(|line| *line != Traffic::default()).collect();
        traffic.sort_by_key(|line| std::cmp::Reverse(line.moved + line.queued));
        world.close_accounts();
        let stuck = (0..world.threads.len())
            .filter(|&thread| world.threads[thread].state != State::Done)
            .map(|thread| Stuck {
                thread,
                state: world.threads[thread].state,
                cpu: world.threads[thread].cpu,
                clock: world.threads[thread].clock,
                sleeps_on: world.sleeps_on(thread),
            })
            .collect();
        Self {
            end,
            time: world.now,
            usages: world.threads.iter().map(|thread| thread.usage).collect(),
            spent: world.threads.iter().map(|thread| thread.spent).collect(),
            idle: world.cpus.iter().map(|cpu| cpu.idle_time).sum(),
            traffic,
            buckets: world.futexes.traffic(),
            stuck,
            events: world.events,
        }
    }
}
