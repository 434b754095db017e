//! The scheduler: which thread runs on which CPU.
//!
//! ```text
//! Ready ──start──► Running ──block──► Asleep
//!   ▲                │                   │
//!   ├──── preempt ───┘                   │
//!   └────────────── wake ◄───────────────┘
//! ```
//!
//! A CPU has a queue of ready threads. A woken thread goes to the CPU where it last ran, or to an
//! idle one that shares a cache with it. A CPU without a thread takes one from another's queue
//! before it idles, and a tick of a CPU with a queue sends a thread to an idle CPU. Linux does the
//! same (kernel/sched/fair.c: select_idle_sibling, newidle_balance, nohz_balancer_kick), with
//! additional statistics.

use super::account::Doing;
use super::bits::Set;
use super::queue::Event;
use super::thread::State;
use super::world::{World, settle, suspend, world};
use crate::machine::{Policy, Yield};
use crate::time::{NEVER, Time};

/// sched_yield(2) of the running thread.
pub(super) fn yield_now() {
    let cost = world().costs.scheduler.yield_cost;
    world().charge(cost, Doing::Yielding);
    settle();
    let mut world = world();
    let (cpu, number) = (world.my_cpu_number(), world.my_number());
    if world.cpus[cpu].ready.is_empty() {
        return;
    }
    let queued = |world: &World| {
        let times =
            world.cpus[cpu].ready.iter().map(|&thread| world.threads[thread].virtual_run_time);
        times.collect::<Vec<_>>()
    };
    let behind = match world.costs.scheduler.yield_to {
        Yield::Nothing => return,
        Yield::Next => queued(&world).into_iter().min(),
        Yield::Last => queued(&world).into_iter().max(),
    };
    world.leave(cpu);
    let thread = &mut world.threads[number];
    thread.remaining = 0;
    thread.usage.involuntary += 1;
    thread.virtual_run_time = thread.virtual_run_time.max(behind.unwrap_or(0) + 1);
    world.enqueue(cpu, number);
    world.schedule(cpu);
    suspend();
}

/// The running thread, whose state is already set, sleeps until it is woken.
pub(super) fn sleep() {
    let mut world = world();
    let (cpu, number, now) = (world.my_cpu_number(), world.my_number(), world.now);
    world.leave(cpu);
    let thread = &mut world.threads[number];
    thread.state = State::Asleep;
    thread.since = now;
    thread.remaining = 0;
    thread.usage.voluntary += 1;
    world.schedule(cpu);
    suspend();
}

impl World {
    /// Handles the events of CPUs, which resume no coroutine.
    pub(super) fn happen(&mut self, event: Event) {
        match event {
            Event::Commit { cpu } => self.commit(cpu as usize),
            Event::LineFree { line } => self.line_free(line as usize),
            Event::SliceEnd { cpu } => self.end_slice(cpu as usize),
            Event::Preempt { cpu, thread } => self.preempt(cpu as usize, thread as usize),
            Event::Arrive { cpu } => {
                self.cpus[cpu as usize].arriving = false;
                self.schedule(cpu as usize);
            }
            Event::Timeout { thread, wait } => self.time_out(thread as usize, wait),
            Event::Resume { .. } | Event::Call { .. } | Event::Limit => {
                unreachable!("the loop's own")
            }
        }
    }

    /// A thread becomes ready on a CPU.
    pub(super) fn enqueue(&mut self, cpu: usize, number: usize) {
        let now = self.now;
        let thread = &mut self.threads[number];
        if thread.state == State::Asleep {
            thread.usage.asleep += now - thread.since;
        }
        if thread.state != State::Ready {
            thread.since = now;
        }
        thread.state = State::Ready;
        thread.cpu = cpu;
        self.cpus[cpu].ready.push(number);
        self.arm(cpu);
    }

    /// The CPU's thread leaves it, for whatever reason.
    pub(super) fn leave(&mut self, cpu: usize) {
        let now = self.now;
        self.advance(cpu);
        let Some(number) = self.cpus[cpu].current.take() else { return };
        self.cpus[cpu].epoch += 1;
        let visible_at = self.cpus[cpu].stores.last_commit();
        let thread = &mut self.threads[number];
        let ran = now - thread.since;
        // It may be waiting for a line, whose time of arrival is unknown.
        thread.spent.add(Doing::Queueing, now.saturating_sub(thread.clock));
        thread.usage.cpu += ran;
        thread.virtual_run_time += ran;
        thread.visible_at = visible_at;
    }

