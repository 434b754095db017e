//! The same for another process, which only records what its threads hold and want.

use std::alloc::System;

use crate::kinds::{Ends, Hold, Lock, Want};
use crate::memory::Vec;
use crate::order::Order;
use crate::report::{Holding, Report};
use crate::stack::Stack;
use crate::table::{Table, Wait};
use crate::tell::Found;
use crate::thread::Thread;

/// The order in which the threads of a process wanted locks.
pub struct Orders(Order);

impl Default for Orders {
    fn default() -> Self {
        Self(Order::new())
    }
}

impl Orders {
    /// Records that a thread, which held all of `held`, wanted a lock without a deadline. Returns a
    /// report if the order from the first of `held` to that lock closes a circle.
    pub fn learn(
        &mut self,
        thread: Thread,
        held: &[Holding],
        (lock, want, stack): (Lock, Want, Stack),
    ) -> Option<Report> {
        let mut holds = Vec::new_in(System);
        holds.extend(held.iter().map(|it| hold(it, 0)));
        let circle = self.0.learn(&holds, 0, (lock, want, &stack), || thread)?;
        Some(Found::inversion(&circle).report())
    }
}

fn hold(it: &Holding, number: u64) -> Hold {
    Hold { lock: it.lock, held: it.held, number, stack: it.stack }
}

/// A thread's wait for a lock, without a deadline.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// The thread.
    pub thread: Thread,
    /// The lock.
    pub lock: Lock,
    /// How it is wanted.
    pub want: Want,
    /// Where.
    pub stack: Stack,
}

/// Returns each circle of threads that wait for each other once, given what each thread holds and
/// waits for.
pub fn deadlocks<'a>(
    threads: impl IntoIterator<Item = (&'a [Holding], Option<Waiting>)>,
) -> std::vec::Vec<Report> {
    let mut table = Table::new();
    for (thread, (held, waiting)) in (0_u64..).zip(threads) {
        for it in held {
            let hold = hold(it, table.next());
            table.known(thread).held.push(hold);
        }
        table.known(thread).wait = waiting.map(|Waiting { thread: who, lock, want, stack }| Wait {
            lock,
            want,
            ends: Ends::Never,
            number: thread,
            is_told: false,
            stack,
            thread: who,
        });
    }
    let threads: std::vec::Vec<u64> = table.threads.keys().copied().collect();
    let found = threads.into_iter().filter_map(|thread| {
        let circle = table.circle(thread)?;
        table.report(&circle)
    });
    found.map(|found| found.report()).collect()
}
