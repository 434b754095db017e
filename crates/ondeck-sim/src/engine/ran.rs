//! What a run leaves: how it ended, what threads were charged, where lines were hot.

use std::fmt;
use std::ops::Range;

use super::account::Spent;
use super::memory::Traffic;
use super::recent::Recent;
use super::run::End;
use super::thread::{State, Usage};
use super::world::World;
use crate::time::{Time, in_nanos};

/// What a run leaves.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// When, in virtual time.
    pub time: Time,
    /// What each thread was charged.
    pub usages: Vec<Usage>,
    /// Where the time of each thread went.
    pub spent: Vec<Spent>,
    /// Time that CPUs had no thread, of all together.
    pub idle: Time,
    /// The lines with most time under way, the hottest first.
    pub hot: Vec<Hot>,
    /// How often the locks of futex buckets were taken, and how long they were waited for.
    pub buckets: (u64, Time),
    /// Threads that were not done.
    pub stuck: Vec<Stuck>,
    /// Accesses and other steps of threads.
    pub events: u64,
    /// The last events, if they were asked for.
    pub recent: Vec<Recent>,
}

/// A line that moved much.
#[derive(Clone, Debug)]
pub struct Hot {
    /// Its first address, as the program has it.
    pub address: usize,
    /// Whether it is one of the parking table.
    pub in_table: bool,
    /// Whether a workload has told that its data is there; a lock may be on the same line.
    pub has_data: bool,
    /// What went on there.
    pub traffic: Traffic,
}

/// A thread that was not done.
#[derive(Clone, Debug)]
pub struct Stuck {
    /// Which.
    pub thread: usize,
    /// What it was doing.
    pub state: State,
    /// Its CPU, or that where it ran last.
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
            recent: world.recent.take(),
        }
    }
}