    /// Advances a CPU's virtual time to the least virtual run time of its threads. It never goes
    /// back.
    ///
    /// A woken thread starts near it. If virtual time stood still while one thread runs for long, a
    /// thread that slept during that time would have all of it to catch up, and would run as long
    /// alone.
    fn advance(&mut self, cpu: usize) {
        let state = &self.cpus[cpu];
        let running = state.current.map(|number| self.run_time(number));
        let waiting = state.ready.iter().map(|&number| self.threads[number].virtual_run_time);
        if let Some(least) = waiting.chain(running).min() {
            let state = &mut self.cpus[cpu];
            state.least_virtual_run_time = state.least_virtual_run_time.max(least);
        }
    }

    /// The current virtual run time of a running thread.
    fn run_time(&self, number: usize) -> Time {
        let thread = &self.threads[number];
        thread.virtual_run_time + (self.now - thread.since)
    }

    /// A CPU without a thread takes one, or idles.
    pub(super) fn schedule(&mut self, cpu: usize) {
        if self.cpus[cpu].current.is_some() || self.cpus[cpu].arriving {
            return;
        }
        let chosen = self.choose(cpu).map(|at| self.cpus[cpu].ready.remove(at));
        let Some(number) = chosen.or_else(|| self.steal(cpu)) else {
            if !self.idle.has(cpu) {
                self.idle.insert(cpu);
                self.cpus[cpu].idle_since = self.now;
            }
            return;
        };
        self.start(cpu, number);
    }

    /// The index in its queue of the thread that a CPU runs next.
    fn choose(&self, cpu: usize) -> Option<usize> {
        let ready = &self.cpus[cpu].ready;
        match self.costs.scheduler.policy {
            Policy::Eevdf | Policy::Cfs => {
                let least = |at: &usize| (self.threads[ready[*at]].virtual_run_time, ready[*at]);
                (0..ready.len()).min_by_key(least)
            }
            Policy::RoundRobin => (!ready.is_empty()).then_some(0),
        }
    }

    /// A thread that waits for another CPU and may run on this one: from the nearest CPU with the
    /// most such threads.
    fn steal(&mut self, cpu: usize) -> Option<usize> {
        let place = self.costs.places[cpu];
        let all: Set = (0..self.cpus.len()).collect();
        for group in [self.clusters[place.cluster], self.sockets[place.socket], all] {
            let may = |&thread: &usize| self.may_run(thread, cpu);
            // A CPU that is waking up for a thread keeps that one: Linux takes from CPUs with two
            // or more (kernel/sched/fair.c: sched_balance_find_src_rq).
            let waiting = |&other: &usize| {
                let ready = &self.cpus[other].ready;
                let own = usize::from(self.cpus[other].current.is_none());
                ready.iter().filter(|thread| may(thread)).count().saturating_sub(own)
            };
            let busiest = group.iter().filter(|other| waiting(other) != 0).max_by_key(|other| {
                // Among equals the first.
                (waiting(other), usize::MAX - other)
            });
            if let Some(from) = busiest {
                let at = self.cpus[from].ready.iter().position(may).expect("it was counted");
                return Some(self.take(from, at, cpu));
            }
        }
        None
    }

    /// Moves a ready thread from one CPU's queue to another CPU.
    fn take(&mut self, from: usize, at: usize, to: usize) -> usize {
        self.advance(from);
        self.advance(to);
        let number = self.cpus[from].ready.remove(at);
        let (before, after) =
            (self.cpus[from].least_virtual_run_time, self.cpus[to].least_virtual_run_time);
        let thread = &mut self.threads[number];
        thread.virtual_run_time = (thread.virtual_run_time + after).saturating_sub(before);
        number
    }

    fn may_run(&self, number: usize, cpu: usize) -> bool {
        self.threads[number].allowed.is_none_or(|allowed| allowed.has(cpu))
    }

