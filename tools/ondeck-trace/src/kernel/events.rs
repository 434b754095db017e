//! Converts the kernel's events to the states of threads and CPUs: functions of the events alone.

use crate::clocks::Clocks;
use crate::timeline::{Cpu, Nanos, Ran, Slice, Span, State};

/// Something that the scheduler did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) nanos: u64,
    pub(crate) cpu: u32,
    pub(crate) what: What,
}

/// The kind of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// The CPU went from one thread to another; 0 is the idle thread.
    Switch { from: i32, preempted: bool, to: i32, name: String },
    /// The thread is woken, and will run on that CPU unless it migrates.
    Waking { thread: i32, cpu: u32 },
    /// The thread moves to that CPU.
    Migrate { thread: i32, cpu: u32 },
}

/// A thread's state while its events are processed.
struct Walk {
    spans: Vec<Span>,
    now: Option<Span>,
    end: Nanos,
}

impl Walk {
    fn new(end: Nanos) -> Self {
        Self { spans: Vec::new(), now: None, end }
    }

    /// Sets the state from `at` on; before the first event the state was `before`.
    fn become_(&mut self, at: Nanos, before: State, state: State, cpu: Option<u32>) {
        let now = self.now.unwrap_or(Span { from: 0, to: 0, state: before, cpu });
        self.close(now, at);
        self.now = Some(Span { from: at, to: at, state, cpu });
    }

    fn close(&mut self, span: Span, at: Nanos) {
        let to = at.min(self.end);
        if span.from < to {
            self.spans.push(Span { to, ..span });
        }
    }

    /// Returns the spans; a thread without events ran all the time.
    fn finish(mut self, only_cpu: Option<u32>) -> Vec<Span> {
        let now = self.now.unwrap_or(Span { from: 0, to: 0, state: State::Running, cpu: only_cpu });
        self.close(now, self.end);
        self.spans
    }
}

/// A CPU while its events are processed: its past threads, and its current one with the start.
struct CpuWalk {
    number: u32,
    slices: Vec<Slice>,
    now: Option<(Nanos, Ran)>,
}

/// The states of threads, given by the kernel's number and the CPU of their first stamp, and of all
/// CPUs, until `end`.
pub(crate) fn of_whole_machine(
    events: &[Event],
    threads: &[(i32, Option<u32>)],
    clocks: Clocks,
    end: Nanos,
) -> (Vec<Vec<Span>>, Vec<Cpu>) {
    let mut walks: Vec<Walk> = threads.iter().map(|_| Walk::new(end)).collect();
    let number = |id: i32| threads.iter().position(|&(thread, _)| thread == id);
    let mut cpus: Vec<CpuWalk> = Vec::new();
    for event in events {
        let at = clocks.of_kernel(event.nanos);
        match &event.what {
            What::Switch { from, preempted, to, name } => {
                if let Some(thread) = number(*from) {
                    let state = if *preempted { State::Queued } else { State::Asleep };
                    walks[thread].become_(at, State::Running, state, Some(event.cpu));
                }
                if let Some(thread) = number(*to) {
                    walks[thread].become_(at, State::Queued, State::Running, Some(event.cpu));
                }
                let ran = |id: i32, name: &str| match (id, number(id)) {
                    (0, _) => Ran::Nothing,
                    (_, Some(thread)) => Ran::Thread(thread),
                    _ => Ran::Other(name.to_owned()),
                };
                let place = cpus.iter().position(|cpu| cpu.number == event.cpu);
                let place = place.unwrap_or_else(|| {
                    cpus.push(CpuWalk { number: event.cpu, slices: Vec::new(), now: None });
                    cpus.len() - 1
                });
                let CpuWalk { slices, now, .. } = &mut cpus[place];
                let (begin, before) = now.take().unwrap_or_else(|| (0, ran(*from, "?")));
                push(slices, begin, at.min(end), before);
                *now = Some((at, ran(*to, name)));
            }
            What::Waking { thread, cpu } => {
                if let Some(thread) = number(*thread)
                    // A thread that has not left its CPU yet, or was awake, keeps its state.
                    && walks[thread].now.is_none_or(|now| now.state == State::Asleep)
                {
                    walks[thread].become_(at, State::Asleep, State::Queued, Some(*cpu));
                }
            }
            What::Migrate { thread, cpu } => {
                if let Some(thread) = number(*thread)
                    && let Some(now) = walks[thread].now
                    && now.state == State::Queued
                {
                    walks[thread].become_(at, State::Queued, State::Queued, Some(*cpu));
                }
            }
        }
    }
    let spans = walks.into_iter().zip(threads).map(|(walk, &(_, cpu))| walk.finish(cpu)).collect();
    let mut cpus: Vec<Cpu> = cpus
        .into_iter()
        .map(|CpuWalk { number, mut slices, now }| {
            if let Some((begin, ran)) = now {
                push(&mut slices, begin, end, ran);
            }
            Cpu { number, slices }
        })
        .collect();
    cpus.sort_by_key(|cpu| cpu.number);
    (spans, cpus)
}

