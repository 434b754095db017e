//! The last events of a run, for a reader who wants to understand how it ended.

use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use crate::time::{Time, in_nanos};

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The thread read that value.
    Load(u64),
    /// The thread wrote that value; others see it later.
    Store(u64),
    /// The thread read the first value and wrote the second in one step.
    Exchange(u64, u64),
    /// The thread read that value in an attempt to exchange it, and wrote nothing.
    Refused(u64),
    /// A full fence is over.
    Fence,
    /// A heavy fence is over.
    HeavyFence,
    /// The thread sleeps on the word.
    Sleep,
    /// The thread woke this number of threads that sleep on the word.
    Wake(usize),
    /// The thread has a CPU.
    Start,
    /// The thread lost its CPU.
    Preempted,
    /// The deadline of the thread's sleep passed.
    TimedOut,
}

/// Called with each event as it happens: the thread, the address if there is one, and the step. A listener is no
/// simulated thread. It may read atomics of the machine, which then have the values of the newest stores.
pub type Listener = dyn Fn(usize, Option<usize>, Step);

/// An event of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recent {
    /// When.
    pub at: Time,
    /// Which thread.
    pub thread: usize,
    /// Its CPU.
    pub cpu: usize,
    /// The line, numbered in the order of first use, and the byte in it, if the event has an address.
    pub place: Option<(usize, usize)>,
    /// What.
    pub step: Step,
    /// The number of repetitions; the last was at that moment.
    pub times: u32,
}

impl fmt::Display for Recent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (thread, cpu) = (self.thread, self.cpu);
        write!(f, "{:>9} ns  thread {thread}  CPU {cpu}  ", in_nanos(self.at))?;
        if let Some((line, byte)) = self.place {
            write!(f, "line {line} + {byte:<2}  ")?;
        }
        match self.step {
            Step::Load(value) => write!(f, "reads {value:#x}"),
            Step::Store(value) => write!(f, "writes {value:#x}"),
            Step::Exchange(old, new) => write!(f, "exchanges {old:#x} for {new:#x}"),
            Step::Refused(value) => write!(f, "finds {value:#x} and leaves it"),
            Step::Fence => write!(f, "full fence"),
            Step::HeavyFence => write!(f, "heavy fence"),
            Step::Sleep => write!(f, "sleeps"),
            Step::Wake(woken) => write!(f, "wakes {woken}"),
            Step::Start => write!(f, "has the CPU"),
            Step::Preempted => write!(f, "loses the CPU"),
            Step::TimedOut => write!(f, "times out"),
        }?;
        if self.times > 1 { write!(f, ", {} times", self.times) } else { Ok(()) }
    }
}

/// The last events.
#[derive(Default)]
pub(super) struct Ring {
    events: VecDeque<Recent>,
    most: usize,
    listener: Option<Rc<Listener>>,
}

impl Ring {
    pub(super) fn new(most: usize, listener: Option<Rc<Listener>>) -> Self {
        Self { events: VecDeque::with_capacity(most), most, listener }
    }

    /// Whether events are kept, or a listener is installed.
    pub(super) fn is_on(&self) -> bool {
        self.keeps() || self.listener.is_some()
    }

    pub(super) fn listener(&self) -> Option<Rc<Listener>> {
        self.listener.clone()
    }

    /// Whether events are kept.
    pub(super) fn keeps(&self) -> bool {
        self.most != 0
    }

    /// Keeps an event.
    pub(super) fn push(&mut self, event: Recent) {
        let same = |last: &&mut Recent| {
            (last.thread, last.cpu, last.place, last.step)
                == (event.thread, event.cpu, event.place, event.step)
        };
        if let Some(last) = self.events.back_mut().filter(same) {
            (last.at, last.times) = (event.at, last.times + 1);
            return;
        }
        if self.events.len() == self.most {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    pub(super) fn take(&mut self) -> Vec<Recent> {
        std::mem::take(&mut self.events).into()
    }
}