    /// Gives a CPU to a thread.
    fn start(&mut self, cpu: usize, number: usize) {
        let scheduler = self.costs.scheduler;
        let now = self.now;
        if self.idle.has(cpu) {
            self.idle.remove(cpu);
            self.cpus[cpu].idle_time += now - self.cpus[cpu].idle_since;
        }
        let thread = &mut self.threads[number];
        let moved = thread.cpu != cpu;
        let switch = scheduler.switch + if moved { scheduler.migration } else { 0 };
        thread.usage.migrations += u64::from(moved);
        thread.usage.ready += now - thread.since;
        thread.since = now;
        thread.spent.add(Doing::Switching, switch);
        // A switch waits for the stores of the thread that leaves; it may be this one.
        let drained = thread.visible_at.max(now + switch);
        thread.spent.add(Doing::Draining, drained - (now + switch));
        thread.cpu = cpu;
        thread.state = State::Running;
        thread.clock = drained + std::mem::take(&mut thread.remaining);
        thread.resume_at = thread.clock;
        let (at, run_time) = (thread.clock, thread.virtual_run_time);
        let cpu_state = &mut self.cpus[cpu];
        cpu_state.current = Some(number);
        cpu_state.epoch += 1;
        cpu_state.slice_from = now;
        cpu_state.armed = NEVER;
        cpu_state.least_virtual_run_time = cpu_state.least_virtual_run_time.max(run_time);
        let epoch = cpu_state.epoch;
        self.queue.push(at, Event::Resume { cpu: cpu as u32, epoch });
        self.arm(cpu);
    }

    /// Arms the end of the CPU's slice if threads wait for the CPU.
    fn arm(&mut self, cpu: usize) {
        let scheduler = self.costs.scheduler;
        let state = &mut self.cpus[cpu];
        if state.current.is_none() || state.ready.is_empty() || state.armed != NEVER {
            return;
        }
        // Every CPU has ticks, but at different moments.
        let phase = scheduler.tick / self.cpus.len() as Time * cpu as Time;
        let state = &mut self.cpus[cpu];
        // Each slice is long enough for a thread to make progress.
        let slice = scheduler.slice.max(2 * (scheduler.switch + scheduler.migration));
        let least = (state.slice_from + slice).max(self.now + 1);
        let ticks = (least.saturating_sub(phase)).div_ceil(scheduler.tick.max(1));
        let at = (ticks * scheduler.tick + phase).max(least);
        state.armed = at;
        self.queue.push(at, Event::SliceEnd { cpu: cpu as u32 });
    }

    fn end_slice(&mut self, cpu: usize) {
        if self.cpus[cpu].armed != self.now {
            return;
        }
        self.cpus[cpu].armed = NEVER;
        let Some(number) = self.cpus[cpu].current else { return };
        let balances =
            self.now >= self.cpus[cpu].balanced_at + self.costs.scheduler.balance_interval;
        if balances && let Some((at, idle)) = self.idle_for_one_of(cpu) {
            self.cpus[cpu].balanced_at = self.now;
            let moved = self.take(cpu, at, idle);
            self.send(moved, idle);
        }
        if self.cpus[cpu].ready.is_empty() {
            return;
        }
        let thread = &self.threads[number];
        if thread.in_access {
            self.end_slice_at(cpu, thread.resume_at.max(self.now));
        } else {
            self.put_back(cpu, number);
        }
    }

    /// Ends the CPU's slice at that moment, unless it ends earlier.
    fn end_slice_at(&mut self, cpu: usize, then: Time) {
        if then < self.cpus[cpu].armed {
            self.cpus[cpu].armed = then;
            self.queue.push(then, Event::SliceEnd { cpu: cpu as u32 });
        }
    }

    /// An idle CPU, and a thread of this CPU's queue that may run there.
    fn idle_for_one_of(&self, cpu: usize) -> Option<(usize, usize)> {
        let ready = &self.cpus[cpu].ready;
        let place = self.costs.places[cpu];
        for group in [&self.clusters[place.cluster], &self.sockets[place.socket], &self.idle] {
            for idle in group.and(&self.idle).iter() {
                if self.cpus[idle].arriving {
                    continue;
                }
                if let Some(at) = ready.iter().position(|&thread| self.may_run(thread, idle)) {
                    return Some((at, idle));
                }
            }
        }
        None
    }

    /// A CPU preempts its thread for a woken one.
    fn preempt(&mut self, cpu: usize, number: usize) {
        if self.cpus[cpu].current != Some(number) || self.cpus[cpu].ready.is_empty() {
            return;
        }
        let thread = &self.threads[number];
        if thread.in_access {
            let event = Event::Preempt { cpu: cpu as u32, thread: number as u32 };
            self.queue.push(thread.resume_at.max(self.now), event);
            return;
        }
        self.put_back(cpu, number);
    }

    /// The running thread of a CPU goes back to its queue, and another one runs, unless the same is
    /// next again.
    fn put_back(&mut self, cpu: usize, number: usize) {
        if self.is_its_turn(cpu, number) {
            self.cpus[cpu].slice_from = self.now;
            self.cpus[cpu].armed = NEVER;
            self.arm(cpu);
            return;
        }
        self.leave(cpu);
        let thread = &mut self.threads[number];
        thread.remaining = thread.resume_at.saturating_sub(self.now);
        thread.usage.involuntary += 1;
        self.enqueue(cpu, number);
        self.schedule(cpu);
    }

