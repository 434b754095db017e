//! The result of a run: how it ended, what threads were charged, which lines were hot.

use std::fmt;
use std::ops::Range;

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
    /// The lines with most time under way, the hottest first.
    pub hot: Vec<Hot>,
    /// The number of acquisitions of futex buckets' locks, and the time spent waiting for them.
    pub buckets: (u64, Time),
    /// Threads that had not ended.
    pub stuck: Vec<Stuck>,
    /// Accesses and other steps of threads.
    pub events: u64,
}

/// A line that moved much.
#[derive(Clone, Debug)]
pub struct Hot {
    /// Its first address in the real program.
    pub address: usize,
    /// Whether it is a line of the parking table.
    pub in_table: bool,
    /// Whether a workload has marked data on it; a lock may be on the same line.
    pub has_data: bool,
    /// Its traffic.
    pub traffic: Traffic,
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
    pub(super) fn of(world: &mut World, end: End, table: Range<usize>) -> Self {
        let mut hot: Vec<_> = world
            .memory
            .lines()
            .iter()
            .filter(|line| line.traffic != Traffic::default())
            .map(|line| Hot {
                address: line.address,
                in_table: table.contains(&line.address),
                has_data: line.has_data,
                traffic: line.traffic,
            })
            .collect();
        hot.sort_by_key(|hot| std::cmp::Reverse(hot.traffic.moved + hot.traffic.queued));
        hot.truncate(32);
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
            hot,
            buckets: world.futexes.traffic(),
            stuck,
            events: world.events,
        }
    }
}