fn push(slices: &mut Vec<Slice>, from: Nanos, to: Nanos, ran: Ran) {
    if from < to {
        slices.push(Slice { from, to, ran });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ondeck_lab::clock::Anchor;

    fn clocks() -> Clocks {
        let begin = Anchor { ticks: 0, nanos: 1_000 };
        Clocks::between(begin, Anchor { ticks: 1_000, nanos: 2_000 })
    }

    fn switch(nanos: u64, cpu: u32, from: i32, preempted: bool, to: i32) -> Event {
        let name = format!("thread {to}");
        Event { nanos, cpu, what: What::Switch { from, preempted, to, name } }
    }

    fn span(from: Nanos, to: Nanos, state: State, cpu: u32) -> Span {
        Span { from, to, state, cpu: Some(cpu) }
    }

    #[test]
    fn a_thread_sleeps_is_woken_waits_migrates_and_runs() {
        let events = [
            switch(900, 0, 7, true, 50),
            switch(1_100, 0, 50, false, 99),
            Event { nanos: 1_300, cpu: 1, what: What::Waking { thread: 50, cpu: 0 } },
            Event { nanos: 1_400, cpu: 1, what: What::Migrate { thread: 50, cpu: 1 } },
            switch(1_500, 1, 0, true, 50),
        ];
        let threads = [(50, Some(0)), (51, Some(3))];
        let (spans, cpus) = of_whole_machine(&events, &threads, clocks(), 800);
        assert_eq!(
            spans[0],
            [
                span(0, 100, State::Running, 0),
                span(100, 300, State::Asleep, 0),
                span(300, 400, State::Queued, 0),
                span(400, 500, State::Queued, 1),
                span(500, 800, State::Running, 1),
            ]
        );
        assert_eq!(spans[1], [span(0, 800, State::Running, 3)], "no event tells of it");
        let ran: Vec<_> = cpus.iter().map(|cpu| cpu.slices.clone()).collect();
        let slice = |from, to, ran| Slice { from, to, ran };
        assert_eq!(
            ran,
            [
                vec![
                    slice(0, 100, Ran::Thread(0)),
                    slice(100, 800, Ran::Other("thread 99".to_owned()))
                ],
                vec![slice(0, 500, Ran::Nothing), slice(500, 800, Ran::Thread(0))],
            ]
        );
    }

    #[test]
    fn a_preempted_thread_is_ready() {
        let events = [switch(1_200, 0, 50, true, 60), switch(1_700, 0, 60, true, 50)];
        let wanted = [
            span(0, 200, State::Running, 0),
            span(200, 700, State::Queued, 0),
            span(700, 900, State::Running, 0),
        ];
        let (spans, _) = of_whole_machine(&events, &[(50, None)], clocks(), 900);
        assert_eq!(spans[0], wanted);
    }
}