    /// Whether the running thread of a CPU goes before the threads that wait for the CPU.
    pub(super) fn is_its_turn(&self, cpu: usize, number: usize) -> bool {
        let of = |&thread: &usize| (self.threads[thread].virtual_run_time, thread);
        let first = self.cpus[cpu].ready.iter().map(of).min();
        self.costs.scheduler.policy.is_fair() && first > Some((self.run_time(number), number))
    }

    /// A sleeping thread becomes ready.
    pub(super) fn wake(&mut self, number: usize) {
        assert_eq!(self.threads[number].state, State::Asleep, "thread {number} is woken");
        let cpu = self.place_for(number);
        self.advance(cpu);
        self.advance(self.threads[number].cpu);
        let thread = &self.threads[number];
        let least = self.cpus[cpu].least_virtual_run_time;
        let credit = self.costs.scheduler.sleeper_credit;
        let before = self.cpus[thread.cpu].least_virtual_run_time;
        let thread = &mut self.threads[number];
        if thread.cpu != cpu {
            thread.virtual_run_time = (thread.virtual_run_time + least).saturating_sub(before);
        }
        thread.virtual_run_time = thread.virtual_run_time.max(least.saturating_sub(credit));
        self.send(number, cpu);
    }

    /// A thread becomes ready on a CPU, which is notified.
    pub(super) fn send(&mut self, number: usize, cpu: usize) {
        let scheduler = self.costs.scheduler;
        let from = self.threads[number].cpu;
        self.enqueue(cpu, number);
        self.threads[number].cpu = from;
        let Some(current) = self.cpus[cpu].current else {
            if !self.cpus[cpu].arriving {
                // With exact times, threads that have fallen into step would stay there: a convoy
                // never ends.
                let time = scheduler.wake_latency + self.exit_latency(cpu);
                let at = self.now + self.jittered(time, scheduler.wake_jitter);
                self.cpus[cpu].arriving = true;
                self.queue.push(at, Event::Arrive { cpu: cpu as u32 });
            }
            return;
        };
        let behind = self.run_time(current).saturating_sub(self.threads[number].virtual_run_time);
        let preempts = match scheduler.policy {
            Policy::Eevdf | Policy::Cfs => behind > scheduler.wakeup_granularity,
            Policy::RoundRobin => false,
        };
        if preempts {
            let event = Event::Preempt { cpu: cpu as u32, thread: current as u32 };
            self.queue.push(self.now + scheduler.wake_latency, event);
        }
    }

    fn exit_latency(&self, cpu: usize) -> Time {
        let idle_for = self.now - self.cpus[cpu].idle_since;
        let reached = self.costs.idle.iter().rev().find(|state| idle_for >= state.after);
        reached.map_or(0, |state| state.exit)
    }

    /// The CPU that a woken thread goes to.
    fn place_for(&self, number: usize) -> usize {
        let thread = &self.threads[number];
        let last = thread.cpu;
        let is_free = |cpu: usize| {
            self.idle.has(cpu) && !self.cpus[cpu].arriving && self.may_run(number, cpu)
        };
        if is_free(last) {
            return last;
        }
        let place = self.costs.places[last];
        let free: Vec<usize> = self.clusters[place.cluster]
            .and(&self.idle)
            .iter()
            .filter(|&cpu| is_free(cpu))
            .collect();
        // A core that is idle as a whole is better than one idle sibling.
        let whole = |cpu: &&usize| {
            let sibling = self.costs.places[**cpu].sibling;
            sibling.is_none_or(|sibling| self.idle.has(sibling) && !self.cpus[sibling].arriving)
        };
        if let Some(&cpu) = free.iter().find(whole).or(free.first()) {
            return cpu;
        }
        // Without slices no CPU would take it over later, and Linux searches all CPUs for a
        // real-time thread (kernel/sched/rt.c: find_lowest_rq).
        if !self.costs.scheduler.policy.is_fair()
            && let Some(cpu) = self.idle.iter().find(|&cpu| is_free(cpu))
        {
            return cpu;
        }
        if self.may_run(number, last) {
            return last;
        }
        let allowed = thread.allowed.expect("a thread that may not run everywhere");
        allowed.iter().find(|&cpu| is_free(cpu)).or(allowed.iter().next()).unwrap_or(last)
    }
}
