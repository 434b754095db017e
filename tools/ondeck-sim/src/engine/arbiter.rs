//! Chooses the next access of a line from the accesses that wait for it.
//!
//! ```text
//! under way for one access │ turnaround │ under way for the next
//!   others come: they wait ┘            └ one of them is drawn
//! ```
//!
//! Hardware keeps no queue in the order of arrival: requests for a line that is under way are sent
//! back or wait in the order of some buffer, and a near core is served first more often (David,
//! Guerraoui and Trigonakis, "Everything You Always Wanted to Know about Synchronization but Were
//! Afraid to Ask", 2013, measure such unfairness). So one of the waiting accesses is drawn, with a
//! weight of one over its way. If a read is drawn, all waiting reads continue with it, because
//! copies are made in turn.
//!
//! The home of a line learns slightly later than the core that the line has arrived. During this
//! turnaround, an access that is made as soon as the one before it has its line can compete: for
//! example, the compare-and-swap of a waiter that has read a free lock competes with an owner that
//! locks again.
//!
//! A waiting access has not begun: its thread may lose its CPU, and restarts the access when it
//! runs again.

use super::account::Doing;
use super::bits::Set;
use super::memory::{Access, Waiting};
use super::queue::Event;
use super::world::World;
use crate::time::Time;

impl World {
    /// How long no other access gets a line after it has come that way.
    pub(super) fn turnaround(&self, way: Time) -> Time {
        (way as f64 * self.costs.transfer.turnaround).round() as Time
    }

    /// Whether accesses wait for the line of that address: the running thread's core does not have
    /// it, or must give it up because of stores that are under way to other lines.
    pub(super) fn is_fought_over(&mut self, address: usize) -> bool {
        let (now, core) = (self.now, self.my_place().core);
        let number = self.memory.number(address);
        let line = self.memory.line(number);
        !line.waiting.is_empty() && (usize::from(line.owner) == core || line.is_taken(now))
    }

    /// The running thread's access waits for the line of that address.
    pub(super) fn wait_for_line(&mut self, address: usize, access: Access) {
        let number = self.memory.number(address);
        let (cpu, core) = (self.my_cpu_number(), self.my_place().core as u16);
        let epoch = self.cpus[cpu].epoch;
        self.me().doing = Doing::Queueing;
        let line = self.memory.line(number);
        line.waiting.push(Waiting { cpu: cpu as u32, core, epoch, access });
        let free = line.busy_until + line.turnaround;
        if !std::mem::replace(&mut line.drawn_at_end, true) {
            self.queue.push(free, Event::LineFree { line: number as u32 });
        }
    }

    /// A line for which accesses wait may be free now: one of them continues.
    pub(super) fn line_free(&mut self, number: usize) {
        let now = self.now;
        let event = Event::LineFree { line: number as u32 };
        let line = self.memory.line(number);
        let free = line.busy_until + line.turnaround;
        if free > now {
            self.queue.push(free, event);
            return;
        }
        let (owner, sharers) = (line.owner, line.sharers);
        let mut waiting = std::mem::take(&mut line.waiting);
        // A CPU that has changed its thread, or was interrupted, retries by itself.
        waiting.retain(|one| self.cpus[one.cpu as usize].epoch == one.epoch);
        if let Some(drawn) = self.draw(&waiting, owner, &sharers) {
            if waiting[drawn].access == Access::Read {
                let reads = waiting.extract_if(.., |one| one.access == Access::Read);
                reads.for_each(|one| self.go_on(one));
            } else {
                let one = waiting.remove(drawn);
                self.go_on(one);
            }
        }
        let some_wait = !waiting.is_empty();
        let line = self.memory.line(number);
        line.waiting = waiting;
        line.drawn_at_end = some_wait;
        if some_wait {
            // After the drawn access has begun.
            self.queue.push(now, event);
        }
    }

    /// The index of the access that gets the line next.
    fn draw(&mut self, waiting: &[Waiting], owner: u16, sharers: &Set) -> Option<usize> {
        let weight = |one: &Waiting| {
            let way = self.way_to(one.core.into(), owner, sharers);
            1.0 / way.max(1) as f64
        };
        let weights: Vec<f64> = waiting.iter().map(weight).collect();
        let mut left = self.rng.f64() * weights.iter().sum::<f64>();
        let drawn = weights.iter().position(|weight| {
            left -= weight;
            left < 0.0
        });
        drawn.or(waiting.len().checked_sub(1))
    }

    /// The thread of that CPU continues its access.
    fn go_on(&mut self, one: Waiting) {
        let now = self.now;
        let current = self.cpus[one.cpu as usize].current;
        let number = current.expect("the epoch is that of a CPU with a thread");
        let thread = &mut self.threads[number];
        thread.spent.add(Doing::Queueing, now.saturating_sub(thread.clock));
        thread.clock = thread.clock.max(now);
        thread.resume_at = thread.clock;
        let event = Event::Resume { cpu: one.cpu, epoch: one.epoch };
        self.queue.push(self.threads[number].clock, event);
    }
}
