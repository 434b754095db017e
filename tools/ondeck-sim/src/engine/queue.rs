//! Events in the order of virtual time. Events at the same moment happen in the order of insertion,
//! so that a run repeats exactly.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::{NEVER, Time};

/// Something that happens at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// The thread of that CPU makes its next access. Void if the CPU's epoch has changed.
    Resume { cpu: u32, epoch: u32 },
    /// The oldest store of that CPU's store buffer becomes visible.
    Commit { cpu: u32 },
    /// The slice of that CPU's thread ends. Void if another moment has been armed since.
    SliceEnd { cpu: u32 },
    /// That CPU preempts that thread for a woken one. Void if another thread has the CPU.
    Preempt { cpu: u32, thread: u32 },
    /// A line for which accesses wait is no longer under way.
    LineFree { line: u32 },
    /// That idle CPU has woken up, and takes a thread.
    Arrive { cpu: u32 },
    /// The deadline of a thread's wait passes. Void if that wait is over.
    Timeout { thread: u32, wait: u32 },
    /// A call from outside of the machine.
    Call { index: u32 },
    /// The run has reached its limit.
    Limit,
}

/// The events to come.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Reverse<(Time, u64, Event)>>,
    pushed: u64,
}

impl EventQueue {
    /// Adds an event.
    #[inline]
    pub fn push(&mut self, at: Time, event: Event) {
        self.pushed += 1;
        self.heap.push(Reverse((at, self.pushed, event)));
    }

    /// The time of the next event.
    #[inline]
    pub fn first(&self) -> Time {
        self.heap.peek().map_or(NEVER, |Reverse((at, _, _))| *at)
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, Event)> {
        self.heap.pop().map(|Reverse((at, _, event))| (at, event))
    }
}
