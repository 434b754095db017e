//! The events of one run, in nanoseconds since it began: the pairs that the threads stamped, and
//! where the kernel had each thread. Stamps and the kernel's events make it, everything else reads
//! it; a test makes one by hand.

pub use ondeck_lab::results::episode::Nanos;

/// Where the kernel had a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// On a CPU.
    Running,
    /// Ready to run and without a CPU: woken, or its CPU was taken away.
    Queued,
    /// Asleep: no thread has woken it.
    Asleep,
}

/// A time in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its beginning.
    pub from: Nanos,
    /// Its end.
    pub to: Nanos,
    /// The state.
    pub state: State,
    /// The CPU that it ran on or waited for.
    pub cpu: Option<u32>,
}

/// One acquisition, as its thread saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    /// Just before the call that locks.
    pub wanted: Nanos,
    /// The first thing in the section.
    pub acquired: Nanos,
    /// The last thing in the section.
    pub released: Nanos,
    /// Just after the call that unlocks.
    pub freed: Nanos,
    /// The CPU in the section.
    pub cpu: u32,
}

/// One thread of the run.
#[derive(Clone, Debug, Default)]
pub struct Thread {
    /// Its pairs in their order.
    pub pairs: Vec<Pair>,
    /// Its states in the kernel, in order and without overlap; empty if they are not known.
    pub spans: Vec<Span>,
}

/// The occupant of a CPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ran {
    /// A thread of the run, by its number.
    Thread(usize),
    /// Another program's thread, by its name.
    Other(String),
    /// Nothing: the CPU was idle.
    Nothing,
}

/// A time in which a CPU had the same thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Its beginning.
    pub from: Nanos,
    /// Its end.
    pub to: Nanos,
    /// The occupant.
    pub ran: Ran,
}

/// One CPU over the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Its number.
    pub number: u32,
    /// Its occupants, in order and without overlap.
    pub slices: Vec<Slice>,
}

/// A run.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The threads.
    pub threads: Vec<Thread>,
    /// The CPUs; empty where the kernel does not report other programs.
    pub cpus: Vec<Cpu>,
    /// The time until which the kernel's events are complete; 0 if there are none.
    pub seen_until: Nanos,
}

/// An acquisition and its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The thread.
    pub thread: usize,
    /// The pair.
    pub pair: Pair,
}

impl Timeline {
    /// All acquisitions in the order of the lock's owners.
    pub fn turns(&self) -> Vec<Turn> {
        let mut turns: Vec<Turn> = self
            .threads
            .iter()
            .enumerate()
            .flat_map(|(thread, track)| track.pairs.iter().map(move |&pair| Turn { thread, pair }))
            .collect();
        turns.sort_by_key(|turn| (turn.pair.acquired, turn.pair.released));
        turns
    }

    /// The state of a thread in the kernel at that moment, if it is known.
    pub fn state(&self, thread: usize, at: Nanos) -> Option<Span> {
        if at >= self.seen_until {
            return None;
        }
        let spans = &self.threads.get(thread)?.spans;
        let next = spans.partition_point(|span| span.from <= at);
        spans[..next].last().filter(|span| at < span.to).copied()
    }

    /// Whether a thread waits for the lock at that moment.
    pub fn wants(&self, thread: usize, at: Nanos) -> bool {
        let pairs = &self.threads[thread].pairs;
        let next = pairs.partition_point(|pair| pair.wanted <= at);
        pairs[..next].last().is_some_and(|pair| at < pair.acquired)
    }

    /// The CPUs that were idle at that moment.
    pub fn idle_cpus(&self, at: Nanos) -> impl Iterator<Item = u32> + '_ {
        self.cpus
            .iter()
            .filter(move |cpu| matches!(cpu.at(at), Some(Slice { ran: Ran::Nothing, .. })))
            .map(|cpu| cpu.number)
    }

    /// Every moment in a window at which a thread's or a CPU's state changes.
    pub fn changes(
        &self,
        threads: impl Iterator<Item = usize>,
        from: Nanos,
        to: Nanos,
    ) -> Vec<Nanos> {
        let mut moments = Vec::new();
        for thread in threads {
            let spans = &self.threads[thread].spans;
            let first = spans.partition_point(|span| span.to <= from);
            for span in spans[first..].iter().take_while(|span| span.from < to) {
                moments.extend([span.from, span.to]);
            }
        }
        for cpu in &self.cpus {
            let first = cpu.slices.partition_point(|slice| slice.to <= from);
            for slice in cpu.slices[first..].iter().take_while(|slice| slice.from < to) {
                moments.extend([slice.from, slice.to]);
            }
        }
        moments.push(self.seen_until);
        moments.retain(|&moment| from < moment && moment < to);
        moments
    }
}

impl Cpu {
    /// Its occupant at that moment.
    pub fn at(&self, at: Nanos) -> Option<&Slice> {
        let next = self.slices.partition_point(|slice| slice.from <= at);
        self.slices[..next].last().filter(|slice| at < slice.to)
    }
}
