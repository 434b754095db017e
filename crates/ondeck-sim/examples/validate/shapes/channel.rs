//! Go's BenchmarkChanContended: each thread sends 100 numbers to one buffered channel, then receives 100. The
//! channel has room for 100 from each thread, so that threads wait for nothing but the lock.
//!
//! Goroutines are threads here: the benchmark runs one on each of GOMAXPROCS threads. A channel's head
//! (runtime/chan.go, hchan) is 96 bytes with the lock at its end: counts and places are on one line, the lock
//! is on the next.

use std::cell::Cell;
use std::rc::Rc;

use ondeck_zoo::RawLock;

use super::{Apart, Line, On, nanos, with};
use ondeck_sim::engine::{Placement, Sim};

/// Numbers that a thread sends, then receives; also the room in the channel for each thread.
const TURN: u64 = 100;

/// Numbers on a line.
const ON_A_LINE: u64 = 8;

/// A run.
#[derive(Clone, Copy, Debug)]
pub struct Channel {
    pub threads: u64,
    /// Turns of each thread.
    pub turns: u64,
    /// Nanoseconds of a send or receive, without the lock and without moving lines.
    pub section: f64,
    /// Nanoseconds from an unlock to the next lock.
    pub outside: f64,
}

struct Shared<L> {
    /// Count, capacity, first and last place.
    head: Line,
    lock: Apart<L>,
    ring: Vec<Line>,
    sent: Cell<u64>,
    received: Cell<u64>,
}

/// Runs it and returns the microseconds for one turn of all threads together, which is what Go prints.
pub fn run<L: RawLock<Sim>>(on: &On, channel: &Channel) -> f64 {
    let channel = *channel;
    let lines = (TURN * channel.threads).div_ceil(ON_A_LINE);
    let shared = Rc::new(Shared {
        head: Line::default(),
        lock: Apart(L::new()),
        ring: (0..lines).map(|_| Line::default()).collect(),
        sent: Cell::new(0),
        received: Cell::new(0),
    });
    let ran = on.run(Placement::Spread, channel.threads as usize, |_| {
        let shared = Rc::clone(&shared);
        move || {
            let context = L::Context::default();
            for _ in 0..channel.turns {
                for place in [&shared.sent, &shared.received] {
                    for _ in 0..TURN {
                        with(&shared.lock.0, &context, || {
                            shared.head.change();
                            Sim::work(channel.section);
                            shared.ring[(place.get() / ON_A_LINE % lines) as usize].change();
                            place.set(place.get() + 1);
                        });
                        Sim::work(channel.outside);
                    }
                }
            }
        }
    });
    nanos(ran.time) / 1_000.0 / (channel.threads * channel.turns) as f64
}
